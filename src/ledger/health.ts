// Results of the health checks, and the check for damaged answers.

import type { ExitCode } from '../domain/errors.js';
import { Bodies } from './answers/bodies.js';
import type { Script, Sql } from './db/database.js';

/** A stored answer whose bytes do not match its digest. */
export interface DamagedAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly api: string;
  readonly operation: string;
  /** JSON. Null if the answer was never stored for reuse. */
  readonly params: string | null;
  readonly runId: string | null;
  readonly row: number | null;
  /** It is the newest answer to its request, so the tables use it. */
  readonly owned: boolean;
}

export type DatabaseHealth =
  | { readonly state: 'absent' }
  /** `isUnused`: no process has worked beside it, as in a backup. */
  | { readonly state: 'sound'; readonly isUnused?: boolean }
  | { readonly state: 'no_driver'; readonly detail: string }
  /** It could not be read, which says nothing about the file. */
  | { readonly state: 'unusable'; readonly detail: string; readonly exit: ExitCode }
  | { readonly state: 'newer' | 'older'; readonly schema: number }
  | { readonly state: 'damaged'; readonly detail: string; readonly wayOut?: string | undefined };

export interface DeepHealth {
  readonly bodies: number;
  readonly damaged: readonly DamagedAnswer[];
}

export interface ServerHealth {
  /** Without its password. */
  readonly name: string;
  readonly version: string;
  readonly role: string;
  readonly roundTripMs: number;
  /** How far its clock is ahead of this machine's. Negative: behind. Leases are compared across machines. */
  readonly clockAheadMs: number;
  readonly ledger: SchemaFound;
  /** May this role create or update schemas (`kybatch ledger migrate`)? */
  readonly mayMigrate: boolean;
  readonly rightsMissing: readonly MissingRight[];
  /** The tightest of the limits of server, database and role. */
  readonly connections: {
    readonly whose: 'server' | 'database' | 'role';
    readonly used: number;
    readonly most: number;
  };
  readonly isEncrypted: boolean;
  /** Traffic stays on this machine. */
  readonly isLocal: boolean;
  /** A standby, or a server set to read-only. */
  readonly isReadOnly: boolean;
  /** Settings that can lose a confirmed commit. */
  readonly unsafeSettings: readonly string[];
}

/** Clocks that differ by more cannot tell whether a worker is alive. */
export const SKEW_MS = 5000;

/** `has`: 0 if there is none, null if this role may not look. */
export interface SchemaFound {
  readonly has: number | null;
  readonly needs: number;
}

export interface MissingRight {
  /** For example `INSERT on kybatch.calls, kybatch.rows`. */
  readonly what: string;
  /** The statement that grants it, for the owner. */
  readonly grant: string;
}

/** Compares every stored body with its digest. */
export function* findDamagedAnswers(database: Sql): Script<DeepHealth> {
  const bodies = new Bodies(database);
  const digests = yield* bodies.digests();
  // The call that bought it: reuses have no parameters.
  const callsOf = database.prepare<[string], Omit<DamagedAnswer, 'owned'> & { owned: number }>(
    `SELECT calls.id AS callId, lower(hex(raw_sha256)) AS rawSha256, api, operation, params, run_id AS runId, row,
       EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key
         AND call_id = calls.id) AS owned
     FROM calls JOIN environments ON environments.id = environment_id WHERE raw_sha256 = unhex(?) AND charge <> 'owned' ORDER BY calls.id`,
  );
  const damaged: DamagedAnswer[] = [];
  for (const sha256 of digests)
    if ((yield* bodies.readSound(sha256)) === undefined)
      for (const call of yield* callsOf.all(sha256)) damaged.push({ ...call, owned: call.owned === 1 });
  return { bodies: digests.length, damaged: damaged.toSorted((a, b) => a.callId - b.callId) };
}

/**
 * A damaged body is no answer, so its answer is no longer reused. Its digest becomes free for the same bytes to be
 * stored again. The calls stay, because they were paid for.
 */
export function discardBody(database: Sql): (sha256: string) => Script<void> {
  const statements = [
    'DELETE FROM answers WHERE call_id IN (SELECT id FROM calls WHERE raw_sha256 = unhex(?))',
    'UPDATE calls SET raw_sha256 = NULL, params = NULL WHERE raw_sha256 = unhex(?)',
    'DELETE FROM bodies WHERE sha256 = unhex(?)',
  ];
  return function* (sha256) {
    for (const sql of statements) yield* database.prepare(sql).run(sha256);
  };
}
