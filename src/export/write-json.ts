import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { stringifyExact } from '../util/exact-json-write.js';

/** A new file for its owner only, on disk when this returns. */
export function writeJson(path: string, value: unknown): void {
  const descriptor = openSync(path, 'wx', 0o600);
  writeSync(descriptor, `${stringifyExact(value, 2)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
}
