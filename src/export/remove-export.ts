import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { readMarker } from './export-marker.js';
import { dissolve } from './leftovers.js';

/** The files of an export that are there; what else lies in its folder is somebody's. */
export const ownFiles = (folder: string): readonly string[] =>
  (readMarker(folder)?.files ?? [])
    .map((file) => join(folder, file))
    .filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile());

/** Removes them, and the folders that are empty then. False if something of others is left in it. */
export function removeExport(folder: string): boolean {
  dissolve(folder, undefined);
  return !existsSync(folder);
}
