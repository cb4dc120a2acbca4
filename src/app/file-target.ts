import { lstatSync, statSync } from 'node:fs';
import { settingsFiles } from '../config/environment.js';
import { asPlaceError, UsageError } from '../domain/errors.js';
import { realPlace } from '../util/real-place.js';
import { mustNotBeOurs, mustNotBeRead } from './own-place.js';
import { pathIn, type Surroundings } from './surroundings.js';

/**
 * Where a file is to be put that the user has named. A folder, a device, a link (somebody else may have put it there to
 * have another file overwritten), what belongs to the data directory and what kybatch is told to read (`reads`, beside the
 * settings) are refused. `by`: what names it.
 */
export function fileTarget(
  named: string,
  dataDir: string,
  around: Surroundings,
  reads: readonly string[] = [],
  by = '--out',
): string {
  if (named.trim() === '') throw new UsageError(`${by} is empty`, 'Name a file; it need not exist.');
  const path = pathIn(around, named);
  mustNotBeOurs(path, dataDir);
  mustNotBeRead(path, [...settingsFiles(around), ...reads], by);
  const place = realPlace(path);
  if (look(path, lstatSync)?.isSymbolicLink())
    throw new UsageError(`${path} is a symbolic link`, `Name the file itself with ${by}: ${place}`);
  const there = look(place, statSync);
  if (there?.isDirectory()) throw new UsageError(`${path} is a folder, not a file`, `Name a file with ${by}.`);
  if (there?.isFile() === false)
    throw new UsageError(`${path} is not a regular file`, `Name another file with ${by}; it need not exist.`);
  return place;
}

function look(path: string, stat: typeof statSync) {
  try {
    return stat(path, { throwIfNoEntry: false });
  } catch (error) {
    throw asPlaceError(error, path);
  }
}
