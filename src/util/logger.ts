import { pino } from 'pino';
import type { Clock } from './clock.js';
import { LogSink } from './log-sink.js';
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
