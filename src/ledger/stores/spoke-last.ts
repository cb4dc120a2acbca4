import { bodySaysNothing } from '../../util/says-nothing.js';
import type { Script, Sql } from '../database.js';
import { Bodies } from './bodies.js';

/** Compressed: what says nothing takes no more. */
const SMALL_BYTES = 4096;

/**
 * Where nothing was returned the last time, the company stands by the answer before it that says something: the calls that
 * brought those. They are replaced, and kept all the same.
 */
export function* spokeLast(database: Sql): Script<readonly number[]> {
  const bodies = new Bodies(database);
  const silent = new Map<string, boolean>();
  const saysNothing = function* (rawSha256: string): Script<boolean> {
    const known = silent.get(rawSha256);
    if (known !== undefined) return known;
    const body = yield* bodies.readSound(rawSha256);
    const nothing = body !== undefined && bodySaysNothing(body);
    silent.set(rawSha256, nothing);
    return nothing;
  };
  const owned = database.prepare<[number], Answered>(
    `SELECT calls.id, lower(hex(raw_sha256)) AS rawSha256, replaces FROM answers JOIN calls ON calls.id = call_id JOIN bodies ON sha256 = raw_sha256
     WHERE replaces IS NOT NULL AND length(bytes) <= ?`,
  );
  const earlier = database.prepare<[number], Answered>(
    'SELECT id, lower(hex(raw_sha256)) AS rawSha256, replaces FROM calls WHERE id = ? AND raw_sha256 IS NOT NULL',
  );
  const spoke: number[] = [];
  for (const answer of yield* owned.all(SMALL_BYTES)) {
    let call: Answered | undefined = answer;
    while (call !== undefined && (yield* saysNothing(call.rawSha256)))
      call = call.replaces === null ? undefined : yield* earlier.get(call.replaces);
    if (call !== undefined && call !== answer) spoke.push(call.id);
  }
  return spoke;
}

interface Answered {
  readonly id: number;
  readonly rawSha256: string;
  readonly replaces: number | null;
}
