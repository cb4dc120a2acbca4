import type { RawAnswer, ReaderOutput } from '../reader.js';
import type { Row } from '../table.js';
import type { officersTable } from '../tables/officers.js';
import type { shareholdersTable } from '../tables/shareholders.js';

/** A list that was read to its end. */
interface WholeList {
  readonly operation: string;
  readonly wholeAsOf: number;
}

/**
 * A full record has lists without an envelope, and the same lists may have been bought by themselves (V1-26). One that is
 * whole and no older than the record stands for both, if it has every line of the record's: by its ID, and as often. Who is
 * missing from it is shown as the record has it, with all of its list.
 */
export function noteRepeated(
  table: typeof officersTable | typeof shareholdersTable,
  { operation, wholeAsOf }: WholeList,
  answers: readonly RawAnswer[],
  out: ReaderOutput,
): void {
  const lines = out.rows.get(table.name) ?? [];
  const listed = timesById(lines.filter((line) => line.operation === operation));
  for (const record of answers) {
    if (record.operation !== 'fullKyb' || record.fetchedAt > wholeAsOf) continue;
    const own = lines.filter((line) => line.operation === 'fullKyb' && line.raw_sha256 === record.rawSha256);
    const isThere = ([id, times]: readonly [string, number]) => id !== '' && times <= (listed.get(id) ?? 0);
    if (own.length > 0 && [...timesById(own)].every(isThere)) out.noteRepeated(table, record);
  }
}

function timesById(lines: readonly Row[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { id } of lines) times.set(id ?? '', (times.get(id ?? '') ?? 0) + 1);
  return times;
}
