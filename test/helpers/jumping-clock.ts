import { ManualClock } from '../../src/util/clock.js';

/** Nobody waits: time jumps to the end of a sleep as soon as everything that can happen before has happened. */
export class JumpingClock extends ManualClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const at = this.now() + ms;
    await new Promise((turn) => setImmediate(turn));
    signal?.throwIfAborted();
    if (this.now() < at) this.set(at);
  }
}
