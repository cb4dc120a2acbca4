import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Where a path leads, links followed, also where nothing is there yet. */
export function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(realPlace(above), basename(path));
  }
}
