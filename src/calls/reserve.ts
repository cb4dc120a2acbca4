import { TakenOverError } from '../domain/errors.js';
import type { Intended } from '../ledger/intended.js';
import type { Intent } from '../ledger/intent.js';
import type { Admission } from './admission.js';
import { lostAtMost } from './doubt.js';
import type { DoorOptions } from './options.js';
import type { Parked } from './outcome.js';
import type { DoorRequest, ReadyRequest } from './request.js';

/** Somebody else has the answer, or is about to: what is owned is to be looked at again. */
export interface Elsewhere {
  readonly kind: 'elsewhere';
  /** An answer from this time on is as new as one of our own. */
  readonly since: number;
}

/** The intent, or why there is none. */
export async function reserve(
  { operation, ownedSince, lookedSince }: DoorRequest,
  { context }: ReadyRequest,
  attempt: number,
  admission: Admission,
  options: DoorOptions,
): Promise<Intent | Elsewhere | Parked | Extract<Intended, { kind: 'in_doubt' }>> {
  const { calls, clock, limits, startId } = options;
  const asked = clock.now();
  const intended = await admission.admit(operation.meter, () =>
    calls.intend(
      {
        // Written out: a copy of the context that then grows costs five times as much, for every call.
        environmentId: context.environmentId,
        runId: context.runId,
        row: context.row,
        stage: context.stage,
        operation: context.operation,
        meter: context.meter,
        requestKey: context.requestKey,
        subject: context.subject,
        startId,
        attempt,
        startedAt: clock.now(),
        ownedSince: operation.keep === 'never' ? Number.POSITIVE_INFINITY : ownedSince,
        lookedSince,
        lostAtMost: lostAtMost(options),
      },
      admission.bound(limits),
    ),
  );
  switch (intended.kind) {
    case 'intent':
      return intended.intent;
    case 'taken_over':
      throw new TakenOverError();
    case 'under_way':
    case 'answered':
      return { kind: 'elsewhere', since: Math.min(ownedSince, asked) };
    case 'in_doubt':
    case 'parked':
      return intended;
  }
}
