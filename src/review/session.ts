import { correctionProblem } from '../domain/entity-key.js';
import { gradeInWords, seemsAnotherCompany } from '../domain/grade-order.js';
import type { Recorded, RowRef, StageDependenciesOf } from '../ledger/review/review.js';
import type { ReviewStore } from '../ledger/review/review-store.js';
import type { Choice, Question } from './questions.js';
import { type GivenAnswer, recordAnswer, type Verdict } from './record-answer.js';
import { CTRL_C, fitScreen, type Keys, linesOn, readText, type Screen, typedNumber } from './terminal.js';
import { answerInWords, questionInWords, saidBeforeInWords } from './words.js';

export interface SessionOptions {
  readonly questions: readonly Question[];
  /** Keys pressed before a question is on the screen are no answer to it. */
  readonly keys: Keys;
  readonly print: (text: string) => void;
  readonly review: ReviewStore;
  readonly by: string;
  readonly now: () => number;
  readonly groundsOf: StageDependenciesOf;
  /** The present size. Without it, nine candidates are shown at once. */
  readonly screen?: (() => Screen) | undefined;
  readonly wrap?: ((text: string, columns: number) => string) | undefined;
}

export interface SessionEnd {
  readonly decided: number;
  readonly held: number;
  /** Questions that stay open because the person was not sure. */
  readonly notSure: number;
  readonly left: number;
  readonly released: readonly RowRef[];
  readonly interrupted: boolean;
}

/**
 * Asks one question at a time. Each answer is on disk before the next question, so quitting loses nothing. Undo
 * withdraws the last answer and returns to its question.
 */
export async function runSession(options: SessionOptions): Promise<SessionEnd> {
  const keys = options.keys[Symbol.asyncIterator]();
  const session = new Session(options);
  let interrupted = false;
  try {
    await session.show();
    while (!session.over) {
      const { value: key, done } = await keys.next();
      interrupted = key === CTRL_C;
      if (done === true || ENDS.has(key)) break;
      if (key === 't') {
        const note = await readText(keys, options.print, session.note);
        interrupted = note === undefined;
        if (note === undefined) break;
        session.note = note;
      }
      if (key === 'c' && session.takesNumber) {
        // A refused number is asked for again: typed once more, its digits must not count as answers.
        let number: string | undefined;
        do number = await readText(keys, options.print, '', 'the right registration number (Esc goes back)');
        while (number !== undefined && !(await session.correct(number)));
        interrupted = number === undefined;
        if (interrupted) break;
        continue;
      }
      if (key === '') session.warn();
      else await session.press(key);
    }
  } finally {
    await keys.return?.();
  }
  return { ...session.end(), interrupted };
}

/** `q`, Ctrl-C and Ctrl-D. */
const ENDS: ReadonlySet<string> = new Set(['q', CTRL_C, '\u0004']);
const PAGE = 9;

interface Given {
  readonly position: number;
  readonly verdict: Verdict;
  readonly recorded: Recorded;
}

