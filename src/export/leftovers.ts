import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive } from '../util/copy-folder.js';
import { readSmallFile } from '../util/small-file.js';
import { readMarker, SUMMARY } from './export-marker.js';

/** In a folder that grows: its own name. A folder of another name is not ours, whatever it is called. */
export const GROWING = '.kybatch-growing';
/** Behind the name of an export that is on its way out. */
export const OLD = '.old';

export const newNameBeside = (name: string): string =>
  `${prefixOf(name)}${process.pid}-${randomBytes(4).toString('hex')}`;

const prefixOf = (name: string) => `.${name}.tmp-`;

/**
 * What killed exports left behind goes; a previous export that was on its way out goes back to its place. A folder that
 * carries neither of our marks is somebody's, and stays.
 */
export function clearLeftovers(parent: string, name: string): void {
  for (const entry of readdirSync(parent)) {
    const processId = madeBy(entry, name);
    if (processId === undefined || (processId !== process.pid && isAlive(processId))) continue;
    const path = join(parent, entry);
    if (!lstatSync(path).isDirectory()) continue;
    const target = join(parent, name);
    if (!entry.endsWith(OLD)) clearGrown(path, entry, processId);
    else if (readMarker(path) === undefined) removeIfEmpty(path);
    else if (existsSync(target)) dissolve(path, target);
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
  else dissolve(path, undefined);
}

/** Removes the files that an export's marker lists. What else is there moves to `into`, as far as its name is free there. */
export function dissolve(folder: string, into: string | undefined): void {
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
