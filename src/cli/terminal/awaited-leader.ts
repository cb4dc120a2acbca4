import type { SpendingEvent } from '../../app/events.js';
import type { LinePart } from './fit-line.js';
import { durationInWords } from './text.js';

type Awaited = Extract<SpendingEvent, { kind: 'leader_awaited' }>;

/** Somebody else who led the run when last heard of: nothing moves before it is known whether it is alive. */
export class AwaitedLeader {
  #awaited: Awaited | undefined;

  /** A line to be said at once where nobody looks at a bar. Whatever else happens, the wait is over. */
  listen(event: SpendingEvent): string | undefined {
    this.#awaited = event.kind === 'leader_awaited' ? event : undefined;
    return this.#awaited && `waiting to see whether ${nameOf(this.#awaited)}, which leads this run, is alive`;
  }

  /** "waiting for 12 s to see whether build-7:4211, which leads this run, is alive" */
  words(now: number): readonly LinePart[] {
    if (this.#awaited === undefined) return [];
    const left = durationInWords(Math.max(0, this.#awaited.until - now));
    const text = `waiting for ${left} to see whether ${nameOf(this.#awaited)}, which leads this run, is alive`;
    return [{ text, short: `waiting for ${left} for its leader`, rank: 0 }];
  }
}

const nameOf = ({ worker }: Awaited): string => worker ?? 'another process';
