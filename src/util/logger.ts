import { closeSync, constants, existsSync, fchmodSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import type { Clock } from './clock.js';
import { makeFolder } from './files.js';
import { redact } from './secret.js';

/** What a log line may hold: numbers, codes and names of our own making. No answers, no names of people, no keys. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** Everything that could be written is in the file when this returns; it says how many lines could not. */
  close(): number;
}

export interface LoggerOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Texts that must never be written, whatever they got into. */
  readonly secrets: readonly string[];
  /** A file that would grow beyond this becomes `<path>.1`, and so on. */
  readonly maxBytes?: number;
}

/** JSON lines in a file for its owner only, a new one from time to time. Nothing here throws or waits: a log must not stop a run. */
export function openLog({ path, clock, secrets, maxBytes }: LoggerOptions): Logger {
  const time = () => new Date(clock.now()).toISOString();
  // pino's own destination tries a full disk again for ever, without letting anything else happen.
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
      // Whoever looks on wants to see trouble now, not when there is more to write.
      sink.flush();
    },
    close: () => sink.close(),
  };
}

/** As pino counts. */
const WARN = 40;

export interface LogSinkOptions {
  readonly path: string;
  readonly clock: Clock;
  /** The line that says how many are missing before it. */
  readonly lostLine: (lines: number) => string;
  /** A file that would grow beyond this becomes `<path>.1`, the one before `.2`, and so on; the oldest goes. */
  readonly maxBytes?: number;
}

/**
 * Lines for a file that must never hold up those who write them. What cannot be written (a full disk, a folder that is
 * not there) is dropped and counted; a while later it is tried again, and the first line then says how many are missing.
 */
export class LogSink {
  readonly #options: LogSinkOptions;
  #descriptor: number | undefined;
  #waiting = '';
  /** Lines that are missing and have not been spoken of in the file. */
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

  /** Tries once more, whenever the last time was. Returns how many lines are missing in all. */
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
    // The lead is there as a whole, or is made anew.
    if (written >= Buffer.byteLength(lead)) this.#unsaid = 0;
    if (written > 0) this.#torn = bytes[written - 1] !== NEWLINE;
    const missing = bytes.subarray(Math.max(written, Buffer.byteLength(lead)));
    this.#drop(linesIn(missing.toString()));
  }

  /** How many bytes are in the file: all of them, or those before it failed. */
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

  /** Where the files cannot be renamed the log just grows: that harms nobody at once. */
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
      this.#descriptor = openSync(path, APPEND, 0o600);
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
      // Some file systems tell only now that the disk is full; those lines are past counting.
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

/** Beside the one that is written. */
const KEPT = 4;

/** Not waiting: a pipe in the place of the log would hold up the run until somebody reads it. */
const APPEND = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY | constants.O_NONBLOCK;
const PAUSE_MS = 1000;
const NEWLINE = 10;

const linesIn = (text: string): number => text.split('\n').length - 1;
