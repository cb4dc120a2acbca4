import { type ExactJson, isObject, type JsonObject, stringifyExact } from '../util/exact-json.js';
import { removeContacts } from '../util/sanitize-text.js';
import { glanceAt } from './parts/glance.js';
import { BodyPath, idOf, memberOf, tryParse } from './parts/open-answer.js';
import {
  extraOf,
  isSame,
  type Members,
  nested,
  ownId,
  readFields,
  readLeaf,
  readNested,
  type Value,
} from './parts/read-fields.js';
import {
  type AnswerOrigin,
  type ListItem,
  originOf,
  type RawAnswer,
  type Reader,
  type ReaderOutput,
  type SubjectAnswers,
} from './reader.js';
import {
  type Cell,
  type Column,
  column,
  emptyExtra,
  extraColumn,
  rawSha256,
  table,
  timestamp,
  valueColumn,
  valueType,
} from './table.js';

/** Fields of the generated record and of the history's item. */
const reportRecordFields = [
  column('name', 'text', 'Name of the company', 'creditReportGenerate or creditReportHistory'),
  column('registration_number', 'text', 'Its number. The history does not have it', 'creditReportGenerate'),
  column('status', 'text', 'As last known: `finish` once the report could be fetched', 'the record, the fetch'),
  column(
    'expired',
    'boolean',
    'As last sent. The provider does not document its meaning',
    'creditReportGenerate or creditReportHistory',
  ),
  column('date_created', 'text', 'When it was generated, as sent', 'creditReportGenerate or creditReportHistory'),
] as const;

const reportSummaryFields = [
  column('turnover', 'scalar', 'Turnover by this report. `results` has that of the financials', '/summary'),
  column('ebitda', 'scalar', 'EBITDA', '/summary'),
  column('age_of_business', 'scalar', 'Age of the business', '/summary'),
  column('number_of_employees', 'scalar', 'Number of employees, as text', '/summary'),
  column('charges', 'scalar', 'Charges', '/summary'),
  column('mortgages', 'scalar', 'Mortgages', '/summary'),
  column('court_judgements', 'scalar', 'Court judgements', '/summary'),
  column('pod', 'number', 'Probability of default', '/summary/overall_credit_risk/pod'),
  column('common_value', 'scalar', 'Grade', '/summary/overall_credit_risk/commonValue'),
  column('common_description', 'text', 'Grade in words', '/summary/overall_credit_risk/commonDescription'),
  column('credit_limit_value', 'scalar', 'Credit limit, as text', '/summary/overall_credit_risk/creditLimit/value'),
  column('credit_limit_currency', 'text', 'Its currency', '/summary/overall_credit_risk/creditLimit/currency'),
] as const;

export const creditReportsTable = table({
  name: 'credit_reports',
  onePer: 'report',
  description:
    'Credit reports: the record, and the summary of the body. The other sections are in `extra` as sent, and value by value in `credit_report_sections`.',
  source: 'v2 creditReportGenerate, creditReportHistory, creditReportFetch',
  key: ['credit_report_id'],
  keyAlwaysThere: true,
  knownBy: {
    columns: [['credit_source_id']],
    single: true,
    // Facts about the report itself, not about the company.
    besides: ['name', 'registration_number', 'status', 'expired', 'date_created', 'recorded_status', 'format'],
  },
  columns: [
    column('credit_report_id', 'id', 'The report', 'the request'),
    column('credit_source_id', 'id', 'The company in the ID space of reports', 'source_id of the record'),
    ...reportRecordFields,
    ...reportSummaryFields,
    rawSha256,
    column('fetched_at', 'timestamp', 'When the body was fetched', 'the call'),
    column('format', 'text', 'json or html. Empty if no report was fetched', 'the body'),
    column('recorded_status', 'text', 'The status in the record itself', 'creditReportGenerate or creditReportHistory'),
    extraColumn,
  ],
});

export const creditReportRemarksTable = table({
  name: 'credit_report_remarks',
  onePer: 'remark',
  description: 'Remarks of the summary, positive ones and cautions.',
  source: 'v2 creditReportFetch /summary',
  key: ['credit_report_id', 'kind', 'position'],
  keyAlwaysThere: true,
  knownBy: { columns: [['kind', 'text']], besides: ['credit_report_id'] },
  columns: [
    column('credit_report_id', 'id', 'The report', 'the request'),
    column('kind', 'text', 'positive or caution', 'what_we_like_about_this_company, cautions'),
    column('position', 'integer', 'Place in the list, from 1', 'order of the list'),
    column('text', 'text', 'The remark', 'the item'),
    column('extra', 'json', 'The item as sent, if it is no text', 'the item'),
  ],
});

