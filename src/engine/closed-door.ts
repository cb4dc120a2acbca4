import { whyUnreadable } from '../api/answer.js';
import type { Operation } from '../api/operation.js';
import type { Answer, CallOutcome, Parked } from '../calls/outcome.js';
import type { Answering, DoorRequest } from '../calls/request.js';
import { canonicalRequest, keyOf } from '../calls/request-key.js';
import type { ByApi } from '../domain/api-name.js';
import type { CallStore } from '../ledger/calls.js';

/** A request that a run would have to send. */
export interface MissingAnswer {
  readonly operation: Operation;
  /** What it asks, in one text: the same for the same request. */
  readonly asks: string;
}

/**
 * The door of a plan: owned answers come through, nothing else does. It notes what was used and what was missing, and
 * whatever is missing parks the stage that asked for it.
 */
export class ClosedDoor implements Answering {
  readonly #calls: Pick<CallStore, 'findAnswer' | 'readBody'> | null;
  readonly #environments: ByApi<number | null>;
  readonly missing: MissingAnswer[] = [];
  readonly used = new Map<Operation, number>();

  constructor(calls: Pick<CallStore, 'findAnswer' | 'readBody'> | null, environments: ByApi<number | null>) {
    this.#calls = calls;
    this.#environments = environments;
  }

  /** Forgets what the row before has used and missed. */
  reset(): void {
    this.missing.length = 0;
    this.used.clear();
  }

  async call(request: DoorRequest): Promise<CallOutcome> {
    const canonical = canonicalRequest(request.operation, request.params);
    const owned = await this.#find(request, canonical);
    if (owned !== undefined) return owned;
    this.missing.push(missing(request.operation, canonical));
    return CLOSED;
  }

  async owned(request: DoorRequest): Promise<Answer | undefined> {
    return await this.#find(request, canonicalRequest(request.operation, request.params));
  }

  async #find(
    { operation, ownedSince, whyUnfit }: DoorRequest,
    canonical: string | undefined,
  ): Promise<Answer | undefined> {
    const environmentId = this.#environments[operation.api] ?? null;
    if (this.#calls === null || environmentId === null || operation.keep === 'never') return undefined;
    if (canonical === undefined) return undefined;
    const found = await this.#calls.findAnswer(environmentId, keyOf(operation.name, canonical), ownedSince);
    const body = found && (await this.#calls.readBody(found.rawSha256));
    if (found === undefined || body === undefined) return undefined;
    if (whyUnreadable(operation, body) !== undefined || whyUnfit?.(body) !== undefined) return undefined;
    this.used.set(operation, (this.used.get(operation) ?? 0) + 1);
    return { kind: 'answer', body, owned: true, fetchedAt: found.fetchedAt, use: null };
  }

  async settleLost(): Promise<void> {}
}

/** The request as it is missed. */
export const missing = (operation: Operation, canonical: string | undefined): MissingAnswer => ({
  operation,
  asks: canonical === undefined ? '' : `${operation.name} ${canonical}`,
});

const CLOSED: Parked = { kind: 'parked', reason: 'closed', until: null, message: 'not owned' };
