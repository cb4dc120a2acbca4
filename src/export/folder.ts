import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asPlaceError, UsageError } from '../domain/errors.js';
import { makeFolder } from '../util/make-folder.js';
import { findStranger } from './export-marker.js';
import { clearLeftovers, dissolve, GROWING, newNameBeside, OLD } from './leftovers.js';

/**
 * A folder that appears only when it is complete. It grows beside its place under another name; an export that fails
 * or is killed leaves what was there before as it was. What it replaces is an export of ours: its own files go, whatever
 * else the system left there moves along.
 */
export class GrowingFolder {
  readonly path: string;
  readonly #target: string;

  constructor(target: string) {
    try {
      this.#target = placeOf(target);
      const parent = dirname(this.#target);
      makeFolder(parent);
      clearLeftovers(parent, basename(this.#target));
      mustBeReplaceable(this.#target);
      this.path = join(parent, newNameBeside(basename(this.#target)));
      // Tables hold people's data: they are for their owner only, whatever the umask.
      mkdirSync(this.path, { mode: 0o700 });
      writeFileSync(join(this.path, GROWING), basename(this.path), { mode: 0o600 });
    } catch (error) {
      throw asPlaceError(error, `the folder ${target}`);
    }
  }

  /** Everything in it is on disk already. The two renames are one moment; a kill between them is mended by the next export. */
  appear(): void {
    rmSync(join(this.path, GROWING));
    syncFolder(this.path);
    // Somebody may have put something there since.
    mustBeReplaceable(this.#target);
    const old = `${this.path}${OLD}`;
    const replaces = existsSync(this.#target);
    if (replaces) renameSync(this.#target, old);
    try {
      renameSync(this.path, this.#target);
    } catch (error) {
      if (replaces) renameSync(old, this.#target);
      throw error;
    }
    syncFolder(dirname(this.#target));
    if (replaces) dissolve(old, this.#target);
  }

  abandon(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Whether an export could be put there, found out by beginning one. Nothing is left behind. */
export function checkFolder(target: string): void {
  const firstMade = firstMissing(dirname(target));
  try {
    new GrowingFolder(target).abandon();
  } finally {
    if (firstMade !== undefined) removeEmpty(dirname(target), firstMade);
  }
}

/** A link is followed: what it leads to is replaced, not the link. */
function placeOf(target: string): string {
  if (existsSync(target)) return realpathSync(target);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined)
    throw new UsageError(`${target} is a link that leads nowhere`, 'Name another folder with --out.');
  return target;
}

/** Only an export is replaced: a folder with anything else in it is somebody's. */
function mustBeReplaceable(target: string): void {
  if (!existsSync(target)) return;
  const place = statSync(target);
  if (!place.isDirectory())
    throw new UsageError(`${target} is a file, not a folder`, 'Name a folder with --out; it need not exist.');
  if (place.dev !== statSync(dirname(target)).dev || dirname(target) === target)
    throw new UsageError(
      `${target} is where a file system begins, and an export replaces its folder as a whole`,
      `Name a folder inside of it: --out ${join(target, 'tables')}`,
    );
  accessSync(target, constants.R_OK | constants.W_OK | constants.X_OK);
  const stranger = findStranger(target);
  if (stranger === undefined) return;
  throw new UsageError(
    `${target} holds something that is no export: ${stranger}`,
    'An export replaces its folder as a whole, so nothing was touched. Move that away, or name another folder with --out.',
  );
}

function firstMissing(path: string): string | undefined {
  if (existsSync(path)) return undefined;
  const above = dirname(path);
  return above === path ? path : (firstMissing(above) ?? path);
}

/** The folders from `path` up to `top`, as far as nobody has put anything into them. */
function removeEmpty(path: string, top: string): void {
  try {
    for (let at = path; ; at = dirname(at)) {
      rmdirSync(at);
      if (at === top) return;
    }
  } catch {
    // Not made, or already in use.
  }
}

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
