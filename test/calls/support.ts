import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v1Operations } from '../../src/api/v1/operations.js';
import { type V2OperationName, v2Operations } from '../../src/api/v2/operations.js';
import { Door } from '../../src/calls/door.js';
import type { DoorOptions } from '../../src/calls/options.js';
import type { AnyClient, CallOutcome, DoorRequest } from '../../src/calls/request.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { type Clock, systemClock } from '../../src/util/clock.js';
import { type Bench, type BenchOptions, withSandbox } from '../helpers/sandbox.js';

export interface Hall extends Bench {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly dataDir: string;
  /** A door for a new attempt. */
  door(options?: Partial<DoorOptions>): Promise<Door>;
  /** One request through its own door. */
  ask(request: DoorRequest, options?: Partial<DoorOptions>): Promise<CallOutcome>;
  /** The process died: its lock, its attempt and its memory are gone. */
  restart(): Promise<Ledger>;
}

/** A ledger and a sandbox, and doors between them. */
export async function withHall<T>(options: BenchOptions, use: (hall: Hall) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kybatch-calls-'));
  const clock = options.clock ?? systemClock;
  const open = () => openLedger({ dataDir, now: clock.now(), access: 'write' });
  try {
    return await withSandbox(options, async (bench) => {
      let ledger = await open();
      const v1 = await ledger.calls.environment('v1', 'sandbox');
      const v2 = await ledger.calls.environment('v2', 'sandbox');
      const door = async (more: Partial<DoorOptions> = {}) => {
        const now = clock.now();
        const attemptId = await ledger.calls.begin({ runId: null, begunAt: now, leaseUntil: now + 30_000 });
        return new Door({
          calls: ledger.calls,
          attemptId,
          clock,
          apis: {
            v1: { client: bench.v1 as unknown as AnyClient, environmentId: v1 },
            v2: { client: bench.v2 as unknown as AnyClient, environmentId: v2 },
          },
          retry: { attempts: 3, baseMs: 1, capMs: 2 },
          concurrency: 8,
          breaker: null,
          limits: { units: null, reports: null },
          inDoubt: 'resend',
          inDoubtCap: 3,
          permissions: {},
          ...more,
        });
      };
      try {
        return await use({
          ...bench,
          get ledger() {
            return ledger;
          },
          clock,
          dataDir,
          door,
          ask: async (request, more) => await (await door(more)).call(request),
          restart: async () => {
            await ledger.close();
            ledger = await open();
            return ledger;
          },
        });
      } finally {
        await ledger.close();
      }
    });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const usual = { runId: null, row: null, stage: null, reusableSince: 0, lookedSince: 0 };

export const full = (id: string, more: Partial<DoorRequest> = {}): DoorRequest => ({
  ...usual,
  operation: v1Operations.fullKyb,
  params: { id },
  ...more,
});

export const v2 = (
  operation: V2OperationName,
  params: DoorRequest['params'],
  more: Partial<DoorRequest> = {},
): DoorRequest => ({
  ...usual,
  operation: v2Operations[operation],
  params,
  ...more,
});
