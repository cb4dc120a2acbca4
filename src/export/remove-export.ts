import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { DATA_PACKAGE, filesOfExport, SUMMARY } from './folder.js';

/** The files of an export that are there; what else lies in its folder is somebody's. */
export function ownFiles(folder: string): readonly string[] {
  return [...filesOfExport(folder), DATA_PACKAGE, SUMMARY]
    .map((path) => join(folder, path))
    .filter((path) => !relative(folder, path).startsWith('..') && existsSync(path) && lstatSync(path).isFile());
}

/** Removes them, and the folders that are empty then. False if something of others is left in it. */
export function removeExport(folder: string): boolean {
  const files = ownFiles(folder);
  for (const file of files) rmSync(file);
  const inside = new Set(files.map(dirname).filter((path) => path !== folder));
  for (const path of [...inside, folder]) if (readdirSync(path).length === 0) rmdirSync(path);
  return !existsSync(folder);
}
