import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asFileError } from '../domain/errors.js';
import { SUMMARY } from './folder.js';

/** An export that was made. Those outside of the data directory would otherwise be forgotten when data must go. */
export interface ExportFolder {
  readonly run: string;
  readonly folder: string;
  readonly at: string;
  /** Absent where the export does not say. */
  readonly formats?: readonly string[];
}

const listFile = (dataDir: string) => join(dataDir, 'exports.jsonl');

export function noteExport(dataDir: string, made: ExportFolder): void {
  const path = listFile(dataDir);
  try {
    appendFileSync(path, `${JSON.stringify(made)}\n`, { mode: 0o600 });
  } catch (error) {
    throw asFileError(error, path);
  }
}

/** The exports that are still where they were put. */
export function findExports(dataDir: string): readonly ExportFolder[] {
  const inside = join(dataDir, 'exports');
  const folders = new Set([
    ...(existsSync(inside) ? readdirSync(inside).map((name) => join(inside, name)) : []),
    ...readList(dataDir).map(({ folder }) => folder),
  ]);
  return [...folders].flatMap((folder) => readSummary(folder) ?? []);
}

function readList(dataDir: string): readonly ExportFolder[] {
  const path = listFile(dataDir);
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as ExportFolder];
      } catch {
        // The last line of a process that was killed.
        return [];
      }
    });
}

interface Summary {
  readonly run: string;
  readonly exported_at: string;
  readonly options?: { readonly formats?: readonly string[] };
}

function readSummary(folder: string): ExportFolder | undefined {
  try {
    const summary = JSON.parse(readFileSync(join(folder, SUMMARY), 'utf8')) as Summary;
    const { formats } = summary.options ?? {};
    return { run: summary.run, folder, at: summary.exported_at, ...(formats === undefined ? {} : { formats }) };
  } catch {
    return undefined;
  }
}
