import type { Stoppable } from '../app/watch-door.js';
import { KybatchError } from '../domain/errors.js';
import type { ExitCode } from '../domain/exit-codes.js';
import { InterruptListener } from './terminal/interrupts.js';
import type { Io } from './terminal/io.js';

/**
 * The first interrupt lets calls under way come home, the second does not. Whatever work ends with after either of them, it
 * was stopped: that is said, and its exit code is that of the interrupt.
 */
export async function untilDrained(
  io: Io,
  stopped: string,
  work: (stoppable: Required<Stoppable>) => Promise<ExitCode>,
): Promise<ExitCode> {
  const interrupts = new InterruptListener();
  interrupts.start(io);
  try {
    return await work({ drain: interrupts.drain, abort: interrupts.abort });
  } catch (error) {
    const wasAsked = error instanceof KybatchError || error === interrupts.abort.reason;
    if (interrupts.standsFor === undefined || !wasAsked) throw error;
    io.alert(`${stopped}\n`);
    return interrupts.standsFor;
  } finally {
    interrupts.stop();
  }
}
