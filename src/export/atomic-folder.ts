import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
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
import { asOpenError, UsageError } from '../domain/errors.js';
import { stringifyExact } from '../util/exact-json.js';
import { makeFolder, readSmallFile } from '../util/files.js';
import { isProcessAlive } from '../util/temp-folder.js';
import { findForeignFile, readMarker, SUMMARY } from './export-folders.js';

/**
 * A folder that appears only when it is complete. It grows beside its place under another name; an export that fails
 * or is killed leaves what was there before as it was. What it replaces is an export of ours: its own files go, whatever
 * else the system left there moves along.
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
      // Tables hold people's data: they are for their owner only, whatever the umask.
      mkdirSync(this.path, { mode: 0o700 });
      writeFileSync(join(this.path, GROWING), basename(this.path), { mode: 0o600 });
    } catch (error) {
      throw asOpenError(error, `the folder ${target}`);
    }
  }

  /** Everything in it is on disk already. The two renames are one moment; a kill between them is mended by the next export. */
  publish(): void {
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
    if (replaces) removeListedFiles(old, this.#target);
  }

  discard(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Whether an export could be put there, found out by beginning one. Nothing is left behind. */
export function checkFolder(target: string): void {
  const firstMade = firstMissing(dirname(target));
  try {
    new AtomicFolder(target).discard();
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
  const stranger = findForeignFile(target);
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

/** In a folder that grows: its own name. A folder of another name is not ours, whatever it is called. */
const GROWING = '.kybatch-growing';

/** Behind the name of an export that is on its way out. */
const OLD = '.old';

const newNameBeside = (name: string): string => `${prefixOf(name)}${process.pid}-${randomBytes(4).toString('hex')}`;

const prefixOf = (name: string) => `.${name}.tmp-`;

/**
 * What killed exports left behind goes; a previous export that was on its way out goes back to its place. A folder that
 * carries neither of our marks is somebody's, and stays.
 */
function clearLeftovers(parent: string, name: string): void {
  for (const entry of readdirSync(parent)) {
    const processId = madeBy(entry, name);
    if (processId === undefined || (processId !== process.pid && isProcessAlive(processId))) continue;
    const path = join(parent, entry);
    if (!lstatSync(path).isDirectory()) continue;
    const target = join(parent, name);
    if (!entry.endsWith(OLD)) clearGrown(path, entry, processId);
    else if (readMarker(path) === undefined) removeIfEmpty(path);
    else if (existsSync(target)) removeListedFiles(path, target);
    else renameSync(path, target);
  }
}

/** The process that a temporary folder beside `name` belongs to. */
function madeBy(entry: string, name: string): number | undefined {
  if (!entry.startsWith(prefixOf(name))) return undefined;
  const made = /^(\d{1,10})-[0-9A-Za-z]{6,8}(?:\.old)?$/.exec(entry.slice(prefixOf(name).length));
  return made === null ? undefined : Number(made[1]);
}

/** Our own process may have another export under way in it. */
function clearGrown(path: string, name: string, processId: number): void {
  if (processId === process.pid) return;
  if (readText(join(path, GROWING)) === name) rmSync(path, { recursive: true, force: true });
  else removeListedFiles(path, undefined);
}

/** Removes the files that an export's marker lists. What else is there moves to `into`, as far as its name is free there. */
function removeListedFiles(folder: string, into: string | undefined): void {
  const files = readMarker(folder)?.files ?? [];
  // The marker goes last: until then the rest can be told again.
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

/** The files of an export that are there; what else lies in its folder is somebody's. */
export const ownFiles = (folder: string): readonly string[] =>
  (readMarker(folder)?.files ?? [])
    .map((file) => join(folder, file))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());

/** Removes them, and the folders that are empty then. False if something of others is left in it. */
export function removeExport(folder: string): boolean {
  removeListedFiles(folder, undefined);
  return !existsSync(folder);
}

/** A new file for its owner only, on disk when this returns. */
export function writeJson(path: string, value: unknown): void {
  const descriptor = openSync(path, 'wx', 0o600);
  writeSync(descriptor, `${stringifyExact(value, 2)}\n`);
  fsyncSync(descriptor);
  closeSync(descriptor);
}
