import { hash } from 'node:crypto';
import { appendFileSync, createReadStream, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { z } from 'zod';
import { asOpenError, asWriteError, UsageError } from '../domain/errors.js';

/** A written export. `erase` needs the list, because exports may be outside the data directory. */
export interface ExportFolder {
  readonly run: string;
  readonly folder: string;
  readonly at: string;
}

/** An export that still exists, with its own description. */
export interface FoundExport extends ExportFolder {
  /** It shows a past day, so it is never the newest of its list. */
  readonly isPast: boolean;
  readonly options: MadeWith;
}

/** A workbook that a person edited, kept when its export was written again. */
export interface KeptWorkbook {
  readonly run: string;
  readonly file: string;
  readonly at: string;
}

const listFile = (dataDir: string) => join(dataDir, 'exports.jsonl');

export function noteExport(dataDir: string, made: ExportFolder | KeptWorkbook): void {
  const path = listFile(dataDir);
  assertExportsListable(dataDir);
  try {
    // With a ledger in a database the folder may not exist yet.
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    appendFileSync(path, `${JSON.stringify(made)}\n`, { mode: 0o600 });
  } catch (error) {
    throw asWriteError(error, path);
  }
}

export function findExports(dataDir: string): readonly FoundExport[] {
  const inside = join(dataDir, 'exports');
  const folders = new Set([
    ...reading(inside, () => readdirSync(inside).map((name) => join(inside, name))),
    ...readList(dataDir, folderEntry).map(({ folder }) => folder),
  ]);
  return [...folders].flatMap((folder) => describe(folder) ?? []);
}

export function findKeptWorkbooks(dataDir: string): readonly KeptWorkbook[] {
  const byFile = new Map(readList(dataDir, workbookEntry).map((kept) => [kept.file, kept]));
  return [...byFile.values()].filter(({ file }) => existsSync(file));
}

/** Checks that an export can be recorded, before one is written. */
export function assertExportsListable(dataDir: string): void {
  const path = listFile(dataDir);
  if (listIn(dataDir)?.isFile() !== false) return;
  throw new UsageError(
    'EXPORT_LIST_UNUSABLE',
    `${path} is not a file, but kybatch keeps the list of exports there`,
    'Move it away, then run it again. `kybatch export` writes the tables again, free of charge.',
  );
}

/** With a ledger in a database the data directory has not been checked yet. */
function listIn(dataDir: string) {
  try {
    return lstatSync(listFile(dataDir), { throwIfNoEntry: false });
  } catch (error) {
    throw asOpenError(error, `the data directory ${dataDir}`);
  }
}

const path = z.string().refine(isAbsolute);
const folderEntry = z.object({ run: z.string(), folder: path, at: z.string() });
const workbookEntry = z.object({ run: z.string(), file: path, at: z.string() });

/** An invalid line, from a killed process or a failed disk, is skipped. */
function readList<T>(dataDir: string, entry: z.ZodType<T>): readonly T[] {
  assertExportsListable(dataDir);
  const list = listFile(dataDir);
  return reading(list, () => readFileSync(list, 'utf8').split('\n')).flatMap((line) => {
    try {
      const { success, data } = entry.safeParse(JSON.parse(line));
      return success ? [data] : [];
    } catch {
      return [];
    }
  });
}

/** Empty if it does not exist. An existing but unreadable file is an error: it may name an export. */
function reading<T>(path: string, read: () => readonly T[]): readonly T[] {
  if (!existsSync(path)) return [];
  try {
    return read();
  } catch (error) {
    throw asOpenError(error, path);
  }
}

function describe(folder: string): FoundExport | undefined {
  const marker = readMarker(folder);
  if (marker === undefined) return undefined;
  const { run, at, options, isPast } = marker;
  return { run, folder, at, options, isPast };
}

export const SUMMARY = 'summary.json';
export const DATA_PACKAGE = 'datapackage.json';
export const REPORT = 'report.html';
export const RESULTS_WORKBOOK = 'results.xlsx';

/** The summary of an export, which marks a folder as ours. */
export interface ExportMarker {
  readonly run: string;
  readonly at: string;
  readonly isPast: boolean;
  readonly options: MadeWith;
  readonly providers: readonly string[];
  readonly calls: number;
  readonly rows: number;
  /** Every file of the export, relative to the folder, with `/` as separator. Only these are ever removed. */
  readonly files: readonly string[];
}

export interface MadeWith {
  readonly formats?: readonly string[] | undefined;
  readonly delimiter?: string | undefined;
  readonly bom?: boolean | undefined;
  readonly includeContacts?: boolean | undefined;
  readonly partitionBy?: string | undefined;
}

/** A path that leaves the folder is no file of an export, whatever the marker says. */
const inside = z
  .string()
  .refine((path) => !/[\\:\0]/.test(path) && path.split('/').every((name) => !/^\.{0,2}$/.test(name)));

const counted = z.number().catch(0);

/** The parts of `summary.json` by which kybatch knows its own folders. */
const markerShape = z.object({
  run: z.string(),
  exported_at: z.string(),
  as_of: z.unknown().optional(),
  versions: z.object({ kybatch: z.string() }),
  files: z.array(z.object({ path: inside, sha256: z.string() })),
  parts: z.object({ records: z.array(inside) }).optional(),
  pipeline: z.object({ sha256: z.string() }).optional(),
  tables: z.object({ calls: counted, rows: counted }).catch({ calls: 0, rows: 0 }),
  options: z
    .object({
      formats: z.array(z.string()).optional(),
      delimiter: z.string().optional(),
      bom: z.boolean().optional(),
      include_contacts: z.boolean().optional(),
      partition_by: z.string().nullish(),
    })
    .catch({}),
});

/** Undefined if there is no export, or the summary is not ours. */
export function readMarker(folder: string): ExportMarker | undefined {
  const { data } = markerShape.safeParse(readObject(join(folder, SUMMARY)));
  if (data === undefined) return undefined;
  const { run, exported_at: at, as_of: past, files, options, pipeline, tables, parts } = data;
  const { include_contacts: includeContacts, partition_by, ...others } = options;
  return {
    run,
    at,
    isPast: past !== undefined,
    options: {
      ...others,
      includeContacts,
      partitionBy: partition_by ?? undefined,
    },
    providers: pipeline === undefined ? [] : providersIn(pipeline.sha256),
    ...tables,
    files: [...files.map(({ path }) => path), ...(parts?.records ?? []), DATA_PACKAGE, REPORT, SUMMARY],
  };
}

/** The digest of a run's settings names its providers: `…@https://a,https://b+limit=5`. */
const providersIn = (sha256: string): readonly string[] =>
  sha256
    .replace(/^[^@]*@?/, '')
    .replace(/\+limit=\d+$/, '')
    .split(',');

/** Whether a person has changed the workbook since it was written. */
export function isWorkbookEdited(folder: string): boolean {
  const path = join(folder, RESULTS_WORKBOOK);
  const { data } = markerShape.pick({ files: true }).safeParse(readObject(join(folder, SUMMARY)));
  const written = data?.files.find((file) => file.path === RESULTS_WORKBOOK)?.sha256;
  return written !== undefined && existsSync(path) && fileSha256(path) !== written;
}

export const fileSha256 = (path: string): string => hash('sha256', readFileSync(path), 'hex');

/** The first entry of a folder that is neither in its marker nor a system file. */
export function findForeignFile(folder: string): string | undefined {
  return foreignFileBelow(folder, '', new Set(readMarker(folder)?.files ?? []));
}

function foreignFileBelow(folder: string, below: string, own: ReadonlySet<string>): string | undefined {
  for (const name of readdirSync(join(folder, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const kind = lstatSync(join(folder, path));
    if (kind.isDirectory()) {
      const isEmpty = readdirSync(join(folder, path)).length === 0;
      const stranger = isEmpty && !isFolderOf(own, path) ? path : foreignFileBelow(folder, path, own);
      if (stranger !== undefined) return stranger;
    } else if (!kind.isFile() || !(own.has(path) || isSystemLitter(name))) {
      return path;
    }
  }
  return undefined;
}

const isFolderOf = (own: ReadonlySet<string>, path: string): boolean =>
  [...own].some((file) => file.startsWith(`${path}/`));

/**
 * Files of file managers, office programs and network file systems. They are no user data, but they are left in place.
 */
const isSystemLitter = (name: string): boolean => LITTER.some((form) => form.test(name));

const LITTER: readonly RegExp[] = [
  /^\.DS_Store$/,
  /^\._/,
  /^(?:eh)?thumbs\.db$/i,
  /^desktop\.ini$/i,
  /^\.directory$/,
  /^~\$/,
  /^\.~lock\..*#$/,
  /^\.(?:nfs|fuse_hidden)[0-9a-f]+$/i,
];

function readObject(path: string): unknown {
  try {
    return lstatSync(path).isFile() ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether the CSV tables of an export contain one of these identifiers. Undefined if that cannot be told: no
 * identifier, no CSV, or an unreadable one.
 */
export async function namesInExport(folder: string, identifiers: readonly string[]): Promise<boolean | undefined> {
  const tables = (readMarker(folder)?.files ?? []).filter((file) => file.endsWith('.csv'));
  if (identifiers.length === 0 || tables.length === 0) return undefined;
  const names = namesPattern(identifiers);
  try {
    for (const table of tables) if (await isNamedIn(join(folder, table), names)) return true;
    return false;
  } catch {
    return undefined;
  }
}

/** Leading zeros vary between files. A longer text that contains the identifier is another one. */
const namesPattern = (identifiers: readonly string[]): RegExp =>
  new RegExp(`(?<![\\p{L}\\p{N}])(?:[A-Z]{2})?0*(?:${identifiers.map(patternOf).join('|')})(?![\\p{L}\\p{N}])`, 'iu');

const patternOf = (text: string): string => text.replace(/^0+(?=.)/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Read in pieces that end with a line, because tables may exceed the memory. */
async function isNamedIn(path: string, names: RegExp): Promise<boolean> {
  let rest = '';
  for await (const piece of createReadStream(path, { encoding: 'utf8' })) {
    const text = rest + String(piece);
    const end = text.lastIndexOf('\n') + 1;
    if (names.test(text.slice(0, end))) return true;
    rest = text.slice(end);
  }
  return names.test(rest);
}
