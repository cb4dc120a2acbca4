import { LEADS } from '../../../src/domain/leads.js';
import { INPUT_FIELDS, type InputField } from '../../../src/input/types.js';
import type { Expected, ExpectedCells, Question, Reading } from './corpus/expected.js';
import type { Read, Seen, SeenRow } from './look.js';

/**
 * - `right`: read or refused as expected.
 * - `asked`: the question was allowed, and the answer makes the reading right.
 * - `unclear`: rightly refused, without the words that help.
 * - `needless`: refused, though it can be read.
 * - `lost`: a valid row is reported as invalid, which costs nothing.
 * - `missed`: a column was not recognised.
 * - `odd`: another column is taken for the analyst's own key.
 * - `wrong`: misread without a note. Never allowed.
 */
export const VERDICTS = ['right', 'asked', 'unclear', 'needless', 'lost', 'missed', 'odd', 'wrong'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Judgement {
  readonly verdict: Verdict;
  /** The expected result, and the actual one. */
  readonly why: string;
}

export interface Looks {
  readonly asItIs: Seen;
  /** The result with the flags that a person adds. Undefined if there are none. */
  readonly answered?: Seen | undefined;
  /** The printed text. Undefined if only the reading is judged. */
  readonly printed?: string;
}

const RIGHT: Judgement = { verdict: 'right', why: '' };

export function judge(expected: Expected, { asItIs, answered, printed }: Looks): Judgement {
  const first = judgeFirst(expected, asItIs, printed);
  if (first.verdict !== 'right' && first.verdict !== 'asked') return first;
  if (answered === undefined || expected.reading === undefined) return first;
  // A caller who named the columns needs no note about the others.
  const second = judgeReading({ ...expected.reading, says: [] }, answered);
  const how = (expected.answer ?? []).join(' ');
  return second.verdict === 'right' ? first : { ...second, why: `with ${how}: ${second.why}` };
}

function judgeFirst(expected: Expected, seen: Seen, printed: string | undefined): Judgement {
  const { question, mayAsk, reading } = expected;
  if (question !== undefined) {
    if (isQuestion(seen)) return mentioned(question, printed, 'right');
    return { verdict: 'wrong', why: `must be asked, was read as ${inWords(seen)}` };
  }
  if ('refused' in seen) {
    if (mayAsk === undefined) return { verdict: 'needless', why: `refused: ${short(seen.refused)}` };
    return mentioned(mayAsk, printed, 'asked');
  }
  return reading === undefined ? RIGHT : judgeReading(reading, seen);
}

/** If no row can be searched for, the printed text has to help. */
const isQuestion = (seen: Seen): boolean =>
  'refused' in seen || seen.rows.every(({ problem }) => problem !== undefined);

function mentioned({ mentions }: Question, printed: string | undefined, verdict: Verdict): Judgement {
  const missing = mentions.filter((words) => !words.split('|').some((word) => (printed ?? words).includes(word)));
  if (missing.length === 0) return { verdict, why: '' };
  return { verdict: 'unclear', why: `does not say ${missing.join(', ')}: ${short(printed ?? '')}` };
}

export function judgeReading(reading: Reading, seen: Seen): Judgement {
  if ('refused' in seen) return { verdict: 'needless', why: `refused: ${short(seen.refused)}` };
  const found = [...columnFaults(reading, seen), ...rowFaults(reading, seen), ...unsaid(reading, seen)];
  return found.reduce((worst, fault) => (severity(fault) > severity(worst) ? fault : worst), RIGHT);
}

const severity = ({ verdict }: Judgement): number => VERDICTS.indexOf(verdict);

function* unsaid({ says = [] }: Reading, { notes }: Read): Generator<Judgement> {
  const missing = says.filter((words) => !notes.includes(words));
  if (missing.length > 0) yield { verdict: 'wrong', why: `nothing is said of ${missing.join(', ')}: ${short(notes)}` };
}

function* columnFaults({ columns, optional = {} }: Reading, seen: Read): Generator<Judgement> {
  for (const field of INPUT_FIELDS) {
    const must = columns[field];
    const is = seen.columns[field];
    if (same(must, is) || same(optional[field], is) || isLead(field) || isBlank(field, seen)) continue;
    const why = `${field} must be ${must ?? 'nothing'}, is ${is ?? 'nothing'}`;
    if (is === undefined || isPart(must, is)) {
      if (must !== undefined) yield { verdict: 'missed', why };
    } else yield { verdict: field === 'id' ? 'odd' : 'wrong', why };
  }
}

/** Half of a number that is split over two columns names no company, so a person decides. */
const isPart = (must: string | undefined, is: string | undefined): boolean =>
  is !== undefined && must?.split(' + ').some((part) => same(part, is)) === true;

/** An empty column may have any header. */
const isBlank = (field: InputField, seen: Read): boolean =>
  seen.columns[field] !== undefined && seen.rows.every(({ fields }) => fields[field] === undefined);

const isLead = (field: InputField): boolean => LEADS.some((lead) => lead === field);

function* rowFaults(reading: Reading, seen: Read): Generator<Judgement> {
  const { notCompanies = [], invalid = {}, cells } = reading;
  const sound = seen.rows.filter(({ problem }) => problem === undefined);
  for (const { line } of sound)
    if (notCompanies.includes(line)) yield { verdict: 'wrong', why: `line ${line} is no company, and is searched for` };
  const companies = seen.rows.filter(({ line }) => !notCompanies.includes(line));
  if (companies.length !== reading.rows)
    yield { verdict: 'wrong', why: `${reading.rows} rows are about companies, ${companies.length} were read` };
  for (const row of companies) {
    const why = invalid[String(row.line)];
    if (row.problem !== undefined && why === undefined)
      yield { verdict: 'lost', why: `line ${row.line} is sound, and ${row.problem}` };
    if (row.problem === undefined && why !== undefined && !why.split('|').includes(''))
      yield { verdict: 'wrong', why: `line ${row.line} must be ${why}, and is searched for` };
  }
  for (const must of cells) {
    const row = seen.rows.find(({ line }) => line === must.line);
    if (row === undefined) yield { verdict: 'wrong', why: `line ${must.line} was not read` };
    else if (row.problem === undefined) yield* cellFaults(reading, seen, must, row);
  }
}

function* cellFaults({ columns }: Reading, seen: Read, must: ExpectedCells, row: SeenRow): Generator<Judgement> {
  for (const field of INPUT_FIELDS) {
    const text = must[field];
    const is = row.fields[field];
    const joined = columns[field]?.includes(' + ') === true;
    if (text === undefined || (is === undefined && text !== null)) continue;
    // Another column was reported already.
    if (text !== null && !same(columns[field], seen.columns[field])) continue;
    const why = `line ${row.line}: ${field} must be ${JSON.stringify(text)}, is ${JSON.stringify(is)}`;
    if (text === null) {
      if (is !== undefined && !row.unused.includes(field)) yield { verdict: 'wrong', why };
    } else if (joined ? !same(courtless(text), courtless(is)) : !same(text, is)) yield { verdict: 'wrong', why };
  }
}

/** Two columns may be joined with a comma, with the word for the court or without it. */
const courtless = (text: string | undefined): string | undefined => text?.replace(/Amtsgericht|,/g, ' ');

const same = (a: string | undefined, b: string | undefined): boolean =>
  a !== undefined && b !== undefined && flat(a) === flat(b);
/** A column without a header is named by its number. */
const flat = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^#(?=\d+$)/, 'column_');

const inWords = (seen: Seen): string =>
  'refused' in seen
    ? 'a refusal'
    : `${Object.entries(seen.columns)
        .map(([field, header]) => `${field}=${header}`)
        .join(', ')}; ${seen.rows.length} rows`;

export const short = (text: string): string =>
  (text.length > 300 ? `${text.slice(0, 300)}…` : text).replace(/\s+/g, ' ');
