import type { AnswerOrigin, ListItem, ReaderOutput, SubjectAnswers } from '../reader.js';
import type { Cell } from '../table.js';
import { reportRecordFields } from '../tables/credit-reports.js';
import { BodyPath, idOf, isObject, type JsonObject, memberOf } from './body-path.js';
import { removeContacts } from './contacts.js';
import { tryParse } from './open-answer.js';
import { isSame, type Members, nested, readFields } from './read-fields.js';

/** Where nothing came there is nothing to be wrong. */
export const NOWHERE: AnswerOrigin = { operation: '', rawSha256: '', row: null, stage: null, fetchedAt: 0 };
const NO_RECORD: Omit<ListItem, 'id'> = { value: {}, origin: NOWHERE, pointer: '' };

/** What the generate call says about the report, if it is about this and no earlier one; else what the history says. */
export function readReportRecord(subject: SubjectAnswers, out: ReaderOutput) {
  const generated = recordOf(subject);
  const { value, origin, pointer } = generated ?? subject.listed ?? NO_RECORD;
  // A page of the history was asked for by some row; what is wrong with the item concerns this report's.
  const path = new BodyPath({ ...origin, row: subject.row, stage: subject.stage }, out, pointer);
  const object = path.object(value) ?? {};
  if (!out.includeContacts) removeContacts(object);
  const sourceId = subject.ids.credit ?? idOf(memberOf(object, 'source_id')) ?? null;
  const { cells, rest } = readFields(object, reportRecordFields, path, ['id', ...shownId(object, sourceId, path)]);
  const expired = expiredSince(subject.listed, origin.fetchedAt) ?? cells.expired;
  const besides = generated === undefined ? [] : listedBesides(subject.listed, object, out);
  return { cells: { ...cells, expired }, rest: [...rest, ...besides], sourceId };
}

/** The answer to generating, in whatever form it was asked for. */
function recordOf(subject: SubjectAnswers): Omit<ListItem, 'id'> | undefined {
  for (const answer of subject.answers) {
    if (answer.operation !== 'creditReportGenerate') continue;
    const value = tryParse(answer.body);
    if (isObject(value) && idOf(value.id) === subject.id) return { value, origin: answer, pointer: '' };
  }
  return undefined;
}

/** The line shows the row's own ID of the company. A record that names another, or something else, keeps it in `extra`. */
function shownId(object: JsonObject, sourceId: string | null, path: BodyPath): readonly string[] {
  const own = memberOf(object, 'source_id') ?? null;
  if (own === null || idOf(own) === sourceId) return ['source_id'];
  path.at('source_id').unexpected(sourceId === null ? 'text or a number' : `the ID ${sourceId}`, own);
  return [];
}

/** A report expires after it was generated: the later word stands. */
function expiredSince(listed: ListItem | undefined, recordedAt: number): Cell | undefined {
  if (listed === undefined || listed.origin.fetchedAt <= recordedAt || !isObject(listed.value)) return undefined;
  const { expired } = listed.value;
  return typeof expired === 'boolean' ? String(expired) : undefined;
}

/** What the history says beside the record, or otherwise. */
function listedBesides(listed: ListItem | undefined, record: JsonObject, out: ReaderOutput): Members {
  if (listed === undefined || !isObject(listed.value)) return [];
  if (!out.includeContacts) removeContacts(listed.value);
  const besides = Object.entries(listed.value).filter(([key, value]) => {
    const said = memberOf(record, key);
    return key !== 'id' && (said === undefined || !isSame(said, value));
  });
  return nested(listed.origin.operation, besides);
}
