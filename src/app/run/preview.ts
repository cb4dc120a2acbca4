// What a person sees before a list is run: its first rows, the meaning of each column, and the plan.

import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, parse, resolve } from 'node:path';
import { UsageError } from '../../domain/errors.js';
import { headerLookup, recogniser } from '../../input/header-meaning.js';
import type { ColumnDoubt, InputRow, LeftOutLine } from '../../input/types.js';
import { openSheet } from '../../sheets/open-sheet.js';
import { writeAtomically } from '../../util/files.js';
import type { Message } from '../../util/message-parts.js';
import {
  type AppEnvironment,
  dataDirOf,
  type PlaceOptions,
  pathIn,
  processEnvironment,
  withLedger,
} from '../environment.js';
import { withInputFile } from '../portfolio/open-list.js';
import { ContinueError } from './next-step.js';
import { type JobOptions, type PlanView, plan, readJob } from './plan.js';
import { remarkNotes } from './remark-notes.js';

export interface PreviewView {
  readonly plan: PlanView;
  readonly rows: readonly Pick<InputRow, 'row' | 'line' | 'values' | 'problem'>[];
  /** The country of most of the first rows, if others have none. Null: it would help no row. */
  readonly usualCountry: string | null;
  readonly leftOut: readonly LeftOutLine[];
  /** Columns that a person has to choose. The plan takes the likeliest. */
  readonly doubts: readonly ColumnDoubt[];
  readonly notes: readonly Message[];
}

/** A table that cannot be read as a list yet: a person says what its columns are. */
export interface UnreadTable {
  readonly columns: readonly string[];
  readonly rows: readonly Pick<InputRow, 'line' | 'values'>[];
  readonly problem: string;
}

const ROWS = 8;

/** Plans a list and shows its beginning. Nothing is spent. */
export async function preview(options: JobOptions, environment = processEnvironment()): Promise<PreviewView> {
  const doubts: ColumnDoubt[] = [];
  const notes: Message[] = [];
  const asking: JobOptions = {
    ...options,
    async askColumns(doubt) {
      if (!doubts.some(({ field }) => field === doubt.field)) doubts.push(doubt);
      return doubt.choices[0] ?? null;
    },
  };
  const planned = await plan(asking, { ...environment, onNote: (note) => notes.push(note) });
  const first = await firstRows(asking, environment);
  const lacksCountry = planned.invalidReasons.some(({ code }) => code === 'NO_COUNTRY');
  return {
    plan: planned,
    ...first,
    usualCountry: lacksCountry ? usualCountry(first.rows) : null,
    doubts,
    notes: [...notes, ...remarkNotes(planned.remarks)],
  };
}

function usualCountry(rows: readonly InputRow[]): string | null {
  const countries = rows.flatMap(({ fields }) => fields?.country ?? []);
  const times = (country: string) => countries.filter((other) => other === country).length;
  return countries.toSorted((a, b) => times(b) - times(a))[0] ?? null;
}

/** The same for a file whose columns are not understood. A file that is no table at all is refused as before. */
export async function previewOrTable(
  options: JobOptions,
  environment: AppEnvironment,
): Promise<{ readonly preview: PreviewView } | { readonly unread: UnreadTable }> {
  try {
    return { preview: await preview(options, environment) };
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ContinueError)) throw error;
    const sheet = await openSheet(pathIn(environment, options.input), recogniser(headerLookup()), {
      sheet: options.reading?.sheet,
    }).catch(() => undefined);
    if (sheet === undefined) throw error;
    const rows: UnreadTable['rows'][number][] = [];
    for await (const { line, cells } of sheet.lines()) if (rows.push({ line, values: cells }) === ROWS) break;
    return { unread: { columns: sheet.headers, rows, problem: error.message } };
  }
}

const firstRows = (
  options: JobOptions,
  environment: AppEnvironment,
): Promise<{ readonly rows: readonly InputRow[]; readonly leftOut: readonly LeftOutLine[] }> =>
  withInputFile(options.input, environment, async (file) => {
    const { table } = await readJob(file, options, { ...environment, onNote: () => {} });
    const rows: InputRow[] = [];
    for await (const row of table.rows()) if (rows.push(row) === ROWS) break;
    return { rows, leftOut: table.remarks().leftOut };
  });

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export interface KeptUpload {
  readonly path: string;
  /** The list that it updates, if an earlier file has its name and other content. Both files are kept. */
  readonly portfolio: string | null;
}

const uploadsOf = (options: PlaceOptions, environment: AppEnvironment): string =>
  join(dataDirOf(options, environment), 'uploads');

/** File systems allow 255 bytes, and a letter has up to four. */
const LONGEST_NAME = 50;

/** An uploaded file, or the file of a list: people who do not sit at this machine see no other one. */
export async function isKnownInput(
  input: string,
  options: PlaceOptions,
  environment: AppEnvironment,
): Promise<boolean> {
  const path = resolve(environment.cwd, input);
  if (dirname(path) === resolve(environment.cwd, uploadsOf(options, environment))) return true;
  const lists = await withLedger('read', options, environment, ({ portfolios }) => portfolios.all()).catch(() => []);
  return lists.some(({ inputPath }) => resolve(environment.cwd, inputPath) === path);
}

/** Keeps an uploaded list below the data directory. The same bytes are kept once, and no file is replaced. */
export async function keepUpload(
  { name, bytes }: UploadedFile,
  options: PlaceOptions,
  environment: AppEnvironment,
): Promise<KeptUpload> {
  const folder = uploadsOf(options, environment);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const safe = basename(name.replaceAll('\\', '/'))
    .replaceAll(/[^\p{L}\p{N}._ -]/gu, '_')
    .replace(/^\.+/, '');
  const { name: whole, ext } = parse(safe || 'list.csv');
  const stem = [...whole].slice(0, LONGEST_NAME).join('');
  const first = join(folder, `${stem}${ext}`);
  let path = first;
  for (let copy = 2; existsSync(path) && !readFileSync(path).equals(bytes); copy += 1)
    path = join(folder, `${stem} (${copy})${ext}`);
  if (!existsSync(path)) await writeAtomically(path, bytes);
  return { path, portfolio: path === first ? null : first };
}
