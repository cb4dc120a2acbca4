import { rename, rm, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { asPlaceError, UsageError } from '../domain/errors.js';
import { WorkbookWriter } from '../sheets/write-workbook.js';
import { writeWhole } from '../util/whole-file.js';
import { VERDICTS } from './give-answer.js';
import type { Question } from './questions.js';
import { SHEET_COLUMNS, SHEET_COUNTS, sheetLines, writeSheet } from './sheet.js';

export interface SaveOptions {
  /** Overwrite a file that is there. */
  readonly overwrite: boolean;
  /** Between the cells of a CSV. */
  readonly delimiter?: string | undefined;
}

/**
 * The sheet appears only when complete, for its owner only, and never over one that may hold decisions. What
 * is named `.xlsx` is a workbook.
 */
export async function saveSheet(
  path: string,
  questions: readonly Question[],
  { overwrite, delimiter }: SaveOptions,
): Promise<void> {
  const isWorkbook = isWorkbookName(path);
  const extension = extname(path);
  if (!isWorkbook && !TEXTS.has(extension.toLowerCase()))
    throw new UsageError(
      `a sheet of questions is not written as ${extension}: ${path}`,
      'Name a .csv, .tsv or .txt file, or a .xlsx for a workbook.',
    );
  if (isWorkbook && delimiter !== undefined)
    throw new UsageError(
      `${path} is a workbook, which has no delimiter`,
      'Leave --delimiter out, or name a .csv file.',
    );
  if (!overwrite && (await exists(path))) {
    throw new UsageError(
      `${path} is there already, and may hold decisions`,
      'Apply it first, name another file with --out, or use --force.',
    );
  }
  try {
    if (isWorkbook) await writeWorkbook(path, questions);
    else await writeWhole(path, writeSheet(questions, delimiter));
  } catch (error) {
    throw asPlaceError(error, path);
  }
}

/** A file without an extension is CSV. */
const TEXTS: ReadonlySet<string> = new Set(['.csv', '.tsv', '.txt', '']);

export const isWorkbookName = (path: string): boolean => /\.xlsx$/i.test(path);

/** As results.xlsx calls its own. */
const NAME = 'Questions';

async function writeWorkbook(path: string, questions: readonly Question[]): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  await rm(part, { force: true });
  const workbook = new WorkbookWriter(part);
  try {
    const columns = SHEET_COLUMNS.map((header) => ({
      header,
      ...(header === 'decision' ? { width: 16, choices: VERDICTS } : {}),
      ...(SHEET_COUNTS.includes(header) ? { as: 'count' as const } : {}),
    }));
    workbook.begin({ name: NAME, columns });
    workbook.write(sheetLines(questions));
    await workbook.drain();
    await workbook.finish();
    await rename(part, path);
  } catch (error) {
    workbook.abandon();
    await rm(part, { force: true }).catch(() => {});
    throw error;
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
