import { lstatSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { settingsFiles } from '../config/environment.js';
import { asOpenError, UsageError } from '../domain/errors.js';
import { OWN_NAMES } from '../ledger/db/sqlite/connection.js';
import { realPath } from '../util/files.js';
import { type AppEnvironment, pathIn } from './environment.js';

/** Checks an output file. A link is refused, because another user may have put it there to get a file overwritten. */
export function fileTarget(
  named: string,
  dataDir: string,
  environment: AppEnvironment,
  reads: readonly string[] = [],
  by = '--out',
): string {
  if (named.trim() === '') throw new UsageError('OUT_EMPTY', `${by} is empty`, 'Name a file. It need not exist.');
  const path = pathIn(environment, named);
  mustBeOutsideDataDir(path, dataDir);
  mustNotBeAnInput(path, [...settingsFiles(environment), ...reads], by);
  const place = realPath(path);
  if (look(path, lstatSync)?.isSymbolicLink())
    throw new UsageError('OUT_IS_SYMLINK', `${path} is a symbolic link`, `Name the file itself with ${by}: ${place}`);
  const there = look(place, statSync);
  if (there?.isDirectory())
    throw new UsageError('OUT_IS_FOLDER', `${path} is a folder, not a file`, `Name a file with ${by}.`);
  if (there?.isFile() === false)
    throw new UsageError(
      'OUT_NOT_REGULAR',
      `${path} is not a regular file`,
      `Name another file with ${by}. It need not exist.`,
    );
  return place;
}

function look(path: string, stat: typeof statSync) {
  try {
    return stat(path, { throwIfNoEntry: false });
  } catch (error) {
    throw asOpenError(error, path);
  }
}

/** Refuses output in the data directory except below its exports, and over a folder that contains it. */
export function mustBeOutsideDataDir(target: string, dataDir: string): void {
  const [place, own] = [realPath(target), realPath(dataDir)];
  const hint = `Name a place outside the data directory, or below ${join(dataDir, 'exports')}.`;
  if (isIn(own, place))
    throw new UsageError(
      'OUT_HOLDS_DATA',
      `${target} ${own === place ? 'is' : 'contains'} the data directory (${dataDir})`,
      hint,
    );
  if (!isIn(place, own)) return;
  const [name = '', ...below] = relative(own, place).split(sep);
  if (name.toLowerCase() === 'exports' && below.length > 0) return;
  if (OWN_NAMES.test(name))
    throw new UsageError(
      'OUT_NOT_FREE',
      `${target} cannot be used: kybatch keeps its own files in ${join(dataDir, name)}`,
      hint,
    );
  throw new UsageError('OUT_IN_DATA', `${target} cannot be used: it is in the data directory`, hint);
}

/** Refuses to overwrite a file that kybatch reads. `by`: the option that names the place. */
export function mustNotBeAnInput(target: string, files: readonly string[], by = '--out'): void {
  const place = realPath(target);
  const read = files.find((file) => isIn(place, realPath(file)));
  if (read !== undefined)
    throw new UsageError(
      'OUT_IS_INPUT',
      `${target} cannot be used: kybatch reads ${read}`,
      `Name another place with ${by}.`,
    );
}

const isIn = (path: string, folder: string): boolean => {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`));
};
