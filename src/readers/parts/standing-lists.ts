import { knownAs } from '../known-again.js';
import type { ReaderOutput } from '../reader.js';
import type { KnownBy, Row, Table } from '../table.js';
import { filedFinancialsTable } from '../tables/filed-financials.js';
import { groupLinksTable } from '../tables/group-links.js';
import { officersTable } from '../tables/officers.js';
import { shareholdersTable } from '../tables/shareholders.js';

/** The lists of a company, by what the company's line counts of them. */
const LISTS = {
  officers: officersTable,
  shareholders: shareholdersTable,
  group_links: groupLinksTable,
  filed_periods: filedFinancialsTable,
} as const;

export type ListName = keyof typeof LISTS;
const NAMES = Object.keys(LISTS) as readonly ListName[];

/** What the answers of one operation say of lists, and when. */
export interface ListsRead {
  readonly operation: string;
  readonly rawSha256s: readonly string[];
  /** When it was begun to read. */
  readonly asOf: number;
  /** How much of each list came; null: it did not come (V1-22). */
  readonly counts?: Partial<Record<ListName, number | null>>;
  /** What is known of a list: all of it came, or a part of it. A record does not say (V1-26). */
  readonly extents?: Partial<Record<ListName, 'whole' | 'part'>>;
}

/**
 * The same list may have come with the full record, and by itself, at another time. One reading of it is shown: the newest
 * that came. But one that is not known to be whole says nothing about who is not in it: an older one that has everybody of it,
 * and more, stands in its place.
 */
export function standingLists<R extends ListsRead>(
  reads: readonly R[],
  out: ReaderOutput,
): Partial<Record<ListName, R>> {
  const standing: Partial<Record<ListName, R>> = {};
  for (const name of NAMES) {
    const came = reads.filter((one) => cameIn(name, one, out));
    const chosen = came.length < 2 ? came[0] : standingOf(name, came, out);
    if (chosen === undefined) continue;
    standing[name] = chosen;
    const table: Table = LISTS[name];
    for (const { operation, rawSha256s } of came.filter((one) => one !== chosen))
      for (const rawSha256 of rawSha256s) out.hide(table, { operation, rawSha256 });
    if (chosen.extents?.[name] === 'part') out.noteInPart(table);
  }
  return standing;
}

/** Filed values may come without a list of their periods. */
const cameIn = (name: ListName, read: ListsRead, out: ReaderOutput): boolean => {
  const count = read.counts?.[name];
  return count === null ? linesOf(name, read, out).length > 0 : count !== undefined;
};

const linesOf = (name: ListName, { operation, rawSha256s }: ListsRead, out: ReaderOutput): readonly Row[] =>
  (out.rows.get(LISTS[name].name) ?? []).filter(
    (line) => line.operation === operation && rawSha256s.includes(line.raw_sha256 ?? ''),
  );

function standingOf<R extends ListsRead>(name: ListName, came: readonly R[], out: ReaderOutput): R | undefined {
  const { knownBy = { columns: [] } }: Table = LISTS[name];
  const isWhole = ({ extents }: ListsRead) => extents?.[name] === 'whole';
  const hasMoreThan = (one: R, other: R) => hasMore(linesOf(name, one, out), linesOf(name, other, out), knownBy);
  const [newest, ...older] = [...came].sort((a, b) => b.asOf - a.asOf || Number(isWhole(b)) - Number(isWhole(a)));
  return older.reduce(
    (stands, one) => (stands !== undefined && !isWhole(stands) && hasMoreThan(one, stands) ? one : stands),
    newest,
  );
}

/** Every line of the other one, as often, and more. */
function hasMore(lines: readonly Row[], than: readonly Row[], knownBy: KnownBy): boolean {
  if (lines.length <= than.length) return false;
  const times = new Map<string, number>();
  for (const line of lines) times.set(knownAs(line, knownBy), (times.get(knownAs(line, knownBy)) ?? 0) + 1);
  return than.every((line) => {
    const left = times.get(knownAs(line, knownBy)) ?? 0;
    times.set(knownAs(line, knownBy), left - 1);
    return left > 0;
  });
}
