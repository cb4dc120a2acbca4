import type { Ledger, RunActivity, SettledCall, UnknownCharge } from '../ledger.js';
import type { Connection } from './open.js';

type StatusReads = Pick<
  Ledger,
  'findEnvironment' | 'environmentOfRun' | 'newestCall' | 'runActivity' | 'unknownChargesEverywhere'
>;

/** What commands that look, and change nothing, want to know. */
export function statusReads(database: Connection): StatusReads {
  const environment = database
    .prepare<[string, string], number>('SELECT id FROM environments WHERE api = ? AND name = ?')
    .pluck();
  const environmentOfRun = database
    .prepare<[string, string], string>(
      `SELECT environments.name FROM calls JOIN environments ON environments.id = environment_id
       WHERE run_id = ? AND api = ? LIMIT 1`,
    )
    .pluck();
  const newestCall = database.prepare<[number, string], SettledCall>(
    `SELECT http_status AS httpStatus, request_id AS requestId, duration_ms AS durationMs, units_charged AS unitsCharged,
       remaining_units AS remainingUnits
     FROM calls WHERE environment_id = ? AND request_key = unhex(?) AND run_id IS NULL ORDER BY id DESC LIMIT 1`,
  );
  const calls = database.prepare<[string], Pick<RunActivity, 'calls' | 'owned' | 'firstCallAt' | 'lastCallAt'>>(
    `SELECT count(*) AS calls, coalesce(sum(charge = 'owned'), 0) AS owned, min(started_at) AS firstCallAt, max(started_at) AS lastCallAt
     FROM calls WHERE run_id = ?`,
  );
  const settledSince = database
    .prepare<[string, number], number>(
      "SELECT count(*) FROM rows WHERE run_id = ? AND outcome NOT IN ('pending', 'invalid') AND updated_at >= ?",
    )
    .pluck();
  const release = database
    .prepare<[string], number | null>("SELECT min(next_at) FROM rows WHERE run_id = ? AND hold = 'parked'")
    .pluck();
  const errors = database.prepare<[string], { code: string; count: number; example: number | null }>(
    `SELECT error_code AS code, count(*) AS count, min(row) AS example FROM rows
     WHERE run_id = ? AND outcome = 'failed' AND error_code IS NOT NULL GROUP BY error_code ORDER BY count(*) DESC LIMIT 10`,
  );
  const unknown = database.prepare<[number], UnknownCharge>(
    `SELECT calls.id AS id, api, environments.name AS environment, operation, run_id AS runId, row, started_at AS startedAt,
       error_code AS errorCode
     FROM calls JOIN environments ON environments.id = environment_id WHERE charge = 'unknown' ORDER BY calls.id DESC LIMIT ?`,
  );
  return {
    findEnvironment: async (api, name) => environment.get(api, name),
    environmentOfRun: async (runId, api) => environmentOfRun.get(runId, api),
    newestCall: async (environmentId, requestKey) => newestCall.get(environmentId, requestKey),
    runActivity: async (runId, since) => ({
      ...(calls.get(runId) ?? { calls: 0, owned: 0, firstCallAt: null, lastCallAt: null }),
      settledSince: settledSince.get(runId, since) ?? 0,
      parkedUntil: release.get(runId) ?? null,
      failures: errors.all(runId),
    }),
    unknownChargesEverywhere: async (limit) => unknown.all(limit),
  };
}
