// The stable place of a portfolio's newest tables, and how many older tables stay.

import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { trimEndOf } from '../util/text-limits.js';
import {
  isLeftover,
  isTemporaryCopy,
  newNameBeside,
  removeExport,
  removeOwnFiles,
  type StableLink,
  syncFolder,
} from './atomic-folder.js';
import { findExports, findForeignFile, isWorkbookEdited, readMarker } from './export-folders.js';

/** A portfolio, with the portfolio of every run of the ledger. */
export interface ListOfTables {
  readonly id: number;
  readonly name: string;
  readonly listOfRun: ReadonlyMap<string, number>;
}

/**
 * `exports/latest/<portfolio>`: a link to the folder of the newest tables. It changes by one rename, so it always leads
 * to complete tables.
 */
export class LatestLink implements StableLink {
  constructor(readonly path: string) {}

  get target(): string | undefined {
    return this.#kind === 'link' ? resolve(dirname(this.path), readlinkSync(this.path)) : undefined;
  }

  /** Nothing else may be replaced. */
  get isUsable(): boolean {
    return this.#kind !== 'other';
  }

  get #kind(): 'link' | 'other' | undefined {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    return found && (found.isSymbolicLink() ? 'link' : 'other');
  }

  point(folder: string): void {
    const before = this.target;
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    // Links are resolved from the real place of their folder.
    const to = relative(realpathSync(dirname(this.path)), realpathSync(folder));
    const next = join(dirname(this.path), newNameBeside(basename(this.path)));
    symlinkSync(to, next, 'dir');
    try {
      renameSync(next, this.path);
    } catch (error) {
      rmSync(next, { force: true });
      throw error;
    }
    syncFolder(dirname(this.path));
    if (before !== undefined && isTemporaryCopy(before) && before !== resolve(folder)) removeOwnFiles(before);
  }
}

/** The link of a portfolio. If another portfolio has its name already, the link gets a number. */
export function latestLink(dataDir: string, list: ListOfTables): LatestLink | undefined {
  const place = linksIn(dataDir);
  // From before there were links: a user chose this folder for tables.
  if (readMarker(place) !== undefined) return undefined;
  const name = linkName(list.name);
  const links = [name, `${name}-${list.id}`].map((one) => new LatestLink(join(place, one)));
  const ownerOf = ({ target }: LatestLink) => {
    const run = target === undefined ? undefined : readMarker(target)?.run;
    return run === undefined ? undefined : list.listOfRun.get(run);
  };
  return (
    links.find((link) => ownerOf(link) === list.id) ??
    links.find((link) => link.isUsable && ownerOf(link) === undefined)
  );
}

const linksIn = (dataDir: string): string => join(dataDir, 'exports', 'latest');

export const isForLatest = (folder: string, dataDir: string): boolean => dirname(folder) === linksIn(dataDir);

/** A portfolio without a name of its own has the path of its file. */
function linkName(portfolio: string): string {
  const name = basename(portfolio.replaceAll('\\', '/'))
    .replace(/\.gz$/i, '')
    .replace(/\.(?:csv|tsv|txt|xlsx)$/i, '')
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '');
  return trimEndOf(name, '.-').slice(0, 60) || 'portfolio';
}

/**
 * Removes the older tables of a portfolio beyond a number. A folder stays if the user named it, edited its workbook or
 * put files there.
 */
export function keepNewestTables(dataDir: string, list: ListOfTables, keep: number, latest: string | undefined): void {
  const isOwn = ({ run, folder }: { run: string; folder: string }) =>
    list.listOfRun.get(run) === list.id && folder === join(dataDir, 'exports', run);
  const found = findExports(dataDir).filter(isOwn);
  for (const { folder } of found.toSorted((a, b) => b.at.localeCompare(a.at)).slice(keep))
    if (folder !== latest && !isWorkbookEdited(folder) && findForeignFile(folder) === undefined) removeExport(folder);
}

/** The newest tables of a portfolio, also those in folders that the user named. */
export const newestExports = (dataDir: string, list: ListOfTables): readonly string[] =>
  findExports(dataDir)
    .filter(({ run }) => list.listOfRun.get(run) === list.id)
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, EXPORTS_WITH_PARTS)
    .map(({ folder }) => folder);

/** The newest one lacks parts if an attempt wrote it for another purpose, with other options. */
const EXPORTS_WITH_PARTS = 3;

/** Removes what killed processes left of replaced and removed tables, and links to tables that are gone. */
export function clearExports(dataDir: string): void {
  const links = linksIn(dataDir);
  const isFolderOfLinks = readMarker(links) === undefined;
  const targets = new Set<string>();
  for (const name of isFolderOfLinks ? namesIn(links) : []) {
    const path = join(links, name);
    const { target } = new LatestLink(path);
    if (isLeftover(name)) rmSync(path, { force: true });
    else if (target !== undefined && isThere(target)) targets.add(target);
    else if (target !== undefined) rmSync(path, { force: true });
  }
  for (const name of namesIn(dirname(links))) {
    const path = join(dirname(links), name);
    if (isLeftover(name, ['.now', '.gone']) && !targets.has(path)) removeOwnFiles(path);
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const namesIn = (folder: string): readonly string[] => (isThere(folder) ? readdirSync(folder) : []);
