import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asOpenError, asWriteError, UsageError } from '../domain/errors.js';
import { stringifyExact } from '../util/exact-json.js';
import { isProcessAlive, makeFolder, readSmallFile } from '../util/files.js';
import { findForeignFile, readMarker, SUMMARY } from './export-folders.js';

/**
 * A folder that appears only when it is complete. It is written beside its place under another name, so a failed or
 * killed export leaves the previous one intact. It only replaces an export of kybatch: its files are removed, and
 * foreign files move along.
 */
export class AtomicFolder {
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
      // Tables hold personal data, so only their owner may read them, whatever the umask.
      mkdirSync(this.path, { mode: 0o700 });
      writeFileSync(join(this.path, GROWING), basename(this.path), { mode: 0o600 });
    } catch (error) {
      throw asOpenError(error, `the folder ${target}`);
    }
  }

  /** All files are on disk already. The next export repairs a kill between the two renames. */
  publish(link?: StableLink): void {
    rmSync(join(this.path, GROWING));
    syncFolder(this.path);
    // A file may have been put there since.
    mustBeReplaceable(this.#target);
    const old = `${this.path}${OLD}`;
    const replaces = existsSync(this.#target);
    if (replaces && link !== undefined && leadsTo(link, this.#target)) pointToStandIn(link, this.path);
    if (replaces) renameSync(this.#target, old);
    try {
      renameSync(this.path, this.#target);
    } catch (error) {
      if (replaces) renameSync(old, this.#target);
      throw error;
    }
    syncFolder(dirname(this.#target));
    if (replaces) removeListedFiles(old, this.#target);
  }

  discard(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Fills a folder, which takes the place of `target` when it is complete. */
export async function writeFolder<T>(
  target: string,
  link: StableLink | undefined,
  fill: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = new AtomicFolder(target);
  try {
    const filled = await fill(folder.path);
    folder.publish(link);
    return filled;
  } catch (error) {
    folder.discard();
    throw asWriteError(error, target);
  }
}

/** A link to the newest tables. `target` is undefined if there is none. */
export interface StableLink {
  readonly target: string | undefined;
  point(folder: string): void;
}

const leadsTo = ({ target }: StableLink, folder: string): boolean =>
  target !== undefined && existsSync(target) && realpathSync(target) === realpathSync(folder);

/**
 * While a folder is replaced, its place is empty for a moment. Until then a link leads to a second folder with the same
 * files. If the disk has no hard links, readers of the link meet that moment.
 */
function pointToStandIn(link: StableLink, folder: string): void {
  const standIn = `${folder}${STAND_IN}`;
  try {
    linkFiles(folder, standIn);
    link.point(standIn);
  } catch {
    rmSync(standIn, { recursive: true, force: true });
  }
}

function linkFiles(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFiles(source, target);
    else linkSync(source, target);
  }
}

export const isTemporaryCopy = (folder: string): boolean => folder.endsWith(STAND_IN);

/** Checks that an export can be put there by beginning one. Nothing is left behind. */
export function checkFolder(target: string): void {
  const firstMade = firstMissing(dirname(target));
  try {
    new AtomicFolder(target).discard();
  } finally {
    if (firstMade !== undefined) removeEmpty(dirname(target), firstMade);
  }
}

/** A link is followed: its target is replaced, not the link. */
function placeOf(target: string): string {
  if (existsSync(target)) return realpathSync(target);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined)
    throw new UsageError('OUT_IS_SYMLINK', `${target} is a broken link`, 'Name another folder with --out.');
  return target;
}

/** Only an export is replaced: a folder with foreign files belongs to the user. */
function mustBeReplaceable(target: string): void {
  if (!existsSync(target)) return;
  const place = statSync(target);
  if (!place.isDirectory())
    throw new UsageError(
      'OUT_IS_FILE',
      `${target} is a file, not a folder`,
      'Name a folder with --out. It need not exist.',
    );
  if (place.dev !== statSync(dirname(target)).dev || dirname(target) === target)
    throw new UsageError(
      'OUT_IS_MOUNT',
      `${target} is the root of a file system, and an export replaces its whole folder`,
      `Name a folder inside of it: --out ${join(target, 'tables')}`,
    );
  accessSync(target, constants.R_OK | constants.W_OK | constants.X_OK);
  const stranger = findForeignFile(target);
  if (stranger === undefined) return;
  throw new UsageError(
    'OUT_NOT_FREE',
    `${target} contains files that are not from an export: ${stranger}`,
    'An export replaces its whole folder. Nothing was changed. Move the files away, or name another folder with --out.',
  );
}

function firstMissing(path: string): string | undefined {
  if (existsSync(path)) return undefined;
  const above = dirname(path);
  return above === path ? path : (firstMissing(above) ?? path);
}

/** Removes the folders from `path` up to `top` that are still empty. */
function removeEmpty(path: string, top: string): void {
  try {
    for (let at = path; ; at = dirname(at)) {
      rmdirSync(at);
      if (at === top) return;
    }
  } catch {}
}

export function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** A growing folder contains its own name. A folder without it is not ours, whatever its name. */
const GROWING = '.kybatch-growing';

const OLD = '.old';

const STAND_IN = '.now';

const GONE = '.gone';

/** The exports that any process writes beside their place now. */
export function growingBeside(target: string): readonly string[] {
  const parent = dirname(target);
  if (!existsSync(parent)) return [];
  return readdirSync(parent)
    .filter(
      (entry) => madeBy(entry, basename(target)) !== undefined && readText(join(parent, entry, GROWING)) === entry,
    )
    .map((entry) => join(parent, entry));
}

/** Whether a killed process left this entry behind. */
export function isLeftover(entry: string, suffixes: readonly string[] = ['']): boolean {
  const [, pid, suffix] = /^\..+\.tmp-(\d{1,10})-[0-9a-f]{8}(\.[a-z]+)?$/.exec(entry) ?? [];
  return pid !== undefined && suffixes.includes(suffix ?? '') && !isOtherAlive(Number(pid));
}

const isOtherAlive = (processId: number): boolean => processId !== process.pid && isProcessAlive(processId);

export const newNameBeside = (name: string): string =>
  `${prefixOf(name)}${process.pid}-${randomBytes(4).toString('hex')}`;

const prefixOf = (name: string) => `.${name}.tmp-`;

/**
 * Removes what killed exports left behind, and restores an export that was being replaced. A folder without our marks
 * belongs to the user and stays.
 */
function clearLeftovers(parent: string, name: string): void {
  for (const entry of readdirSync(parent)) {
    const processId = madeBy(entry, name);
    if (processId === undefined || isOtherAlive(processId)) continue;
    const path = join(parent, entry);
    if (!lstatSync(path).isDirectory()) continue;
    const target = join(parent, name);
    if (!entry.endsWith(OLD)) clearGrown(path, entry, processId);
    else if (readMarker(path) === undefined) removeIfEmpty(path);
    else if (existsSync(target)) removeListedFiles(path, target);
    else renameSync(path, target);
  }
}

/** The process that made a temporary folder beside `name`. */
function madeBy(entry: string, name: string): number | undefined {
  if (!entry.startsWith(prefixOf(name))) return undefined;
  const made = /^(\d{1,10})-[0-9A-Za-z]{6,8}(?:\.old)?$/.exec(entry.slice(prefixOf(name).length));
  return made === null ? undefined : Number(made[1]);
}

/** This process may be writing another export into it. */
function clearGrown(path: string, name: string, processId: number): void {
  if (processId === process.pid) return;
  if (readText(join(path, GROWING)) === name) rmSync(path, { recursive: true, force: true });
  else removeListedFiles(path, undefined);
}

/** Removes the files that an export's marker lists. Foreign files move to `into` if their names are free there. */
function removeListedFiles(folder: string, into: string | undefined): void {
  const files = readMarker(folder)?.files ?? [];
  // The marker goes last: until then the other files can be recognized.
  for (const file of files) if (file !== SUMMARY) removeFile(folder, file);
  for (const file of files) removeEmptyFolders(folder, dirname(file));
  if (into !== undefined) moveRest(folder, into, files.length === 0 ? [] : [SUMMARY]);
  if (files.length > 0) removeFile(folder, SUMMARY);
  removeIfEmpty(folder);
}

function removeFile(folder: string, file: string): void {
  const path = join(folder, file);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) rmSync(path);
}

function removeEmptyFolders(folder: string, below: string): void {
  for (let at = below; at !== '.'; at = dirname(at)) if (!removeIfEmpty(join(folder, at))) return;
}

function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function moveRest(from: string, into: string, except: readonly string[]): void {
  for (const name of readdirSync(from)) {
    if (except.includes(name)) continue;
    const [source, target] = [join(from, name), join(into, name)];
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (there === undefined) {
      renameSync(source, target);
    } else if (there.isDirectory() && lstatSync(source).isDirectory()) {
      moveRest(source, target, []);
      removeIfEmpty(source);
    }
  }
}

function readText(path: string): string | undefined {
  try {
    return readSmallFile(path);
  } catch {
    return undefined;
  }
}

/** The existing files of an export. Other files in its folder belong to the user. */
export const ownFiles = (folder: string): readonly string[] =>
  (readMarker(folder)?.files ?? [])
    .map((file) => join(folder, file))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());

export const removeOwnFiles = (folder: string): void => removeListedFiles(folder, undefined);

/** Removes an export. It disappears as a whole, unless foreign files are there: they stay, and this returns false. */
export function removeExport(folder: string): boolean {
  const isOurs = findForeignFile(folder) === undefined;
  const going = isOurs ? join(dirname(folder), `${newNameBeside(basename(folder))}${GONE}`) : folder;
  if (isOurs) renameSync(folder, going);
  removeOwnFiles(going);
  if (isOurs && existsSync(going)) renameSync(going, folder);
  return !existsSync(folder);
}

/** Writes a new file for its owner only, on disk when this returns. */
export function writeJson(path: string, value: unknown): void {
  const descriptor = openSync(path, 'wx', 0o600);
  writeSync(descriptor, `${stringifyExact(value, 2)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
}