export const creditReportSectionsTable = table({
  name: 'credit_report_sections',
  onePer: 'value of a section',
  description:
    'The sections beside the summary, such as score_history and directors, value by value. The provider publishes no field names for them, so the names are those of the report.',
  source: 'v2 creditReportFetch',
  // Its items have no known identity. Changes are found in `extra` of `credit_reports`.
  key: ['credit_report_id', 'section', 'position', 'field'],
  keyAlwaysThere: false,
  columns: [
    column('credit_report_id', 'id', 'The report', 'the request'),
    column('section', 'text', 'Name of the section', 'the member of the body'),
    column('position', 'integer', 'Place in the list, from 1. Empty if the section is no list', 'order of the list'),
    column('field', 'text', 'Name of the value in the item, with `/` between levels. Empty if the item is a value'),
    valueColumn,
    valueType,
    rawSha256,
    emptyExtra,
  ],
});

/** Reads a credit report into its row, its remarks and the values of its other sections (V2-7). */
export const creditReportReader = {
  name: 'credit-report',
  space: 'report',
  operations: ['creditReportGenerate', 'creditReportFetch'],
  lists: { operations: ['creditReportHistory'], items: historyItems },
  tables: [creditReportsTable, creditReportRemarksTable, creditReportSectionsTable],
  // Field names inside sections other than the summary are not documented, so none of them is a fact here.
  glance: (out) =>
    glanceAt(out, creditReportsTable, ['credit_limit_currency', 'fetched_at'], {
      credit_risk: 'common_value',
      credit_risk_words: 'common_description',
      credit_limit: 'credit_limit_value',
      headcount: 'number_of_employees',
    }),
  read(subject, out) {
    const fetched = subject.answers.find(({ operation }) => operation === 'creditReportFetch');
    const opened = fetched && openReport(fetched, out);
    const record = readReportRecord(subject, out);
    const body = readBody(subject.id, opened, out);
    for (const [section, value] of body.sections)
      for (const { position, field, ...read } of sectionValues(value))
        out.add(creditReportSectionsTable, {
          credit_report_id: subject.id,
          section,
          position,
          field,
          ...read,
          raw_sha256: fetched?.rawSha256 ?? null,
          extra: null,
        });
    if (Object.values(body.cells).some((cell) => cell !== null)) {
      out.noteCame(creditReportsTable);
      out.noteCame(creditReportRemarksTable);
    }
    out.add(creditReportsTable, {
      credit_report_id: subject.id,
      credit_source_id: record.sourceId,
      ...record.cells,
      // The document equates the two: a report can be fetched once its status is `finish`.
      status: fetched === undefined ? record.cells.status : 'finish',
      ...body.cells,
      raw_sha256: fetched?.rawSha256 ?? null,
      fetched_at: fetched === undefined ? null : timestamp(fetched.fetchedAt),
      format: opened?.format ?? null,
      recorded_status: record.cells.status,
      extra: extraOf([...body.rest, ...record.rest]),
    });
  },
} as const satisfies Reader;

interface OpenedReport {
  readonly format: 'json' | 'html';
  readonly body: ExactJson;
  readonly path: BodyPath;
}

/** A report that is neither JSON nor HTML becomes an issue, with empty cells. */
function openReport(answer: RawAnswer, out: ReaderOutput): OpenedReport {
  const path = new BodyPath(answer, out);
  const body = tryParse(answer.body);
  if (body !== undefined) {
    if (!out.includeContacts) removeContacts(body);
    return { format: 'json', body, path };
  }
  if (answer.body.toString('latin1', 0, 64).trimStart().startsWith('<')) return { format: 'html', body: {}, path };
  path.unexpected('JSON or HTML', answer.body.toString('utf8', 0, 60));
  return { format: 'json', body: {}, path };
}

/** The place of a field below `summary`. */
const placeInSummary = ({ name, from = '' }: Column): readonly string[] =>
  from === '/summary' ? [name] : from.split('/').slice(2);

function readBody(id: string, opened: OpenedReport | undefined, out: ReaderOutput) {
  const path = opened?.path ?? new BodyPath(NOWHERE, out);
  const object = path.object(opened?.body) ?? {};
  const summaryAt = path.at('summary');
  const summary = summaryAt.object(object.summary) ?? {};
  const remarks = readRemarks(id, summary, summaryAt);
  const { cells, rest: others } = readNested(summary, reportSummaryFields, summaryAt, remarks, placeInSummary);
  const sections = Object.entries(object).filter(([key]) => key !== 'summary' || Object.keys(summary).length === 0);
  const odd = opened !== undefined && !isObject(opened.body) ? opened.body : null;
  const rest: Members = [...(odd === null ? [] : [['body', odd] as const]), ...nested('summary', others), ...sections];
  return { cells, rest, sections };
}

/** The values of a section, whatever its form. Empty lists and objects have none. */
function* sectionValues(section: ExactJson): Generator<Value & { readonly position: Cell; readonly field: Cell }> {
  for (const [index, item] of (Array.isArray(section) ? section : [section]).entries())
    for (const [path, value] of leavesOf(item))
      yield {
        position: Array.isArray(section) ? String(index + 1) : null,
        field: path.length === 0 ? null : path.join('/'),
        ...value,
      };
}

