import type { AllowanceRecord, DecisionRecord, Ledger, UsageLine, UsageReport } from '../ledger.js';
import type { Connection } from './open.js';
import type { Writer } from './writer.js';

type EvidenceStore = Pick<Ledger, 'recordError' | 'saveCandidates' | 'anyDecision' | 'decisionFor' | 'usage'>;

/** What was seen and decided on the way, and what it all cost. */
export function evidenceStore(database: Connection, writer: Writer): EvidenceStore {
  const insertError = database.prepare(
    'INSERT INTO errors (run_id, row, stage, class, code, message, request_id, attempts, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const dropCandidates = database.prepare('DELETE FROM candidates WHERE run_id = ? AND row = ? AND api = ?');
  const insertCandidate = database.prepare(
    `INSERT INTO candidates (run_id, row, api, position, id, name, registration_number, vat_number, country_code, state, match_grade, decision, evidence)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const decision = database.prepare<[number, string], Omit<DecisionRecord, 'shown'> & { shown: string }>(
    `SELECT decision, candidate_id AS candidateId, decided_by AS decidedBy, decided_at AS decidedAt, note, shown
     FROM decisions WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL ORDER BY id DESC LIMIT 1`,
  );

  const anyDecision = database.prepare<[], number>('SELECT 1 FROM decisions LIMIT 1').pluck();

  return {
    recordError: ({ runId, row, stage, class: errorClass, code, message, requestId, attempts, at }) =>
      writer.write(() => void insertError.run(runId, row, stage, errorClass, code, message, requestId, attempts, at)),
    saveCandidates: (runId, row, api, candidates) =>
      writer.write(() => {
        dropCandidates.run(runId, row, api);
        for (const [
          index,
          { id, name, registrationNumber, vatNumber, countryCode, state, matchGrade, decision: verdict, evidence },
        ] of candidates.entries()) {
          insertCandidate.run(
            runId,
            row,
            api,
            index + 1,
            id,
            name,
            registrationNumber,
            vatNumber,
            countryCode,
            state,
            matchGrade,
            verdict,
            evidence,
          );
        }
      }),
    anyDecision: async () => anyDecision.get() !== undefined,
    decisionFor: async (environmentId, entityKey) => {
      const found = decision.get(environmentId, entityKey);
      return found && { ...found, shown: JSON.parse(found.shown) as string[] };
    },
    usage: async () => readUsage(database),
  };
}

function readUsage(database: Connection): UsageReport {
  const lines = (key: string, order: string) =>
    database
      .prepare<[], UsageLine>(
        `SELECT ${key} AS key, environments.api AS api, sum(charge <> 'owned') AS calls, sum(charge = 'owned') AS owned,
           coalesce(sum(units_charged), 0) AS unitsCharged, sum(charge = 'unknown') AS unknown
         FROM calls JOIN environments ON environments.id = environment_id WHERE settled_at IS NOT NULL
         GROUP BY 1, 2 ORDER BY ${order}`,
      )
      .all();
  const environments = database
    .prepare<[], AllowanceRecord & { api: string; name: string; unknownCalls: number }>(
      `SELECT api, name, observed_at AS observedAt, remaining_units AS remainingUnits, daily_limit AS dailyLimit,
         daily_remaining AS dailyRemaining, reset_at AS resetAt, raw, spent_until AS spentUntil, anchor_call_id AS anchorCallId,
         anchor_units AS anchorUnits, coalesce(drift_units, 0) AS driftUnits,
         (SELECT count(*) FROM calls WHERE calls.environment_id = environments.id AND charge = 'unknown') AS unknownCalls
       FROM environments LEFT JOIN allowances ON allowances.environment_id = environments.id ORDER BY environments.id`,
    )
    .all();
  return {
    byDay: lines("strftime('%Y-%m-%d', started_at / 1000, 'unixepoch')", '1 DESC, 2'),
    byOperation: lines('operation', '2, 1'),
    byRun: lines("coalesce(run_id, '(by hand)')", '1 DESC, 2'),
    environments,
  };
}