class Session {
  over: boolean;
  readonly #options: SessionOptions;
  readonly #given: Given[] = [];
  /** Notes by question, kept when the user returns to it. */
  readonly #notes = new Map<number, string>();
  #position = 0;
  /** The first candidate on the screen, and their number. */
  #from = 0;
  #shown = 0;
  #page = '';
  #typed = '';
  /** A candidate that looks like another company, until a second key confirms it. */
  #doubtful: Choice | undefined;
  #isWarned = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.over = options.questions.length === 0;
  }

  get note(): string {
    return this.#notes.get(this.#position) ?? '';
  }

  set note(text: string) {
    this.#notes.set(this.#position, text);
  }

  async show(): Promise<void> {
    // Keys pressed before the question was visible are dropped.
    await this.#options.keys.drop();
    this.#isWarned = false;
    this.#print([]);
  }

  /** Says once for each question why a key did nothing. */
  warn(): void {
    if (!this.#isWarned) this.#printBelow(['that key came too soon to be an answer. Wait a moment, then press it']);
    this.#isWarned = true;
  }

  #print(told: readonly string[]): void {
    const { questions, print, screen, wrap } = this.#options;
    const question = questions[this.#position];
    if (question === undefined) {
      if (!this.over) print('\nThat was the last question. u undo · any other key ends ');
      return;
    }
    const most = Math.min(PAGE, question.candidates.length - this.#from);
    const size = screen?.();
    const textOf = (shown: number) => {
      const text = `${this.#textOf(question, shown)}${toldInWords(told)}`;
      return size === undefined || wrap === undefined ? text : `${wrap(text, size.columns).trimEnd()} `;
    };
    this.#shown = size === undefined ? most : fitScreen(most, size, textOf);
    this.#page = textOf(this.#shown);
    print(`\n${this.#page}`);
  }

  #textOf(question: Question, shown: number): string {
    const note = this.note === '' ? '' : `  note: ${this.note}\n`;
    const words = questionInWords(question, this.#from, shown);
    const place = `[${this.#position + 1} of ${this.#options.questions.length}]`;
    return `${place} ${words}${note}  ${this.#keysFor(question, shown)} `;
  }

  #keysFor(question: Question, shown = this.#shown): string {
    return keysInWords(question, this.#from, shown);
  }

  /** True if the question is which company is meant, not whether an answer is accepted. */
  get takesNumber(): boolean {
    return this.#options.questions[this.#position]?.stage === null;
  }

  /** The corrected number. An empty one leaves the question unchanged. False: it was refused. */
  async correct(number: string): Promise<boolean> {
    const question = this.#options.questions[this.#position];
    this.#typed = '';
    this.#doubtful = undefined;
    if (question === undefined || number === '') {
      await this.show();
      return true;
    }
    const { countryCode, input, correctedNumber } = question;
    const problem = correctionProblem(number, countryCode, input, correctedNumber);
    if (problem === undefined) await this.#answer(question, { verdict: 'none_of_these', corrected: number });
    else this.#printBelow([problem]);
    return problem === undefined;
  }

  async press(key: string): Promise<void> {
    const question = this.#options.questions[this.#position];
    const choice = this.#doubtful;
    this.#doubtful = undefined;
    if (question !== undefined && choice !== undefined && key === 'y')
      return await this.#answer(question, { verdict: 'confirm', choice });
    if (question !== undefined && (await this.#typeNumber(question, key))) return;
    const isPending = this.#typed !== '' || choice !== undefined;
    this.#typed = '';
    // The key may be meant for the number alone: undo must not reach an earlier answer.
    if (isPending && question !== undefined && key !== 't') await this.#tell(this.#keysFor(question));
    else if (key === 'u') await this.#undo();
    else if (question === undefined) this.over = true;
    else if (key === 'n') await this.#answer(question, { verdict: 'none_of_these' });
    else if (key === 's') await this.#answer(question, { verdict: 'not_sure' });
    else if (key === 'k' || key === ' ') await this.#skip();
    else if (key === 't') await this.show();
    else if (key === '?') await this.#tell(...helpOn(question), this.#keysFor(question));
    else if (key === 'm' && question.candidates.length > this.#shown) await this.#turnPage(question);
    else if (key.trim() !== '') await this.#tell(this.#keysFor(question));
  }

  end(): Omit<SessionEnd, 'interrupted'> {
    const notSure = this.#given.filter(({ verdict }) => verdict === 'not_sure').length;
    const held = this.#given.filter(({ recorded }) => recorded.kind === 'held').length;
    return {
      decided: this.#given.length - notSure - held,
      held,
      notSure,
      left: this.#options.questions.length - this.#given.length,
      released: this.#given.flatMap(({ recorded }) => recorded.released),
    };
  }

  /**
   * Digits are collected until they can only mean one candidate, or Enter ends them. Returns whether the key belongs to
   * a number.
   */
  async #typeNumber(question: Question, key: string): Promise<boolean> {
    const { print } = this.#options;
    const ends = key === '\r' || key === '\n';
    if (/^\d$/.test(key)) this.#typed += key;
    else if (this.#typed === '') return false;
    else if (key === '\u007f' || key === '\b') {
      this.#typed = this.#typed.slice(0, -1);
      print('\b \b');
      return true;
    } else if (!ends) return false;
    const count = question.candidates.length;
    const means = typedNumber(this.#typed, count);
    if (means === 'not_yet' && !ends && this.#typed.length > 1) print(key);
    else if (means === 'not_yet' && !ends) this.#printBelow([`${key}… (Enter ends the number)`]);
    else await this.#choose(question, means === 'nobody' ? 0 : Number(this.#typed));
    return true;
  }

  /** By its number. A candidate that is not on the screen cannot be confirmed. */
  async #choose(question: Question, number: number): Promise<void> {
    const choice = question.candidates[number - 1];
    const typed = this.#typed;
    this.#typed = '';
    if (choice === undefined) await this.#tell(`there is no candidate ${typed}`, this.#keysFor(question));
    else if (number <= this.#from || number > this.#from + this.#shown)
      await this.#tell(`candidate ${number} is not on the screen. m shows more`);
    else if (seemsAnotherCompany(choice.matchGrade)) {
      this.#doubtful = choice;
      await this.#tell(
        `candidate ${number} looks like another company (${gradeInWords(choice.matchGrade)})`,
        'y confirm it anyway · any other key goes back',
      );
    } else await this.#answer(question, { verdict: 'confirm', choice });
  }

  async #tell(...lines: readonly string[]): Promise<void> {
    await this.#options.keys.drop();
    this.#printBelow(lines);
  }

  /** The question is shown again if it would leave the screen. */
  #printBelow(lines: readonly string[]): void {
    if (this.#leavesScreen(lines)) this.#print(lines);
    else {
      const words = toldInWords(lines);
      this.#page += words;
      this.#options.print(words);
    }
  }

  /** The last words on a question, on lines of their own. */
  #printEnd(words: string): void {
    const { print, screen, wrap = (text) => text } = this.#options;
    print(`\n${wrap(`  ${words}`, screen?.().columns ?? Number.POSITIVE_INFINITY)}\n`);
  }

  #leavesScreen(lines: readonly string[]): boolean {
    const size = this.#options.screen?.();
    return size !== undefined && linesOn(size, `${this.#page}${toldInWords(lines)}`) > size.rows;
  }

  async #answer(question: Question, said: Pick<GivenAnswer, 'verdict' | 'choice' | 'corrected'>): Promise<void> {
    const { review, by, now } = this.#options;
    const recorded = await recordAnswer(review, question, { ...said, by, note: this.note }, now());
    if (recorded.kind === 'said_before') {
      await this.#tell(saidBeforeInWords(by, '--by'), this.#keysFor(question));
      return;
    }
    this.#given.push({ position: this.#position, verdict: said.verdict, recorded });
    this.#printEnd(answerInWords(said, recorded));
    await this.#goTo(this.#position + 1);
  }

  async #undo(): Promise<void> {
    const { review, by, now, groundsOf } = this.#options;
    const last = this.#given.pop();
    if (last === undefined) {
      await this.#tell('there is nothing to undo');
      return;
    }
    await review.withdraw(last.recorded.id, by, now(), groundsOf);
    this.#printEnd('taken back');
    await this.#goTo(last.position);
  }

  async #skip(): Promise<void> {
    this.#printEnd('left for later');
    await this.#goTo(this.#position + 1);
  }

  async #turnPage({ candidates }: Question): Promise<void> {
    this.#from = this.#from + this.#shown < candidates.length ? this.#from + this.#shown : 0;
    await this.show();
  }

  /** After the last question only undo is left, if anything was answered. */
  async #goTo(position: number): Promise<void> {
    this.#position = position;
    this.#from = 0;
    this.#typed = '';
    this.#doubtful = undefined;
    this.over = position >= this.#options.questions.length && this.#given.length === 0;
    await this.show();
  }
}

const toldInWords = (lines: readonly string[]): string => lines.map((line) => `\n  ${line} `).join('');

const helpOn = ({ stage }: Question): readonly string[] => [
  stage === null
    ? 'confirm   the row is this company. The next run buys its data'
    : 'confirm   the bought data counts, although it differs',
  'none      no candidate is right. Nothing is bought for them',
  'not sure  recorded with your name. The question stays open, after the others',
  ...(stage === null ? ['correct   kybatch searches for the number you type, for 1 unit'] : []),
  'skip      nothing is recorded. The question comes again next time',
];

/** Only a candidate on the screen can be confirmed. */
function keysInWords({ candidates, stage }: Question, from: number, shown: number): string {
  const count = candidates.length;
  const answers = [
    ...(shown === 0 ? [] : [shown === 1 ? `${from + 1} confirm` : `${from + 1}-${from + shown} confirm`]),
    'n none of these',
    's not sure',
    ...(stage === null ? ['c correct the number'] : []),
  ];
  const others = ['t note', ...(count > shown ? ['m more'] : []), 'k skip', 'u undo', 'q quit', '? help'];
  return `${answers.join(' · ')}\n  ${others.join(' · ')}`;
}