function* leavesOf(value: ExactJson, path: readonly string[] = []): Generator<readonly [readonly string[], Value]> {
  const members = Array.isArray(value)
    ? value.map((item, index) => [String(index + 1), item] as const)
    : isObject(value)
      ? Object.entries(value)
      : undefined;
  if (members !== undefined) for (const [name, member] of members) yield* leavesOf(member, [...path, name]);
  else {
    const read = readLeaf(value);
    if (read !== undefined) yield [path, read];
  }
}

const POSITIVE = 'what_we_like_about_this_company';

/** The name of the list of cautions is not published. */
const CAUTION = /caution|concern|dislike|(?:not|dont)_like/;

/** Adds the remarks and returns the members they came from. An empty list has no row, so `extra` keeps it. */
function readRemarks(id: string, summary: JsonObject, path: BodyPath): readonly string[] {
  const lists = Object.entries(summary).flatMap(([key, value]) => {
    const kind = key === POSITIVE ? 'positive' : CAUTION.test(key) ? 'caution' : undefined;
    return kind !== undefined && Array.isArray(value) && value.length > 0 ? [{ key, kind, value }] : [];
  });
  lists.sort((a, b) => (a.kind < b.kind ? -1 : a.kind > b.kind ? 1 : 0));
  const positions = { positive: 0, caution: 0 };
  for (const { key, kind, value } of lists) {
    for (const [index, item] of value.entries()) {
      if (typeof item !== 'string') path.at(key).at(index).unexpected('text', item);
      path.out.add(creditReportRemarksTable, {
        credit_report_id: id,
        kind,
        position: String(++positions[kind as keyof typeof positions]),
        text: typeof item === 'string' || item === null ? item : stringifyExact(item),
        extra: typeof item === 'string' ? null : extraOf([['item', item]]),
      });
    }
  }
  return lists.map(({ key }) => key);
}

/** The reports on a page of the history. */
function historyItems(answer: RawAnswer): readonly ListItem[] {
  const body = tryParse(answer.body);
  const items = isObject(body) && Array.isArray(body.data) ? body.data : [];
  return items.flatMap((value, index) => {
    const id = isObject(value) ? idOf(value.id) : undefined;
    return id === undefined ? [] : [{ id, value, origin: originOf(answer), pointer: `/data/${index}` }];
  });
}

/** The origin of a missing record, which cannot have issues. */
const NOWHERE: AnswerOrigin = { operation: '', rawSha256: '', row: null, stage: null, fetchedAt: 0 };
const NO_RECORD: Omit<ListItem, 'id'> = { value: {}, origin: NOWHERE, pointer: '' };

/** The record of the generate call if it is about this report, else the item of the history. */
function readReportRecord(subject: SubjectAnswers, out: ReaderOutput) {
  const generated = recordOf(subject);
  const { value, origin, pointer } = generated ?? subject.listed ?? NO_RECORD;
  // A page of the history was requested by some other row. A problem of the item belongs to this report's row.
  const path = new BodyPath({ ...origin, row: subject.row, stage: subject.stage }, out, pointer);
  const object = path.object(value) ?? {};
  if (!out.includeContacts) removeContacts(object);
  const sourceId = subject.ids.credit ?? idOf(memberOf(object, 'source_id')) ?? null;
  const { cells, rest } = readFields(object, reportRecordFields, path, [
    'id',
    ...ownId(object, 'source_id', sourceId, path),
  ]);
  const expired = expiredSince(subject.listed, origin.fetchedAt) ?? cells.expired;
  const besides = generated === undefined ? [] : listedBesides(subject.listed, object, out);
  return { cells: { ...cells, expired }, rest: [...rest, ...besides], sourceId };
}

/** The answer of the generate call, in any format. */
function recordOf(subject: SubjectAnswers): Omit<ListItem, 'id'> | undefined {
  for (const answer of subject.answers) {
    if (answer.operation !== 'creditReportGenerate') continue;
    const value = tryParse(answer.body);
    if (isObject(value) && idOf(value.id) === subject.id) return { value, origin: answer, pointer: '' };
  }
  return undefined;
}

/** A report expires after it was generated, so the later statement counts. */
function expiredSince(listed: ListItem | undefined, recordedAt: number): Cell | undefined {
  if (listed === undefined || listed.origin.fetchedAt <= recordedAt || !isObject(listed.value)) return undefined;
  const { expired } = listed.value;
  return typeof expired === 'boolean' ? String(expired) : undefined;
}

/** Fields of the history that the record lacks or has differently. */
function listedBesides(listed: ListItem | undefined, record: JsonObject, out: ReaderOutput): Members {
  if (listed === undefined || !isObject(listed.value)) return [];
  if (!out.includeContacts) removeContacts(listed.value);
  const besides = Object.entries(listed.value).filter(([key, value]) => {
    const said = memberOf(record, key);
    return key !== 'id' && (said === undefined || !isSame(said, value));
  });
  return nested(listed.origin.operation, besides);
}
