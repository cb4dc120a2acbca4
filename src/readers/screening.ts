import { type ExactJson, ExactNumber } from '../util/exact-json.js';
import { readAppointments, type Screened } from './parts/appointments.js';
import { type BodyPath, isObject } from './parts/body-path.js';
import { readHoldings } from './parts/holdings.js';
import { emptyOf, oddOf } from './parts/lists.js';
import { openAnswer } from './parts/open-answer.js';
import type { Members } from './parts/read-fields.js';
import type { RawAnswer, Reader, ReaderOutput, SubjectAnswers } from './reader.js';
import { appointmentsTable } from './tables/appointments.js';
import { holdingsTable } from './tables/holdings.js';
import { sourcesTable } from './tables/sources.js';

/** What v1's searches by name found for a company: candidates, never the same person. */
export const screeningReader = {
  name: 'screening',
  space: 'v1',
  operations: [],
  asked: ['officersSearchKyb', 'shareholdersSearchKyb'],
  tables: [appointmentsTable, holdingsTable, sourcesTable],
  read: (subject, out) => readSearches(subject, { v1: subject.id, v2: subject.ids.v2 ?? null }, out),
} as const satisfies Reader;

/** The same of v2, which searches by officers alone. */
export const v2ScreeningReader = {
  name: 'screening-v2',
  space: 'v2',
  operations: [],
  asked: ['kybOfficersSearch'],
  tables: [appointmentsTable, sourcesTable],
  read: (subject, out) => readSearches(subject, { v1: subject.ids.v1 ?? null, v2: subject.id }, out),
} as const satisfies Reader;

function readSearches({ id, answers }: SubjectAnswers, ids: Pick<Screened, 'v1' | 'v2'>, out: ReaderOutput): void {
  // Several pages of one search come one after the other.
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const opened = openAnswer(answer, out);
    if (opened === undefined) continue;
    const { body, path } = opened;
    const asked = askedBy(answer);
    const search = JSON.stringify([answer.operation, asked]);
    const offset = counts.get(search) ?? 0;
    const { count, left } = readSearch(answer.operation, body, { ...ids, ...asked, own: id, offset }, path);
    counts.set(search, offset + count);
    // What no line holds is an issue, with all of it: a search has no line of its own.
    for (const [name, value] of left) path.at(name).left('a line of its own', value);
  }
}

function askedBy({ params }: RawAnswer): Pick<Screened, 'name' | 'birthYear'> {
  const { name, date_of_birth_year: year } = params;
  return { name: typeof name === 'string' ? name : null, birthYear: year === undefined ? null : String(year) };
}

interface SearchRead {
  readonly count: number;
  readonly left: Members;
}

/** That nothing was found is what a search says most: an empty list is told by no line. */
function readSearch(operation: string, body: ExactJson, of: Screened, path: BodyPath): SearchRead {
  if (operation !== 'shareholdersSearchKyb') {
    const { count, odd } = readAppointments(body, of, path);
    return { count: count ?? 0, left: oddOf('data', odd) };
  }
  if (!isObject(body) || body.data === undefined) return { count: 0, left: [['data', body]] };
  const { count, odd } = readHoldings(body.data, of, path.at('data'));
  const others = Object.entries(body).filter(([name, value]) => name !== 'data' && !isTotal(name, value));
  const empty = body.data === null ? emptyOf('data', body.data) : [];
  return { count: count ?? 0, left: [...oddOf('data', odd), ...empty, ...others] };
}

const isTotal = (name: string, value: ExactJson): boolean =>
  /^total_(?:pages|results)$/.test(name) && value instanceof ExactNumber;
