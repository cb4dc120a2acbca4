import { bodySaysNothing } from '../../util/says-nothing.js';
import { Bodies } from './bodies.js';
import type { Connection } from './driver.js';

/** Compressed: what says nothing takes no more. */
const SMALL_BYTES = 4096;

/**
 * Where nothing was returned the last time, the company stands by the answer before it that says something: the calls that
 * brought those. They are replaced, and kept all the same.
 */
export function spokeLast(database: Connection): readonly number[] {
  const bodies = new Bodies(database);
  const silent = new Map<string, boolean>();
  const saysNothing = (rawSha256: string): boolean => {
    const known = silent.get(rawSha256);
    if (known !== undefined) return known;
    const body = bodies.readSound(rawSha256);
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
  return owned.all(SMALL_BYTES).flatMap((answer) => {
    let call: Answered | undefined = answer;
    while (call !== undefined && saysNothing(call.rawSha256))
      call = call.replaces === null ? undefined : earlier.get(call.replaces);
    return call === undefined || call === answer ? [] : [call.id];
  });
}

interface Answered {
  readonly id: number;
  readonly rawSha256: string;
  readonly replaces: number | null;
}
