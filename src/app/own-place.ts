import { join, relative, sep } from 'node:path';
import { UsageError } from '../domain/errors.js';
import { OWN_NAMES } from '../ledger/sqlite/owner-only.js';
import { realPlace } from '../util/real-place.js';

/** Nothing is put into the data directory but below its exports, nor over a folder that holds it. Links are followed. */
export function mustNotBeOurs(target: string, dataDir: string): void {
  const [place, own] = [realPlace(target), realPlace(dataDir)];
  const hint = `Name a place outside of the data directory, or one below ${join(dataDir, 'exports')}.`;
  if (isIn(own, place))
    throw new UsageError(`${target} ${own === place ? 'is' : 'holds'} the data directory (${dataDir})`, hint);
  if (!isIn(place, own)) return;
  const [name = '', ...below] = relative(own, place).split(sep);
  if (name.toLowerCase() === 'exports' && below.length > 0) return;
  const why = OWN_NAMES.test(name)
    ? `${join(dataDir, name)} is for what kybatch keeps itself`
    : 'it is in the data directory';
  throw new UsageError(`${target} is not free: ${why}`, hint);
}

/** The same for files that somebody else has written, and kybatch reads. `by`: what names the place. */
export function mustNotBeRead(target: string, files: readonly string[], by = '--out'): void {
  const place = realPlace(target);
  const read = files.find((file) => isIn(place, realPlace(file)));
  if (read !== undefined)
    throw new UsageError(`${target} is not free: kybatch reads ${read}`, `Name another place with ${by}.`);
}

const isIn = (path: string, folder: string): boolean => {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`));
};
