import type { Faults } from '../../src/sandbox/index.js';

/** Seeded random numbers. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** In [0, 1). */
  roll(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) / 2 ** 32;
  }

  upTo(count: number): number {
    return Math.floor(this.roll() * count);
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.upTo(choices.length)] as T;
  }

  /** Picks one of them by its share, or `otherwise`. */
  by<T>(shares: readonly (readonly [share: number, what: T])[], otherwise: T): T {
    let point = this.roll();
    for (const [share, what] of shares) {
      if (point < share) return what;
      point -= share;
    }
    return otherwise;
  }
}

/** The provider's trouble in a night, and its duration. Null: until the morning. */
export interface Trouble {
  readonly name: string;
  readonly faults: Faults;
  readonly forMs: number | null;
}

const MINUTE = 60_000;
const WELL: Trouble = { name: 'well', faults: {}, forMs: null };

const TROUBLES: readonly (readonly [number, Trouble])[] = [
  [0.04, { name: 'out for minutes', faults: { rate503: 1 }, forMs: 5 * MINUTE }],
  [0.01, { name: 'out for an hour', faults: { rate502: 1 }, forMs: 60 * MINUTE }],
  [0.005, { name: 'out all night', faults: { resetBefore: 1 }, forMs: null }],
  [0.02, { name: 'a maintenance page', faults: { htmlError: 1 }, forMs: 20 * MINUTE }],
  [0.04, { name: 'answers get lost', faults: { lostAnswer: 0.1, resetMidBody: 0.05 }, forMs: null }],
  [0.03, { name: 'truncated answers', faults: { truncatedJson: 0.1, wrongContentType: 0.05 }, forMs: null }],
  [0.04, { name: 'too many requests', faults: { rate429: 0.3 }, forMs: null }],
  [0.04, { name: 'errors', faults: { rate502: 0.1, rate503: 0.1, rate504: 0.1 }, forMs: null }],
  [0.03, { name: 'failures that did the work', faults: { failAfterWork: 0.2 }, forMs: null }],
];

export const drawTrouble = (dice: Dice): Trouble => dice.by(TROUBLES, WELL);

export type Feed = 'same' | 'swapped' | 'sorted' | 'edited' | 'header only' | 'half' | 'rubbish' | 'gone';

/** How the night's file differs from the previous one. */
export const drawFeed = (dice: Dice): Feed =>
  dice.by(
    [
      [0.25, 'same'],
      [0.3, 'swapped'],
      [0.1, 'sorted'],
      [0.02, 'header only'],
      [0.03, 'half'],
      [0.01, 'rubbish'],
      [0.01, 'gone'],
    ],
    'edited',
  );
