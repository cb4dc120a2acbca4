import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Bytes that this user can still write where `path` is, or will be; undefined where the system does not say. */
export function freeBytes(path: string): number | undefined {
  try {
    const { bavail, bsize, blocks } = statfsSync(path);
    // Some network and virtual file systems say nothing at all: that is not "full".
    return blocks === 0 ? undefined : bavail * bsize;
  } catch {
    const above = dirname(path);
    return existsSync(path) || above === path ? undefined : freeBytes(above);
  }
}
