import {
  type RawAnswer,
  type Reader,
  type ReaderOutput,
  readSubject,
  type SubjectAnswers,
} from '../../readers/reader.js';
import type { Row, Table } from '../../readers/table.js';
import { type MemberRange, scanJson } from '../../util/json-scan.js';

/** What was known of a subject when one of its answers was the newest. */
export interface AsOf extends SubjectAnswers {
  /** Of that answer. */
  readonly rawSha256: string | null;
}

interface StatePair {
  readonly old: State;
  readonly now: State;
}

/** What two answers say, or as much of it as is needed to compare them; undefined where one is not there or cannot be read. */
export function readPair(reader: Reader, old: AsOf, now: AsOf): StatePair | undefined {
  const [before, after] = [answerOf(old), answerOf(now)];
  if (before === undefined || after === undefined) return undefined;
  const kept = reader.apart?.[after.operation];
  if (kept === undefined || sharesLists(reader, after.operation, now.answers)) return readBoth(reader, old, now);
  const [oldBody, newBody] = withoutSame(before.body, after.body, kept);
  const pair = readBoth(reader, withBody(old, oldBody), withBody(now, newBody));
  // What has not come is looked for in earlier answers, of which other parts are the same.
  return pair === undefined || lacksNothing(pair.old, pair.now) ? pair : readBoth(reader, old, now);
}

/** Beside answers to other operations, it may be another one now that a list is shown from, be it the same in both bodies. */
export const sharesLists = (
  { sharing = [] }: Reader,
  operation: string,
  answers: readonly Pick<RawAnswer, 'operation'>[],
): boolean =>
  sharing.includes(operation) && answers.some((one) => one.operation !== operation && sharing.includes(one.operation));

function readBoth(reader: Reader, old: AsOf, now: AsOf): StatePair | undefined {
  const [before, after] = [readState(reader, old), readState(reader, now)];
  return before === undefined || after === undefined ? undefined : { old: before, now: after };
}

/** E-mail and phone of people are not compared: they are kept nowhere but in the raw answers. */
export function readState(reader: Reader, { rawSha256, ...subject }: AsOf): State | undefined {
  if (rawSha256 === null || answerOf({ ...subject, rawSha256 }) === undefined) return undefined;
  const out = readSubject(reader, subject, false);
  return out.issues.some(({ unread }) => unread === true) ? undefined : stateOf(reader, out, rawSha256);
}

const answerOf = ({ answers, rawSha256 }: AsOf): RawAnswer | undefined =>
  answers.find((answer) => answer.rawSha256 === rawSha256);

const withBody = (asOf: AsOf, body: Buffer): AsOf => ({
  ...asOf,
  answers: asOf.answers.map((answer) => (answer.rawSha256 === asOf.rawSha256 ? { ...answer, body } : answer)),
});

/** The lines of one table that came together, and the raw answer that they came with. */
export interface Part {
  readonly table: Table;
  readonly rows: readonly Row[];
  readonly rawSha256: string;
}

/** What is known of a company at one moment, by table and by what came together in it. What did not come is not in it. */
export type State = ReadonlyMap<string, Part>;

/** What a reader made of answers of which this one is the newest. */
export function stateOf({ tables }: Pick<Reader, 'tables'>, out: ReaderOutput, rawSha256: string): State {
  const state = new Map<string, Part>();
  for (const table of tables) {
    if (table.knownBy === undefined) continue;
    const rows = out.shownOf(table);
    const { within } = table.knownBy;
    for (const together of out.came.get(table.name) ?? []) {
      const own = within === undefined ? rows : rows.filter((row) => row[within] === together);
      state.set(`${table.name} ${together}`, { table, rows: own, rawSha256 });
    }
  }
  return state;
}

/** What came since, and what has not come since as it was before. */
export const carriedOver = (before: State, since: State): State => new Map([...before, ...since]);

/** Whether everything that is compared in `since` has come before. */
export const lacksNothing = (before: State, since: State): boolean =>
  [...since.keys()].every((name) => before.has(name));

/**
 * Two bodies without the members that are the same in both, to the byte: most of a record is as it was, and need not be read
 * to find out what is not. `kept` stay in any case; where nothing must, one does: a body with nothing in it would say
 * something else.
 */
function withoutSame(old: Buffer, now: Buffer, kept: readonly string[]): readonly [Buffer, Buffer] {
  const [before, after] = [membersOf(old), membersOf(now)];
  if (before === undefined || after === undefined) return [old, now];
  const same = [...after].flatMap(([name, range]) => {
    const other = before.get(name);
    return other !== undefined && isSame(old, other, now, range) ? [name] : [];
  });
  const dropped = new Set(kept.length > 0 ? same.filter((name) => !kept.includes(name)) : same.slice(1));
  return dropped.size === 0 ? [old, now] : [without(old, before, dropped), without(now, after, dropped)];
}

type Members = ReadonlyMap<string, MemberRange>;

/** Undefined for what is no object, or is not whole. */
function membersOf(body: Buffer): Members | undefined {
  try {
    const shell = scanJson(body);
    return shell.kind === 'object' ? shell.members : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isSame = (a: Buffer, { start, end }: MemberRange, b: Buffer, other: MemberRange): boolean =>
  end - start === other.end - other.start && a.compare(b, other.start, other.end, start, end) === 0;

function without(body: Buffer, members: Members, dropped: ReadonlySet<string>): Buffer {
  const left = [...members].filter(([name]) => !dropped.has(name));
  const parts = left.map(([name, { start, end }]) => `${JSON.stringify(name)}:${body.toString('utf8', start, end)}`);
  return Buffer.from(`{${parts.join(',')}}`);
}
