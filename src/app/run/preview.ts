// What a person sees before a list is run: its first rows, the meaning of each column, and the plan.

import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ColumnDoubt, InputRow, LeftOutLine } from '../../input/types.js';
import { writeAtomically } from '../../util/files.js';
import type { Message } from '../../util/message-parts.js';
import { type AppEnvironment, dataDirOf, type PlaceOptions, processEnvironment } from '../environment.js';
import { withInputFile } from '../portfolio/open-list.js';
import { type JobOptions, type PlanView, plan, readJob } from './plan.js';

export interface PreviewView {
  readonly plan: PlanView;
  /** The first rows, with their cells as written. */
  readonly rows: readonly Pick<InputRow, 'row' | 'line' | 'values' | 'problem'>[];
  /** The first lines that are no companies. */
  readonly leftOut: readonly LeftOutLine[];
  /** Columns that a person has to choose. The plan takes the likeliest. */
  readonly doubts: readonly ColumnDoubt[];
  readonly notes: readonly Message[];
}

const ROWS = 8;

/** Plans a list and shows its beginning. Nothing is spent. */
export async function preview(options: JobOptions, around = processEnvironment()): Promise<PreviewView> {
  const doubts: ColumnDoubt[] = [];
  const notes: Message[] = [];
  const asking: JobOptions = {
    ...options,
    async askColumns(doubt) {
      if (!doubts.some(({ field }) => field === doubt.field)) doubts.push(doubt);
      return doubt.choices[0] ?? null;
    },
  };
  const planned = await plan(asking, { ...around, onNote: (note) => notes.push(note) });
  return { plan: planned, ...(await firstRows(asking, around)), doubts, notes };
}

const firstRows = (options: JobOptions, around: AppEnvironment): Promise<Pick<PreviewView, 'rows' | 'leftOut'>> =>
  withInputFile(options.input, around, async (file) => {
    const { table } = await readJob(file, options, { ...around, onNote: () => {} });
    const rows: InputRow[] = [];
    for await (const row of table.rows()) if (rows.push(row) === ROWS) break;
    return { rows, leftOut: table.remarks().leftOut };
  });

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Keeps an uploaded list below the data directory. A later file of the same name is the same list. */
export async function keepUpload(
  { name, bytes }: UploadedFile,
  options: PlaceOptions,
  around: AppEnvironment,
): Promise<string> {
  const folder = join(dataDirOf(options, around), 'uploads');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(
    folder,
    basename(name.replaceAll('\\', '/'))
      .replaceAll(/[^\p{L}\p{N}._ -]/gu, '_')
      .replace(/^\.+/, '') || 'list.csv',
  );
  await writeAtomically(path, bytes);
  return path;
}
