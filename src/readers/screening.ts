import { type ExactJson, ExactNumber } from '../util/exact-json.js';
import { readAppointments, type Screened } from './parts/appointments.js';
import { type BodyPath, isObject } from './parts/body-path.js';
import { readHoldings } from './parts/holdings.js';
import { emptyOf, oddOf, offsetOf } from './parts/lists.js';
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
  for (const answer of answers) {
    const opened = openAnswer(answer, out);
    if (opened === undefined) continue;
    const { body, path } = opened;
    const of = { ...ids, own: id, ...askedBy(answer), offset: offsetOf(answer) };
    // What no line holds is an issue, with all of it: a search has no line of its own.
    for (const [name, value] of readSearch(answer.operation, body, of, path))
      path.at(name).left('a line of its own', value);
  }
}

function askedBy({ params }: RawAnswer): Pick<Screened, 'name' | 'birthYear'> {
  const { name, date_of_birth_year: year } = params;
  return { name: typeof name === 'string' ? name : null, birthYear: year === undefined ? null : String(year) };
}

/** What was left over. That nothing was found is what a search says most: an empty list is told by no line. */
function readSearch(operation: string, body: ExactJson, of: Screened, path: BodyPath): Members {
  if (operation !== 'shareholdersSearchKyb') return oddOf('data', readAppointments(body, of, path).odd);
  if (!isObject(body) || body.data === undefined) return [['data', body]];
  const { odd } = readHoldings(body.data, of, path.at('data'));
  const others = Object.entries(body).filter(([name, value]) => name !== 'data' && !isTotal(name, value));
  return [...oddOf('data', odd), ...(body.data === null ? emptyOf('data', body.data) : []), ...others];
}

const isTotal = (name: string, value: ExactJson): boolean =>
  /^total_(?:pages|results)$/.test(name) && value instanceof ExactNumber;
