import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { pino } from 'pino';
import type { Clock } from './clock.js';

/** What a log line may hold: numbers, codes and names of our own making. No answers, no names of people, no keys. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface Logger {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  /** Everything is in the file when this returns. */
  close(): void;
}

export interface LoggerOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Texts that must never be written, whatever they got into. */
  readonly secrets: readonly string[];
}

/** JSON lines, appended, in a file for its owner only. */
export function openLog({ path, clock, secrets }: LoggerOptions): Logger {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = pino.destination({ dest: path, append: true, sync: true, minLength: 4096, mode: 0o600 });
  chmodSync(path, 0o600);
  const hidden = secrets.filter((secret) => secret !== '');
  const write = (line: string) =>
    void file.write(hidden.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line));
  const log = pino(
    { base: null, messageKey: 'event', timestamp: () => `,"time":"${new Date(clock.now()).toISOString()}"` },
    { write },
  );
  return {
    info: (event, fields = {}) => log.info(fields, event),
    warn: (event, fields = {}) => log.warn(fields, event),
    close() {
      file.flushSync();
      file.end();
    },
  };
}
