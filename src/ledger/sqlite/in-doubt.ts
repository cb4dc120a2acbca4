/**
 * Calls for one request that may have been charged and whose answer is not there. An answer since then is what they
 * were for: it ends the doubt.
 */
export const IN_DOUBT = `FROM calls WHERE environment_id = @environmentId AND request_key = unhex(@requestKey) AND in_doubt = 1
  AND id > coalesce((SELECT call_id FROM answers WHERE environment_id = @environmentId AND request_key = unhex(@requestKey)), 0)`;

export interface OfRequest {
  readonly environmentId: number;
  readonly requestKey: string;
}
