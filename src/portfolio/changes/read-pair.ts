// Reads two answers for comparison, skipping the parts that are equal.

import {
  type RawAnswer,
  type Reader,
  type ReaderOutput,
  readSubject,
  type SubjectAnswers,
} from '../../readers/reader.js';
import type { Row, Table } from '../../readers/table.js';
import { type MemberRange, scanJson } from '../../util/json-scan.js';

/** The answers about a subject when one of them was the newest. */
export interface AsOf extends SubjectAnswers {
  /** Of that answer. */
  readonly rawSha256: string | null;
}

interface StatePair {
  readonly old: State;
  readonly now: State;
}

/** Reads two answers, or the part needed to compare them. Undefined if one is missing or unreadable. */
export function readPair(reader: Reader, old: AsOf, now: AsOf): StatePair | undefined {
  const [before, after] = [answerOf(old), answerOf(now)];
  if (before === undefined || after === undefined) return undefined;
  const kept = reader.apart?.[after.operation];
  if (kept === undefined || sharesLists(reader, after.operation, now.answers)) return readBoth(reader, old, now);
  const [oldBody, newBody] = withoutSame(before.body, after.body, kept);
  const pair = readBoth(reader, withBody(old, oldBody), withBody(now, newBody));
  // Missing parts are taken from earlier answers, in which other parts are equal.
  return pair === undefined || hasAllParts(pair.old, pair.now) ? pair : readBoth(reader, old, now);
}

/** Beside answers to other operations a list may now come from another one, even if both bodies are equal. */
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

/** People's e-mail and phone are not compared: they are only in the raw answers. */
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

/** The lines of one table that came together, and their raw answer. */
export interface Part {
  readonly table: Table;
  readonly rows: readonly Row[];
  readonly rawSha256: string;
}

/** A company's data at one moment, by table and part. Parts that did not come are absent. */
export type State = ReadonlyMap<string, Part>;

/** The state after a reader has read answers of which this is the newest. */
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

/** The newer parts, and the older ones that did not come again. */
export const carriedOver = (before: State, since: State): State => new Map([...before, ...since]);

/** Did every part of `since` come before? */
export const hasAllParts = (before: State, since: State): boolean =>
  [...since.keys()].every((name) => before.has(name));

/**
 * Removes members that are equal in both bodies, byte by byte: most of a record is unchanged and need not be read.
 * `kept` stay. If none must stay, one does, because an empty body would mean something else.
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

/** Undefined for anything but a complete object. */
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
