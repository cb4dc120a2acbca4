import type { Doubt } from '../doubt.js';
import type { RequestState } from '../intended.js';
import type { NewCall } from '../intent.js';
import type { Connection } from './driver.js';
import { IN_DOUBT, type OfRequest } from './in-doubt.js';

export interface RequestStates {
  /** Read inside the transaction of an intent. */
  of(call: NewCall): RequestState;
  doubt(of: OfRequest): Doubt;
}

type Seen = [alive: 0 | 1, underWay: 0 | 1, answered: 0 | 1, anyDoubt: 0 | 1];

/** What became of a request before, by whomever. One statement, because it is asked for every call. */
export function requestStates(database: Connection): RequestStates {
  const look = database
    .prepare<unknown[], Seen>(
      `SELECT
         EXISTS (SELECT 1 FROM starts WHERE id = ? AND ended_at IS NULL),
         EXISTS (SELECT 1 FROM calls WHERE settled_at IS NULL AND environment_id = ? AND request_key = ?),
         EXISTS (SELECT 1 FROM answers JOIN calls ON calls.id = call_id
           WHERE answers.environment_id = ? AND answers.request_key = ? AND settled_at >= ? AND raw_sha256 IS NOT NULL),
         EXISTS (SELECT 1 FROM calls WHERE environment_id = ? AND request_key = ? AND in_doubt = 1)`,
    )
    .raw();
  const inDoubt = database.prepare<[OfRequest], Doubt>(
    `SELECT count(*) - count(http_status) AS lost, count(http_status) AS answered, coalesce(max(settled_at), 0) AS lastEndedAt ${IN_DOUBT}`,
  );
  const doubt = (of: OfRequest): Doubt => inDoubt.get(of) ?? { lost: 0, answered: 0, lastEndedAt: 0 };
  return {
    doubt,
    of({ startId, environmentId, requestKey, ownedSince }) {
      const key = Buffer.from(requestKey, 'hex');
      const [alive, underWay, answered, anyDoubt] = look.get(
        startId,
        environmentId,
        key,
        environmentId,
        key,
        ownedSince,
        environmentId,
        key,
      ) ?? [0, 0, 0, 0];
      return {
        alive: alive === 1,
        underWay: underWay === 1,
        answered: answered === 1,
        doubt: anyDoubt === 1 ? doubt({ environmentId, requestKey }) : undefined,
      };
    },
  };
}
