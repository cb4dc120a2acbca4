import { setImmediate } from 'node:timers/promises';
import type { AppEnvironment } from '../../app/environment.js';
import type { StopSignals } from '../../app/provider/direct-calls.js';
import { ExitCode, KybatchError, UsageError } from '../../domain/errors.js';
import type { Keys } from '../../review/terminal.js';
import type { Clock } from '../../util/clock.js';
import { stringifyExact } from '../../util/exact-json.js';
import { type Message, type MessageCode, message } from '../../util/message-parts.js';
import { escapeControlCharacters, sanitizeText } from '../../util/sanitize-text.js';
import { count, durationInWords, withPlace } from './text.js';
import { coloured, toJson, wrapped } from './view.js';

/** What asks a command to stop: a key, the system, or a terminal that goes away. */
export type Interrupt = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Everything the command line sees of the outside. Tests hand in their own. */
export interface Outside {
  /** What a command was asked for, and nothing else: `kybatch usage > usage.txt` has all of it. */
  readonly stdout: (text: string) => void;
  /** Progress, notes and errors. */
  readonly stderr: (text: string) => void;
  /** What is piped in, to be read once. Absent where a person sits at the terminal. */
  readonly stdin?: (() => AsyncIterable<Uint8Array>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** A person sits at the terminal: questions may be asked, a bar may be drawn. */
  readonly interactive: boolean;
  readonly columns: number;
  /** The streams that a person reads on a screen: lines are wrapped there, and coloured unless NO_COLOR is set. */
  readonly screens?: { readonly stdout: boolean; readonly stderr: boolean } | undefined;
  /** Absent where nobody knows. */
  readonly rows?: number | undefined;
  /** The keys a person presses, one at a time, for as long as they are listened to. Absent without a terminal. */
  readonly keys?: (() => Keys) | undefined;
  /** Puts a question to the person and resolves with the answer; undefined if there was none. Absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string | undefined>) | undefined;
  /** Bytes that can still be written where a path is. Absent: the file system is asked. */
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
  /** Told of each message by its code, beside what is printed. */
  readonly onMessage?: ((message: Message) => void) | undefined;
  /** Calls back on every interrupt; returns the way to stop listening. */
  readonly onInterrupt: (listener: (signal: Interrupt) => void) => () => void;
}

/**
 * The same for a command. What it was asked for goes to `stdout`. On stderr: `stderr` for progress and notes, which
 * --quiet silences; `alert` for what is said all the same: errors, and what a question to a person is about.
 */
export interface Io extends Outside {
  /** Prints messages, each on lines of its own. */
  readonly say: (messages: Message | readonly Message[], to?: 'stdout' | 'stderr' | 'alert') => void;
  /** The codes of all messages so far. */
  readonly said: readonly MessageCode[];
  readonly alert: (text: string) => void;
  /** Progress, with the sequences by which the bar moves the cursor. Nothing from outside is drawn. */
  readonly draw: (text: string) => void;
}

/**
 * A terminal to which nothing is printed that would steer it, and no key: whatever got into a text, and from where.
 * `quiet`: nothing goes to stderr but alerts and questions. `place`: the flag that names the data directory, which what is
 * suggested on stderr is to carry.
 */
export function guarded(outside: Outside, { quiet, place }: { readonly quiet: boolean; readonly place: string }): Io {
  const { stdout, stderr, ask, screens } = outside;
  const alert = (text: string) => stderr(escapeControlCharacters(withPlace(text, place)));
  const hasColours = (outside.env.NO_COLOR ?? '') === '';
  const said: MessageCode[] = [];
  const io: Io = {
    ...outside,
    said,
    say(messages, to = 'stderr') {
      const stream = to === 'stdout' ? 'stdout' : 'stderr';
      const isOnScreen = screens?.[stream] === true;
      let text = '';
      for (const one of [messages].flat()) {
        said.push(one.code);
        outside.onMessage?.(one);
        const plain = escapeControlCharacters(to === 'stdout' ? one.text : withPlace(one.text, place));
        const line = isOnScreen ? wrapped(plain, outside.columns) : plain;
        text += `${isOnScreen && hasColours ? coloured(line, one.state) : line}\n`;
      }
      if (text !== '' && !(quiet && to === 'stderr')) outside[stream](text);
    },
    // A window may be made narrower while the bar is drawn.
    get columns() {
      return outside.columns;
    },
    get rows() {
      return outside.rows;
    },
    stdout: (text) => stdout(escapeControlCharacters(text)),
    stderr: quiet ? () => {} : alert,
    alert,
    draw: quiet ? () => {} : stderr,
    ask: ask && ((question) => ask(escapeControlCharacters(question))),
  };
  return io;
}

/** What a use case sees of a command's surroundings. */
export function appEnvironment(io: Io): AppEnvironment {
  const { env, cwd, clock, freeBytes, stdin } = io;
  const planning = new PlanningDisplay(io);
  return {
    env,
    cwd,
    clock,
    onNote: ({ code, text }) => {
      planning.clear();
      io.say(message(code, `warning: ${sanitizeText(text)}`));
    },
    onReading: (progress) => {
      if (progress === null) planning.clear();
      else planning.rows(progress.rows, progress.share);
    },
    ...(stdin === undefined ? {} : { stdin }),
    ...(freeBytes === undefined ? {} : { freeBytes }),
  };
}

/** What a command was asked for: one JSON object with --json, words without it; on stdout either way. */
export function printResult(
  io: Io,
  { json }: { readonly json: boolean },
  toJson: () => object,
  words: () => Message | readonly Message[],
) {
  if (json) printJson(io, toJson());
  else io.say(words(), 'stdout');
}

/** The same where the words say more than the object: with --json they are a note. */
export function printResultAndWords(
  io: Io,
  { json }: { readonly json: boolean },
  toJson: () => object,
  messages: Message | readonly Message[],
) {
  if (!json) return io.say(messages, 'stdout');
  printJson(io, toJson(), messages);
  io.say(messages);
}

/** One JSON object. It has the codes of all that was said beside it, and of `more`, which is about to be said. */
export function printJson(io: Io, object: object, more: Message | readonly Message[] = []): void {
  const messages = [...io.said, ...[more].flat().map(({ code }) => code)];
  io.stdout(`${stringifyExact(toJson(messages.length === 0 ? object : { ...object, messages }))}\n`);
}

interface Consent {
  /** What would be done. */
  readonly what: string;
  readonly question: string;
  /** What is said where it is not. */
  readonly nothing: Message;
}

/** Before something is done that cannot be undone: `yes` does, else a person is asked, and nobody is taken by surprise. */
export async function confirmAction(
  { what, question, nothing }: Consent,
  yes: boolean,
  io: Pick<Io, 'ask' | 'say'>,
): Promise<boolean> {
  if (yes) return true;
  if (io.ask === undefined)
    throw new UsageError(
      'NOT_CONFIRMED',
      `${what}, and there is no terminal to ask on`,
      `${nothing.text} Add --yes to do it.`,
    );
  if (await askYesNo(question, io.ask)) return true;
  io.say(nothing);
  return false;
}

/** Only a plain yes is one. */
export async function askYesNo(question: string, ask: NonNullable<Io['ask']>): Promise<boolean> {
  const answer = await ask(`${question} [y/N] `);
  return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
}

/** What of a terminal's input is needed. */
export interface KeyInput {
  setRawMode(on: boolean): unknown;
  setEncoding(encoding: 'utf8'): unknown;
  on(event: 'data', listener: (text: string) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  off(event: 'data', listener: (text: string) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
  pause(): unknown;
}

/** Keys from the terminal, unechoed and without waiting for Enter. The terminal is as before when listening ends. */
export function readKeys(input: KeyInput = process.stdin): Keys {
  let pressed: string[] = [];
  let ended = false;
  let wake = () => {};
  const take = (text: string) => {
    // An arrow or function key comes as one sequence; pasted text comes as many keys.
    pressed.push(...(text.startsWith('\u001b') ? [text] : text));
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  input.setRawMode(true);
  input.setEncoding('utf8');
  input.on('data', take);
  input.on('end', end);
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        while (pressed.length === 0 && !ended)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const key = pressed.shift();
        return key === undefined ? { done: true, value: undefined } : { done: false, value: key };
      },
      async return() {
        input.off('data', take);
        input.off('end', end);
        input.setRawMode(false);
        input.pause();
        return { done: true, value: undefined };
      },
    }),
    async drop() {
      // What the terminal holds comes when it is looked at, which is once in a turn, between one such wait and the next.
      do {
        pressed = pressed.filter(isInterrupt);
        await setImmediate();
        await setImmediate();
      } while (!pressed.every(isInterrupt) && !ended);
    },
  };
}

