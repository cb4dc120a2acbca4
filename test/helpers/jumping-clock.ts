import { setTimeout as pause } from 'node:timers/promises';
import { ManualClock } from '../../src/util/clock.js';
import { oneTurn, turns } from '../engine/support.js';
import { isOnPostgres } from './ledger-place.js';

/**
 * No test waits: time jumps to the end of a sleep as soon as all other work is done. A sleep of many seconds is a
 * background check. It ends when the other sleeps have reached that time.
 */
export class JumpingClock extends ManualClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms >= BACKGROUND_MS || (isOnPostgres && LOOKS_MS.includes(ms))) return await super.sleep(ms, signal);
    const at = this.now() + ms;
    // On PostgreSQL other work may need a round trip, such as renewing a lease.
    if (isOnPostgres && ms >= LONG_MS) await pause(WIRE_MS);
    else await oneTurn();
    signal?.throwIfAborted();
    if (this.now() < at) this.set(at);
  }
}

const BACKGROUND_MS = 10_000;
/** Several processes look more often for the work of other processes, and for signs that they are alive. */
const LOOKS_MS = [2000, 5000];
const LONG_MS = 500;
const WIRE_MS = 30;

/** Advances in steps. It stops while an attempt renews its lease, however slow the disk or the network is. */
export class SteppingClock extends ManualClock {
  /** Attempts that sleep until they renew their lease. */
  #leases = 0;

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms !== RENEW_MS) return await super.sleep(ms, signal);
    this.#leases += 1;
    await super.sleep(ms, signal).finally(() => {
      this.#leases -= 1;
    });
  }

  step(ms: number): void {
    if (this.#leases > 0) this.advance(ms);
  }

  async stepUntilEnd<T>(work: Promise<T>, stepMs: number): Promise<T> {
    let done = false;
    const end = work.finally(() => {
      done = true;
    });
    end.catch(() => {});
    while (!done) {
      this.step(stepMs);
      await turns(5);
    }
    return await end;
  }
}

const RENEW_MS = isOnPostgres ? 5000 : 10_000;
