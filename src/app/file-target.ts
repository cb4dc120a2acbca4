import { statSync } from 'node:fs';
import { settingsFiles } from '../config/environment.js';
import { asPlaceError, UsageError } from '../domain/errors.js';
import { realPlace } from '../util/real-place.js';
import { mustNotBeOurs, mustNotBeRead } from './own-place.js';
import { pathIn, type Surroundings } from './surroundings.js';

/**
 * Where a file is to be put that the user has named: the place itself, links followed. A folder, a device, what belongs
 * to the data directory and what kybatch is told to read (`reads`, beside the settings) are refused.
 */
export function fileTarget(
  named: string,
  dataDir: string,
  around: Surroundings,
  reads: readonly string[] = [],
): string {
  if (named.trim() === '') throw new UsageError('--out is empty', 'Name a file; it need not exist.');
  const path = pathIn(around, named);
  mustNotBeOurs(path, dataDir);
  mustNotBeRead(path, [...settingsFiles(around), ...reads]);
  const place = realPlace(path);
  const there = look(place);
  if (there?.isDirectory()) throw new UsageError(`${path} is a folder, not a file`, 'Name a file with --out.');
  if (there?.isFile() === false)
    throw new UsageError(`${path} is not a regular file`, 'Name another file with --out; it need not exist.');
  return place;
}

function look(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw asPlaceError(error, path);
  }
}