/** Whoever wants to leave means it whatever is on the screen. */
const isInterrupt = (key: string): boolean => key === '\u0003';

/** The first interrupt drains, the second stops at once. */
export class InterruptListener {
  readonly #drain = new AbortController();
  readonly #abort = new AbortController();
  readonly drain: AbortSignal = this.#drain.signal;
  readonly abort: AbortSignal = this.#abort.signal;
  #first: Interrupt | undefined;
  #stop: () => void = () => {};

  /** The exit code of what came first, if anything did. */
  get exitCode(): ExitCode | undefined {
    return this.#first && exitCodeOfInterrupt(this.#first);
  }

  /** From when on there is something to drain. Before that an interrupt just ends the process. */
  start(io: Io): void {
    this.#stop = io.onInterrupt((signal) => {
      if (this.#first === undefined)
        io.say(
          message('STOPPING', '\nStopping: calls under way are waited for and written down. Once more stops at once.'),
        );
      else this.#abort.abort(new Error('interrupted'));
      this.#first ??= signal;
      this.#drain.abort(new Error('interrupted'));
    });
  }

  stop(): void {
    this.#stop();
  }
}

/** As a shell reports a command that a signal ended. */
export const exitCodeOfInterrupt = (signal: Interrupt): ExitCode => INTERRUPT_CODES[signal];

