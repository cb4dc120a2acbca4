import type { PreparedCall } from '../api/client.js';
import { ApiError } from '../api/errors.js';
import type { CallContext } from '../ledger/ledger.js';
import type { AnyClient, DoorRequest } from './door-options.js';
import { canonicalJson, keyOf } from './request-key.js';

/** A request as it goes to the provider, to the ledger, and into the answer's description. */
export interface Asked {
  readonly prepared: PreparedCall;
  /** The parameters as JSON, in their canonical order. */
  readonly params: string;
  readonly context: CallContext;
}

/** Validates; nothing is sent. An ApiError names field and value. */
export function ask(client: AnyClient, environmentId: number, request: DoorRequest): Asked | ApiError {
  const { runId, row, stage, operation } = request;
  try {
    const prepared = client.prepare(operation, request.params);
    const params = canonicalJson(prepared.params);
    return {
      prepared,
      params,
      context: { environmentId, runId, row, stage, operation, requestKey: keyOf(operation, params) },
    };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
