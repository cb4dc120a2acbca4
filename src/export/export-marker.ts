import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const SUMMARY = 'summary.json';
export const DATA_PACKAGE = 'datapackage.json';

/** What an export says of itself in its summary: the mark by which a folder is known as one of ours. */
export interface ExportMarker {
  readonly run: string;
  readonly at: string;
  readonly options: MadeWith;
  /** Where its answers come from, and how many calls it lists. */
  readonly providers: readonly string[];
  readonly calls: number;
  /** Every file of the export, relative to the folder, with `/` between names. Only these are ever removed. */
  readonly files: readonly string[];
}

/** How an export was made, as far as it says so. */
export interface MadeWith {
  readonly formats?: readonly string[];
  readonly delimiter?: string;
  readonly bom?: boolean;
  readonly includeContacts?: boolean;
  readonly partitionBy?: string;
}

/** Undefined where there is no export, or a summary of somebody else's making. */
export function readMarker(folder: string): ExportMarker | undefined {
  const summary = readObject(join(folder, SUMMARY));
  const { run, exported_at: at, versions, files, options, pipeline, tables } = summary ?? {};
  if (typeof run !== 'string' || typeof at !== 'string' || !isObject(versions) || !Array.isArray(files))
    return undefined;
  if (typeof versions.kybatch !== 'string') return undefined;
  const paths = files.map((file: unknown) =>
    isObject(file) && typeof file.sha256 === 'string' ? file.path : undefined,
  );
  if (!paths.every(isInside)) return undefined;
  return {
    run,
    at,
    options: isObject(options) ? madeWith(options) : {},
    providers: isObject(pipeline) ? providersIn(String(pipeline.sha256)) : [],
    calls: isObject(tables) && typeof tables.calls === 'number' ? tables.calls : 0,
    files: [...paths, DATA_PACKAGE, SUMMARY],
  };
}

/** The digest of a run's settings names its providers: `…@https://a,https://b+limit=5`. */
const providersIn = (sha256: string): readonly string[] =>
  sha256
    .replace(/^[^@]*@?/, '')
    .replace(/\+limit=\d+$/, '')
    .split(',');

/** What each file of an export was when it was written. */
export function readSums(folder: string): ReadonlyMap<string, string> | undefined {
  const { files } = readObject(join(folder, SUMMARY)) ?? {};
  if (!Array.isArray(files)) return undefined;
  return new Map(
    files.flatMap((file: unknown) =>
      isObject(file) && typeof file.path === 'string' && typeof file.sha256 === 'string'
        ? [[file.path, file.sha256] as const]
        : [],
    ),
  );
}

const madeWith = ({
  formats,
  delimiter,
  bom,
  include_contacts: contacts,
  partition_by: partitionBy,
}: Readonly<Record<string, unknown>>): MadeWith => ({
  ...(isTexts(formats) ? { formats } : {}),
  ...(typeof delimiter === 'string' ? { delimiter } : {}),
  ...(typeof bom === 'boolean' ? { bom } : {}),
  ...(typeof contacts === 'boolean' ? { includeContacts: contacts } : {}),
  ...(typeof partitionBy === 'string' ? { partitionBy } : {}),
});

/** The first entry of a folder that is neither listed by its marker nor left behind by the system. */
export function findStranger(folder: string): string | undefined {
  return strangerBelow(folder, '', new Set(readMarker(folder)?.files ?? []));
}

function strangerBelow(folder: string, below: string, own: ReadonlySet<string>): string | undefined {
  for (const name of readdirSync(join(folder, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const kind = lstatSync(join(folder, path));
    if (kind.isDirectory()) {
      const isEmpty = readdirSync(join(folder, path)).length === 0;
      const stranger = isEmpty && !isFolderOf(own, path) ? path : strangerBelow(folder, path, own);
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
 * Files that file managers, office programs and network file systems put beside those that people look at. They are
 * nobody's data, and they are left where they are all the same.
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

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** A path that leads out of the folder is no file of an export, whoever wrote it down. */
const isInside = (path: unknown): path is string =>
  typeof path === 'string' && !/[\\:\0]/.test(path) && path.split('/').every((name) => !/^\.{0,2}$/.test(name));

function readObject(path: string): Readonly<Record<string, unknown>> | undefined {
  try {
    if (!lstatSync(path).isFile()) return undefined;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
