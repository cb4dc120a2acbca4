import type { ReviewStore, RowRef } from '../ledger/review.js';
import type { GroundsOfRun } from '../ledger/taken-back.js';
import { type GivenAnswer, giveAnswer } from './give-answer.js';
import type { Question } from './questions.js';
import { readText } from './read-text.js';
import { questionInWords } from './words.js';

export interface SessionOptions {
  readonly questions: readonly Question[];
  /** One key a time; the end of it ends the session. */
  readonly keys: AsyncIterable<string>;
  readonly print: (text: string) => void;
  readonly review: ReviewStore;
  readonly by: string;
  readonly now: () => number;
  readonly groundsOf: GroundsOfRun;
}

export interface SessionEnd {
  readonly decided: number;
  readonly left: number;
  readonly released: readonly RowRef[];
}

/**
 * One question at a time. Each answer is on disk before the next question is shown, so that quitting loses nothing;
 * undo withdraws the last one and goes back to it.
 */
export async function runSession(options: SessionOptions): Promise<SessionEnd> {
  const keys = options.keys[Symbol.asyncIterator]();
  const session = new Session(options);
  try {
    session.show();
    while (!session.over) {
      const { value: key, done } = await keys.next();
      if (done === true || ENDS.has(key)) break;
      if (key === 't') session.note = await readText(keys, options.print);
      await session.press(key);
    }
  } finally {
    await keys.return?.();
  }
  return session.end();
}

/** q, Ctrl-C, Ctrl-D. */
const ENDS: ReadonlySet<string> = new Set(['q', '\u0003', '\u0004']);
const PAGE = 9;

interface Given {
  readonly position: number;
  readonly id: number;
  /** It comes back with the question when the answer is taken back. */
  readonly note: string;
  readonly released: readonly RowRef[];
}

class Session {
  note = '';
  over: boolean;
  readonly #options: SessionOptions;
  readonly #given: Given[] = [];
  #position = 0;
  #page = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.over = options.questions.length === 0;
  }

  show(): void {
    const { questions, print } = this.#options;
    const question = questions[this.#position];
    if (question === undefined) {
      if (!this.over) print('\nThat was the last question. u undoes, any other key ends. ');
      return;
    }
    const note = this.note === '' ? '' : `  note: ${this.note}\n`;
    print(
      `\n[${this.#position + 1} of ${questions.length}] ${questionInWords(question, this.#page * PAGE, PAGE)}${note}`,
    );
    print(`  ${keysInWords(question)} `);
  }

  async press(key: string): Promise<void> {
    const question = this.#options.questions[this.#position];
    if (key === 'u') await this.#undo();
    else if (question === undefined) this.over = true;
    else if (key === 'n') await this.#answer(question, { verdict: 'none_of_these' });
    else if (key === 's') await this.#answer(question, { verdict: 'not_sure' });
    else if (key === 'k' || key === ' ') this.#skip();
    else if (key === 't') this.show();
    else if (key === 'm' && question.candidates.length > PAGE) this.#turnPage(question);
    else await this.#choose(question, key);
  }

  end(): SessionEnd {
    const decided = new Set(this.#given.map(({ position }) => position)).size;
    return {
      decided,
      left: this.#options.questions.length - decided,
      released: this.#given.flatMap(({ released }) => released),
    };
  }

  async #choose(question: Question, key: string): Promise<void> {
    const choice = /^[1-9]$/.test(key) ? question.candidates[this.#page * PAGE + Number(key) - 1] : undefined;
    if (choice !== undefined) await this.#answer(question, { verdict: 'confirm', choice });
    else if (key.trim() !== '') this.#options.print(`\n  ${keysInWords(question)} `);
  }

  async #answer(question: Question, said: Pick<GivenAnswer, 'verdict' | 'choice'>): Promise<void> {
    const { review, by, now, print } = this.#options;
    const { id, released } = await giveAnswer(review, question, { ...said, by, note: this.note }, now());
    this.#given.push({ position: this.#position, id, note: this.note, released });
    const { choice, verdict } = said;
    print(`${choice === undefined ? verdict.replaceAll('_', ' ') : `confirmed: ${choice.name ?? choice.id}`}\n`);
    this.#goTo(this.#position + 1);
  }

  async #undo(): Promise<void> {
    const { review, by, now, print, groundsOf } = this.#options;
    const last = this.#given.pop();
    if (last === undefined) {
      print('there is nothing to undo\n');
      return;
    }
    await review.withdraw(last.id, by, now(), groundsOf);
    print('taken back\n');
    this.#goTo(last.position, last.note);
  }

  #skip(): void {
    this.#options.print('left for later\n');
    this.#goTo(this.#position + 1);
  }

  #turnPage({ candidates }: Question): void {
    this.#page = (this.#page + 1) % Math.ceil(candidates.length / PAGE);
    this.show();
  }

  /** After the last question there is nothing left but to undo, if anything was answered. */
  #goTo(position: number, note = ''): void {
    this.#position = position;
    this.#page = 0;
    this.note = note;
    this.over = position >= this.#options.questions.length && this.#given.length === 0;
    this.show();
  }
}

function keysInWords({ candidates }: Question): string {
  const count = Math.min(PAGE, candidates.length);
  return [
    ...(count === 0 ? [] : [count === 1 ? '1 confirm' : `1-${count} confirm`]),
    'n none of these',
    's not sure',
    't note',
    ...(candidates.length > PAGE ? ['m more'] : []),
    'k skip',
    'u undo',
    'q quit',
  ].join(' · ');
}
