import type { SpendingEvent } from '../../app/events.js';
import type { LinePart } from './fit-line.js';
import { durationInWords, moment } from './text.js';

type Outage = Extract<SpendingEvent, { kind: 'outage' }>;

/** What is waited for because the provider does not answer it, and since when. */
export class Outages {
  readonly #open = new Map<string, Outage>();

  /** A line to be said at once where nobody looks at a bar; undefined where nothing has begun or ended. */
  listen(event: SpendingEvent): string | undefined {
    if (event.kind === 'outage') {
      const known = this.#open.has(event.operation);
      this.#open.set(event.operation, event);
      return known ? undefined : begun(event);
    }
    if (event.kind !== 'recovered') return undefined;
    this.#open.delete(event.operation);
    return `${event.api} ${event.operation} answers again after ${durationInWords(event.at - event.since)}: the run goes on`;
  }

  /** "waiting for v1 searchKyb (HTTP_503) for 3 min 20 s, next try in 40 s" */
  words(now: number): readonly LinePart[] {
    return [...this.#open.values()].map(({ api, operation, code, since, nextTryAt }) => ({
      text: `waiting for ${api} ${operation} (${code}) for ${durationInWords(now - since)}, next try ${inWords(nextTryAt - now)}`,
      short: `waiting for ${api} ${operation}, next try ${inWords(nextTryAt - now)}`,
      rank: 0,
    }));
  }
}

const begun = ({ api, operation, code, givesUpAt }: Outage): string =>
  `${api} ${operation} does not answer (${code}): waiting until ${moment(givesUpAt)} at the most, with one call that looks from time to time; an interrupt ends it`;

const inWords = (ms: number): string => (ms <= 0 ? 'now' : `in ${durationInWords(ms)}`);
