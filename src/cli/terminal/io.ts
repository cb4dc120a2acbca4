import { setImmediate } from 'node:timers/promises';
import type { AppEnvironment } from '../../app/environment.js';
import type { StopSignals } from '../../app/provider/direct-calls.js';
import { ExitCode, KybatchError, UsageError } from '../../domain/errors.js';
import type { Keys } from '../../review/terminal.js';
import type { Clock } from '../../util/clock.js';
import { stringifyExact } from '../../util/exact-json.js';
import { type Message, type MessageCode, message } from '../../util/message-parts.js';
import { escapeControlCharacters, sanitizeText } from '../../util/sanitize-text.js';
import { toJson } from '../../util/view-json.js';
import { count, durationInWords, listed } from '../../util/words.js';
import { asCalled, withPlace, withRelativePaths } from './text.js';
import { COLUMNS, laidOut, wrapped } from './view.js';

/** The signals that ask a command to stop: a key, the system, or a closed terminal. */
export type Interrupt = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** The command line's environment. Tests hand in their own. */
export interface Outside {
  /** The result of a command and nothing else, so that `kybatch usage > usage.txt` is complete. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** Piped input, which can be read once. Absent on a terminal. */
  readonly stdin?: (() => AsyncIterable<Uint8Array>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** A person uses a terminal: kybatch may ask questions and draw a bar. */
  readonly interactive: boolean;
  readonly columns: number;
  /** The columns of a stream that is no screen. Default: 80. */
  readonly pipeColumns?: number | undefined;
  /** The streams that are screens. Lines are coloured there, unless NO_COLOR is set. */
  readonly screens?: { readonly stdout: boolean; readonly stderr: boolean } | undefined;
  /** Absent if unknown. */
  readonly rows?: number | undefined;
  /** Pressed keys, one at a time, while a command listens. Absent without a terminal. */
  readonly keys?: (() => Keys) | undefined;
  /** Asks the person a question. Undefined: no answer. Absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string | undefined>) | undefined;
  /** The free bytes of the disk that a path is on. Absent: the file system is asked. */
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
  readonly onMessage?: ((message: Message) => void) | undefined;
  /** Calls the listener on every interrupt. Returns a function that removes it. */
  readonly onInterrupt: (listener: (signal: Interrupt) => void) => () => void;
}

/**
 * The environment of one command. Its result goes to `stdout`, or to `result`, which is stdout too and silent with --quiet. Progress and notes go to `stderr`, which --quiet silences.
 * Errors and the context of questions go to `alert`, which is stderr too and never silent.
 */
export interface Io extends Outside {
  readonly json: boolean;
  readonly say: (messages: Message | readonly Message[], to?: 'stdout' | 'result' | 'stderr' | 'alert') => void;
  readonly said: readonly MessageCode[];
  readonly alert: (text: string) => void;
  /** Progress, with the sequences that move the cursor. It never contains text from files or the provider. */
  readonly draw: (text: string) => void;
}

interface GuardOptions {
  readonly quiet: boolean;
  readonly plain: boolean;
  readonly json: boolean;
  /** The flag of the data directory, which is added to suggested commands. */
  readonly place: string;
}

/**
 * Escapes control characters in everything that is printed, so that no text can steer the terminal. `quiet`: only alerts and
 * questions go to stderr.
 */
export function guarded(outside: Outside, { quiet, plain, json, place }: GuardOptions): Io {
  const { stdout, stderr, ask, screens, pipeColumns = COLUMNS } = outside;
  // Commands are pasted as they are printed: after `npx` or `npm run demo` only npm knows where kybatch is.
  const isWithNpm = outside.env.npm_command === 'exec' || outside.env.npm_lifecycle_event === 'demo';
  const program = isWithNpm ? 'npx kybatch' : 'kybatch';
  const alert = (text: string) => stderr(escapeControlCharacters(asCalled(withPlace(text, place), program)));
  const hasColours = !plain && (outside.env.NO_COLOR ?? '') === '' && outside.env.TERM !== 'dumb';
  const said: MessageCode[] = [];
  const io: Io = {
    ...outside,
    json,
    said,
    say(messages, to = 'stderr') {
      const isResult = to === 'stdout' || to === 'result';
      const stream = isResult ? 'stdout' : 'stderr';
      const isOnScreen = screens?.[stream] === true;
      let text = '';
      for (const one of [messages].flat()) {
        said.push(one.code);
        const placed = withPlace(one.text, place);
        outside.onMessage?.({ ...one, text: placed });
        const plain = escapeControlCharacters(withRelativePaths(asCalled(placed, program), outside.cwd));
        const columns = isOnScreen ? outside.columns : ONE_LINE.has(one.code) ? Number.POSITIVE_INFINITY : pipeColumns;
        text += `${laidOut(plain, columns, isOnScreen && hasColours ? one.state : undefined)}\n`;
      }
      if (text !== '' && !(quiet && (to === 'stderr' || to === 'result'))) outside[stream](text);
    },
    // The user may resize the window while the bar is drawn.
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

/** Programs read these lines whole: monitors, and scripts that search a log. */
const ONE_LINE: ReadonlySet<MessageCode> = new Set(['CHECK_WELL', 'CHECK_NOT_WELL', 'RUN_SUMMARY']);

/** The environment that a use case of `app/` gets. */
export function appEnvironment(io: Io): AppEnvironment {
  const { env, cwd, clock, freeBytes, stdin } = io;
  const planning = new TransientLine(io);
  return {
    env,
    cwd,
    clock,
    onNote: ({ code, text, flags }) => {
      planning.clear();
      io.say(message(code, `warning: ${sanitizeText(flags === undefined ? text : `${text} ${flags}`)}`));
    },
    onReading: (progress) => {
      if (progress === null) planning.clear();
      else planning.tell((ms) => planningInWords(progress.rows, progress.share, ms));
    },
    ...(stdin === undefined ? {} : { stdin }),
    ...(freeBytes === undefined ? {} : { freeBytes }),
  };
}

/** Prints the result on stdout: one JSON object with --json, else words. */
export function printResult(io: Io, json: object, words: Message | readonly Message[]) {
  if (io.json) printJson(io, json);
  else io.say(words, 'stdout');
}

/** Like `printResult`. With --json it also prints the words, on stderr, because they say more than the object. */
export function printResultAndWords(io: Io, json: object, words: Message | readonly Message[]) {
  if (io.json) printJson(io, json, words);
  io.say(words, io.json ? 'stderr' : 'stdout');
}

/** Prints one JSON object, with the codes of all messages so far and of `more`, which is printed next. */
export function printJson(io: Io, object: object, more: Message | readonly Message[] = []): void {
  const messages = [...io.said, ...[more].flat().map(({ code }) => code)];
  io.stdout(`${stringifyExact(toJson(messages.length === 0 ? object : { ...object, messages }))}\n`);
}

interface Consent {
  readonly what: string;
  readonly question: string;
  readonly nothing: Message;
}

/** Asks before an action that cannot be undone, unless `yes` is set. Without a terminal it throws. */
export async function confirmAction(
  { what, question, nothing }: Consent,
  yes: boolean,
  io: Pick<Io, 'ask' | 'say'>,
): Promise<boolean> {
  if (yes) return true;
  if (io.ask === undefined)
    throw new UsageError(
      'NOT_CONFIRMED',
      `${what}, and there is no terminal to confirm it`,
      `${nothing.text} To do it without asking, add --yes.`,
    );
  if (await askYesNo(question, io.ask)) return true;
  io.say(nothing);
  return false;
}

export async function askYesNo(question: string, ask: NonNullable<Io['ask']>): Promise<boolean> {
  const answer = await ask(`${wrapped(`${question} [y/N]`, COLUMNS)} `);
  return /^\s*y(?:es)?\s*$/i.test(answer ?? '');
}

export interface KeyInput {
  setRawMode(on: boolean): unknown;
  setEncoding(encoding: 'utf8'): unknown;
  on(event: 'data', listener: (text: string) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  off(event: 'data', listener: (text: string) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
  pause(): unknown;
}

/** Longer than between the keys of typed text, and before a held key repeats. Shorter than it takes to read a question. */
const PAUSE_MS = 700;

/** Keys from the terminal, without echo and without Enter. The terminal is restored when listening ends. */
export function readKeys(input: KeyInput = process.stdin, now: () => number = () => performance.now()): Keys {
  let pressed: string[] = [];
  /** When the last key was dropped. Undefined: a key has counted since. */
  let droppedAt: number | undefined;
  let ended = false;
  let wake = () => {};
  const take = (text: string) => {
    // An arrow or function key comes as one sequence; pasted text comes as many keys.
    const keys = text.startsWith('\u001b') ? [text] : [...text];
    const isSoon = droppedAt !== undefined && now() - droppedAt < PAUSE_MS;
    droppedAt = isSoon ? now() : undefined;
    pressed.push(...(isSoon ? [...keys.filter(isInterrupt), ''] : keys));
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
      // Node reads the terminal's buffer once in a turn of the event loop, so this waits for whole turns.
      do {
        pressed = pressed.filter(isInterrupt);
        await setImmediate();
        await setImmediate();
      } while (!pressed.every(isInterrupt) && !ended);
      droppedAt = now();
    },
  };
}

/** Ctrl-C counts whatever the screen shows, so `drop` keeps it. */
const isInterrupt = (key: string): boolean => key === '\u0003';

/** The first interrupt drains, the second stops at once. */
export class InterruptListener {
  readonly #drain = new AbortController();
  readonly #abort = new AbortController();
  readonly drain: AbortSignal = this.#drain.signal;
  readonly abort: AbortSignal = this.#abort.signal;
  #first: Interrupt | undefined;
  #stop: () => void = () => {};

  get exitCode(): ExitCode | undefined {
    return this.#first && INTERRUPT_CODES[this.#first];
  }

  /** Called when there are calls to drain. Before that an interrupt ends the process. */
  start(io: Io): void {
    this.#stop = io.onInterrupt((signal) => {
      if (this.#first === undefined)
        io.say(message('STOPPING', '\nStopping: kybatch waits for calls in flight. Interrupt again to stop at once.'));
      else this.#abort.abort(new Error('interrupted'));
      this.#first ??= signal;
      this.#drain.abort(new Error('interrupted'));
    });
  }

  stop(): void {
    this.#stop();
  }
}

const INTERRUPT_CODES: Readonly<Record<Interrupt, ExitCode>> = {
  SIGHUP: ExitCode.hungUp,
  SIGINT: ExitCode.interrupted,
  SIGTERM: ExitCode.terminated,
};

/** Work that an interrupt ends at once, with a message and the exit code of the signal. */
export async function untilInterrupted(
  io: Io,
  stopped: Message,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<ExitCode> {
  const abort = new AbortController();
  let exit: ExitCode = ExitCode.ok;
  const stopListening = io.onInterrupt((signal) => {
    exit = INTERRUPT_CODES[signal];
    abort.abort(new Error('interrupted'));
  });
  try {
    await work(abort.signal);
    return ExitCode.ok;
  } catch (error) {
    if (!abort.signal.aborted || error !== abort.signal.reason) throw error;
    io.say(stopped, 'alert');
    return exit;
  } finally {
    stopListening();
  }
}

/**
 * On the first interrupt it waits for running calls, on the second it does not. After an interrupt the exit code is that of
 * the signal, however the work ends.
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

/** "Planning: 120,000 rows read, 43%, about 20 s to go" */
function planningInWords(read: number, shareDone: number | null, ms: number): string {
  const share = shareDone === null ? null : Math.min(1, Math.max(0, shareDone));
  const toGo = share === null || share === 0 || share === 1 ? null : (ms * (1 - share)) / share;
  return listed([
    `Planning: ${count(read, 'row')} read`,
    share !== null && `${Math.floor(share * 100)}%`,
    toGo !== null && `about ${durationInWords(toGo)} to go`,
  ]);
}

/** A terminal redraws the line. A log gets a new line now and then. */
export const EVERY_MS = { terminal: 250, plain: 30_000 } as const;

/** Shorter work shows no line. */
const SILENT_MS = { terminal: 500, plain: 10_000 } as const;

/**
 * Shows progress: a line that is redrawn on a terminal, else a plain line now and then. The work itself drives it, because
 * a timer fires late while the process is busy.
 */
export class TransientLine {
  readonly #io: Io;
  #startedAt: number | undefined;
  #nextAt: number;
  #drawn = false;

  constructor(io: Io) {
    this.#io = io;
    this.#nextAt = io.clock.now() + SILENT_MS[this.#kind];
  }

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

  /** Removes the line, so that the next output starts in its place. */
  clear(): void {
    if (this.#drawn) this.#io.draw(`\r${TO_END_OF_LINE}`);
    this.#drawn = false;
    this.#startedAt = undefined;
  }

  get #kind(): keyof typeof EVERY_MS {
    return this.#io.interactive ? 'terminal' : 'plain';
  }
}

export const TO_END_OF_LINE = '\u001b[K';
