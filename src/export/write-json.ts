import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

/** A new file, on disk when this returns. */
export function writeJson(path: string, value: unknown): void {
  const descriptor = openSync(path, 'wx');
  writeSync(descriptor, `${JSON.stringify(value, null, 2)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
}