const INTERRUPT_CODES: Readonly<Record<Interrupt, ExitCode>> = {
  SIGHUP: ExitCode.hungUp,
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
};

/**
 * The first interrupt lets calls under way come home, the second does not. Whatever work ends with after either of them, it
 * was stopped: that is said, and its exit code is that of the interrupt.
 */
export async function untilDrained(
  io: Io,
  stopped: Message,
  work: (stoppable: Required<StopSignals>) => Promise<ExitCode>,
): Promise<ExitCode> {
  const interrupts = new InterruptListener();
  interrupts.start(io);
  try {
    return await work({ drain: interrupts.drain, abort: interrupts.abort });
  } catch (error) {
    const wasAsked = error instanceof KybatchError || error === interrupts.abort.reason;
    if (interrupts.exitCode === undefined || !wasAsked) throw error;
    io.say(stopped, 'alert');
    return interrupts.exitCode;
  } finally {
    interrupts.stop();
  }
}

/** Tells how far a long file has been read. */
export class PlanningDisplay {
  readonly #line: TransientLine;

  constructor(io: Io) {
    this.#line = new TransientLine(io);
  }

  /** `shareDone`: of the file, from 0 to 1; null where nobody knows how much is to come. */
  rows(read: number, shareDone: number | null): void {
    this.#line.tell((ms) => planningInWords(read, shareDone, ms));
  }

  /** Takes its line away again: what comes next begins where it began. Another reading begins anew. */
  clear(): void {
    this.#line.clear();
  }
}

/** "Planning: 120,000 rows read, 43%, about 20 s to go" */
function planningInWords(read: number, shareDone: number | null, ms: number): string {
  const share = shareDone === null ? null : Math.min(1, Math.max(0, shareDone));
  const toGo = share === null || share === 0 || share === 1 ? null : (ms * (1 - share)) / share;
  return [
    `Planning: ${count(read, 'row')} read`,
    ...(share === null ? [] : [`${Math.floor(share * 100)}%`]),
    ...(toGo === null ? [] : [`about ${durationInWords(toGo)} to go`]),
  ].join(', ');
}

/** Looks of people at a terminal, and lines for those who read them later. */
const EVERY_MS = { terminal: 250, plain: 30_000 } as const;

/** What is done sooner needs no word. */
const SILENT_MS = { terminal: 500, plain: 10_000 } as const;

/**
 * Tells how far something has come: a line that is drawn again on a terminal, a plain line now and then without one. It is
 * driven by what is done, not by a timer: hard work leaves a timer little time to fire.
 */
export class TransientLine {
  readonly #io: Io;
  /** When what is under way began. */
  #startedAt: number | undefined;
  #nextAt: number;
  #drawn = false;

  constructor(io: Io) {
    this.#io = io;
    this.#nextAt = io.clock.now() + SILENT_MS[this.#kind];
  }

  /** `words` are asked for where they are shown, with how long it has taken so far. */
  tell(words: (ms: number) => string): void {
    const now = this.#io.clock.now();
    this.#startedAt ??= now;
    if (now < this.#nextAt) return;
    this.#nextAt = now + EVERY_MS[this.#kind];
    const line = words(now - this.#startedAt);
    this.#drawn = this.#io.interactive;
    if (!this.#io.interactive) this.#io.stderr(`${line}\n`);
    else this.#io.draw(`\r${line.slice(0, Math.max(0, this.#io.columns - 1))}${TO_END_OF_LINE}`);
  }

  /** Takes the line away again: what comes next begins where it began. */
  clear(): void {
    if (this.#drawn) this.#io.draw(`\r${TO_END_OF_LINE}`);
    this.#drawn = false;
    this.#startedAt = undefined;
  }

  get #kind(): keyof typeof EVERY_MS {
    return this.#io.interactive ? 'terminal' : 'plain';
  }
}

/** What is behind the cursor goes. */
const TO_END_OF_LINE = '\u001b[K';
