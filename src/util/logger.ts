import { closeSync, constants, existsSync, fchmodSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import type { Clock } from './clock.js';
import { APPEND, makeFolder } from './files.js';
import { redact } from './secret.js';

/** The fields of a log line: numbers, codes and our own names. No answers, no names of people, no keys. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** Writes everything that can be written and returns the number of lost lines. */
  close(): number;
}

export interface LoggerOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Texts that must never be written. */
  readonly secrets: readonly string[];
  /** A file that would grow beyond this becomes `<path>.1`, and so on. */
  readonly maxBytes?: number;
}

/**
 * Writes JSON lines to a file for its owner only, with rotation. Nothing throws or waits: a log must not stop a run.
 */
export function openLog({ path, clock, secrets, maxBytes }: LoggerOptions): Logger {
  const time = () => new Date(clock.now()).toISOString();
  // pino's own destination retries a full disk forever and blocks everything else.
  const sink = new LogSink({
    path,
    clock,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    lostLine: (lines) => `${JSON.stringify({ level: WARN, time: time(), lines, event: 'lines_lost' })}\n`,
  });
  const hidden = secrets.filter((secret) => secret !== '');
  const write = (line: string) =>
    sink.write(hidden.reduce((text, secret) => text.replaceAll(secret, '[secret]'), redact(line)));
  const log = pino({ base: null, messageKey: 'event', timestamp: () => `,"time":"${time()}"` }, { write });
  return {
    info: (event, fields = {}) => log.info(fields, event),
    warn(event, fields = {}) {
      log.warn(fields, event);
      // Warnings are written at once, for a person who is watching.
      sink.flush();
    },
    close: () => sink.close(),
  };
}

const WARN = 40;

export interface LogSinkOptions {
  readonly path: string;
  readonly clock: Clock;
  /** The line that reports how many lines were lost before it. */
  readonly lostLine: (lines: number) => string;
  /** A file that would grow beyond this becomes `<path>.1`, the previous one `.2`, and so on. The oldest is deleted. */
  readonly maxBytes?: number;
}

/**
 * Writes lines without ever blocking the writer. Lines that cannot be written (a full disk, a missing folder) are
 * dropped and counted. It tries again after a while, and the first line then reports how many were lost.
 */
export class LogSink {
  readonly #options: LogSinkOptions;
  #descriptor: number | undefined;
  #waiting = '';
  /** Lost lines that the file does not report yet. */
  #unsaid = 0;
  #lost = 0;
  /** The file ends in the middle of a line. */
  #torn = false;
  #tryAgainAt = 0;
  #size = 0;

  constructor(options: LogSinkOptions) {
    this.#options = options;
    this.#open();
  }

  write(line: string): void {
    this.#waiting += line;
    if (this.#waiting.length >= FLUSH_AT) this.flush();
  }

  /** Tries once more, whenever the last try was. Returns the number of lost lines. */
  close(): number {
    this.#tryAgainAt = 0;
    this.flush();
    this.#release();
    return this.#lost;
  }

  flush(): void {
    const lines = this.#waiting;
    if (lines === '') return;
    this.#waiting = '';
    if (this.#options.clock.now() < this.#tryAgainAt || !this.#open()) {
      this.#drop(linesIn(lines));
      return;
    }
    const lead = `${this.#torn ? '\n' : ''}${this.#unsaid === 0 ? '' : this.#options.lostLine(this.#unsaid)}`;
    const bytes = Buffer.from(lead + lines);
    if (this.#size > 0 && this.#size + bytes.length > (this.#options.maxBytes ?? MAX_BYTES)) this.#startAnew();
    if (!this.#open()) {
      this.#drop(linesIn(lines));
      return;
    }
    const written = this.#append(bytes);
    // A partly written report of lost lines is written again.
    if (written >= Buffer.byteLength(lead)) this.#unsaid = 0;
    if (written > 0) this.#torn = bytes[written - 1] !== NEWLINE;
    const missing = bytes.subarray(Math.max(written, Buffer.byteLength(lead)));
    this.#drop(linesIn(missing.toString()));
  }

  /** How many bytes were written before a failure, or all. */
  #append(bytes: Buffer): number {
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(this.#descriptor as number, bytes, at);
    } catch {
      this.#release();
      this.#pause();
    }
    this.#size += at;
    return at;
  }

  /** If the files cannot be renamed, the log just grows. */
  #startAnew(): void {
    const { path } = this.#options;
    this.#release();
    try {
      for (let number = KEPT - 1; number >= 0; number--) {
        const from = number === 0 ? path : `${path}.${number}`;
        if (existsSync(from)) renameSync(from, `${path}.${number + 1}`);
      }
    } catch {
      // Tried again with the next lines.
    }
  }

  #open(): boolean {
    if (this.#descriptor !== undefined) return true;
    const { path } = this.#options;
    try {
      makeFolder(dirname(path));
      this.#descriptor = openSync(path, APPEND | constants.O_NONBLOCK, 0o600);
      const kind = fstatSync(this.#descriptor);
      if (kind.isFile()) fchmodSync(this.#descriptor, 0o600);
      this.#size = kind.isFile() ? kind.size : 0;
      return true;
    } catch {
      this.#release();
      this.#pause();
      return false;
    }
  }

  #release(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = undefined;
    try {
      if (descriptor !== undefined) closeSync(descriptor);
    } catch {
      // Some file systems report a full disk only now. Those lines cannot be counted.
    }
  }

  #drop(lines: number): void {
    this.#unsaid += lines;
    this.#lost += lines;
  }

  #pause(): void {
    this.#tryAgainAt = this.#options.clock.now() + PAUSE_MS;
  }
}

const FLUSH_AT = 4096;
const MAX_BYTES = 16 << 20;

/** In addition to the current file. */
const KEPT = 4;

/** Non-blocking: a pipe instead of the log file would stop the run until it is read. */
const PAUSE_MS = 1000;
const NEWLINE = 10;

const linesIn = (text: string): number => text.split('\n').length - 1;
