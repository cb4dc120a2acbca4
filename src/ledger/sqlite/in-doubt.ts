import type { Connection } from './driver.js';

/**
 * Calls for one request that may have been charged and whose answer is not there. An answer since then is what they
 * were for: it ends the doubt. in_doubt is 2 where a person has let the request go on: such a call counts no longer
 * against the cap, but a report is still looked for before it is generated again.
 */
export const IN_DOUBT = `FROM calls WHERE environment_id = @environmentId AND request_key = unhex(@requestKey) AND in_doubt > 0
  AND id > coalesce((SELECT call_id FROM answers WHERE environment_id = @environmentId AND request_key = unhex(@requestKey)), 0)`;

export interface OfRequest {
  readonly environmentId: number;
  readonly requestKey: string;
}

/** For answers that are about to go. They had ended the doubt about calls lost before them: it must not come back. */
export function endDoubts(database: Connection, goneCalls: string, parameter: string | number): void {
  database
    .prepare(
      `UPDATE calls SET in_doubt = 0 WHERE in_doubt > 0 AND EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = calls.environment_id
         AND answers.request_key = calls.request_key AND answers.call_id > calls.id AND answers.call_id IN (${goneCalls}))`,
    )
    .run(parameter);
}
