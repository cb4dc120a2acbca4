// The stable place of a portfolio's newest tables, and how many older tables stay.

import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { readSmallFile } from '../util/files.js';
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
 * to complete tables. If the disk has no links, a text file with the path of the folder takes its place.
 */
export class LatestLink implements StableLink {
  constructor(private readonly link: string) {}

  get #pointer(): string {
    return `${this.link}.txt`;
  }

  get path(): string {
    return isThere(this.link) ? this.link : this.#pointer;
  }

  get target(): string | undefined {
    const to = textOf(() => readlinkSync(this.link)) ?? textOf(() => readSmallFile(this.#pointer).trim());
    return to === undefined ? undefined : resolve(dirname(this.link), to);
  }

  /** Nothing else may be replaced. */
  get isUsable(): boolean {
    return lstatSync(this.link, { throwIfNoEntry: false })?.isSymbolicLink() !== false;
  }

  point(folder: string): void {
    const before = this.target;
    mkdirSync(dirname(this.link), { recursive: true, mode: 0o700 });
    // Links are resolved from the real place of their folder.
    const to = relative(realpathSync(dirname(this.link)), realpathSync(folder));
    const next = join(dirname(this.link), newNameBeside(basename(this.link)));
    try {
      symlinkSync(to, next, 'dir');
      renameSync(next, this.link);
      rmSync(this.#pointer, { force: true });
    } catch (error) {
      rmSync(next, { force: true });
      if (!NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      writeText(next, `${to}\n`);
      renameSync(next, this.#pointer);
    }
    syncFolder(dirname(this.link));
    if (before !== undefined && isTemporaryCopy(before) && before !== resolve(folder)) removeOwnFiles(before);
  }
}

/** File systems without links, and Windows without the right to make them. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

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
    const link = new LatestLink(path.replace(/\.txt$/, ''));
    if (isLeftover(name)) rmSync(path, { force: true });
    else if (link.target !== undefined && isThere(link.target)) targets.add(link.target);
    else if (link.target !== undefined) rmSync(link.path, { force: true });
  }
  for (const name of namesIn(dirname(links))) {
    const path = join(dirname(links), name);
    if (isLeftover(name, ['.now', '.gone']) && !targets.has(path)) removeOwnFiles(path);
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const namesIn = (folder: string): readonly string[] => (isThere(folder) ? readdirSync(folder) : []);

function textOf(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function writeText(path: string, text: string): void {
  const descriptor = openSync(path, 'wx', 0o600);
  writeSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
}
