import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyClient, Door, type DoorOptions, type DoorRequest } from '../../src/calls/door.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { type Clock, systemClock } from '../../src/util/clock.js';
import { type Bench, type BenchOptions, withSandbox } from '../helpers/sandbox.js';

export interface Hall extends Bench {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly dataDir: string;
  /** A door as a new process would have it. */
  door(options?: Partial<DoorOptions>): Door;
  /** The process died: its lock, its token and its memory are gone. */
  restart(): Promise<Ledger>;
}

/** A ledger and a sandbox, and doors between them. */
export async function withHall<T>(options: BenchOptions, use: (hall: Hall) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kybatch-calls-'));
  const clock = options.clock ?? systemClock;
  try {
    return await withSandbox(options, async (bench) => {
      let ledger = openLedger(dataDir, clock.now());
      const v1 = await ledger.environment('v1', 'sandbox');
      const v2 = await ledger.environment('v2', 'sandbox');
      try {
        return await use({
          ...bench,
          get ledger() {
            return ledger;
          },
          clock,
          dataDir,
          door: (more = {}) =>
            new Door({
              ledger,
              clock,
              apis: {
                v1: { client: bench.v1 as unknown as AnyClient, environmentId: v1 },
                v2: { client: bench.v2 as unknown as AnyClient, environmentId: v2 },
              },
              retry: { attempts: 3, baseMs: 1, capMs: 2 },
              concurrency: 8,
              breakerFailures: 20,
              budgetUnits: null,
              spentUnits: 0,
              inDoubt: 'resend',
              inDoubtCap: 3,
              permissions: {},
              ...more,
            }),
          restart: async () => {
            await ledger.close();
            ledger = openLedger(dataDir, clock.now());
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

const usual = { runId: null, row: null, stage: null, ownedSince: 0, own: true, lookedSince: null };

export const full = (id: string, more: Partial<DoorRequest> = {}): DoorRequest => ({
  ...usual,
  api: 'v1',
  operation: 'fullKyb',
  params: { id },
  ...more,
});

export const v2 = (operation: string, params: DoorRequest['params'], more: Partial<DoorRequest> = {}): DoorRequest => ({
  ...usual,
  api: 'v2',
  operation,
  params,
  ...more,
});
