import { rename, rm, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { asOpenError, UsageError } from '../domain/errors.js';
import { gradeInWords } from '../domain/grade-order.js';
import { WorkbookWriter } from '../sheets/xlsx/write-workbook.js';
import { writeAtomically } from '../util/files.js';
import { withoutControls } from '../util/sanitize-text.js';
import { candidateCells, inputCells } from './compare-cells.js';
import { type Choice, lacksGoodCandidate, type Question, shownInput } from './questions.js';
import { VERDICTS } from './record-answer.js';
import {
  headingOf,
  type ReviewColumn,
  SHEET_COLUMNS,
  SHEET_COUNTS,
  SHEET_HIDDEN,
  SHEET_NAMES,
} from './sheet-columns.js';
import { topicInWords, whyInWords } from './words.js';

export interface SaveOptions {
  readonly overwrite: boolean;
  readonly delimiter?: string | undefined;
}

/**
 * The sheet appears only when complete, for its owner only, and never over one that may hold decisions. A name ending
 * with `.xlsx` makes a workbook.
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
      'SHEET_FORMAT_UNKNOWN',
      `a review sheet cannot be a ${extension} file: ${path}`,
      'Use a name that ends with .csv, .tsv, .txt or .xlsx.',
    );
  if (isWorkbook && delimiter !== undefined)
    throw new UsageError(
      'SHEET_WITHOUT_DELIMITER',
      `${path} is a workbook, which has no delimiter`,
      'Leave --delimiter out, or name a .csv file.',
    );
  if (!overwrite && (await exists(path))) {
    throw new UsageError(
      'SHEET_EXISTS',
      `${path} exists and may contain decisions`,
      'Apply it first, choose another file with --out, or overwrite it with --force.',
    );
  }
  try {
    if (isWorkbook) await writeWorkbook(path, questions);
    else await writeAtomically(path, writeSheet(questions, delimiter));
  } catch (error) {
    throw asOpenError(error, path);
  }
}

/** A file without an extension is CSV. */
const TEXTS: ReadonlySet<string> = new Set(['.csv', '.tsv', '.txt', '']);

const isWorkbookName = (path: string): boolean => /\.xlsx$/i.test(path);

/** The same name as in results.xlsx. */
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
      hidden: SHEET_HIDDEN.includes(header),
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

/**
 * The questions as CSV for spreadsheets: a byte order mark, CRLF, one line for each candidate, and one for a question
 * without any.
 */
export function writeSheet(questions: readonly Question[], delimiter = ','): string {
  const cells = sheetLines(questions).map((line) => line.map(spreadsheetText));
  return withoutControls(stringify([SHEET_COLUMNS, ...cells], { bom: true, record_delimiter: '\r\n', delimiter }));
}

/** The same as cells for a workbook, where a text stays a text. */
export function sheetLines(questions: readonly Question[]): readonly (readonly string[])[] {
  const lines = questions.flatMap((question) =>
    question.candidates.length === 0
      ? [lineOf(question, undefined, true)]
      : question.candidates.map((choice, index) => lineOf(question, choice, index === 0)),
  );
  return lines.map((line) => SHEET_NAMES.map((column) => line[column] ?? ''));
}

function lineOf(question: Question, choice: Choice | undefined, first: boolean): Partial<Record<ReviewColumn, string>> {
  const { input } = question;
  // Nothing is filled in: an existing name would sign another person's decision.
  return {
    question: question.id,
    reason: whyInWords(question),
    proposed_by: proposedBy(question, choice, first),
    input_id: listed(question.rows.flatMap(({ inputId }) => inputId ?? [])),
    ...inputCells(shownInput(question)),
    ...candidateCells(choice),
    bought_registration_number: boughtNumber(question),
    candidate_register: choice?.jurisdiction || choice?.state || '',
    candidate_country: choice?.countryCode ?? '',
    input_country: input.country ?? '',
    input_place: [input.state, input.city].filter(Boolean).join(', '),
    candidate_place: choice?.state ?? '',
    grade: choice?.matchGrade ?? '',
    agreement: gradeInWords(choice?.matchGrade ?? ''),
    evidence: [choice?.evidence ?? 'no candidate was found', ...(first ? adviceFor(question) : [])].join('; '),
    about: topicInWords(question),
    code: question.code,
    row: listed(question.rows.map(({ row }) => String(row))),
    line: listed(question.rows.map(({ line }) => String(line))),
    rows: question.rows.map(({ runId, runRow }) => `${runId}: ${runRow}`).join('; '),
    candidate: choice?.key ?? '',
    basis: question.basis,
    earlier: saidEarlier(question, choice),
  };
}

const adviceFor = (question: Question): readonly string[] =>
  lacksGoodCandidate(question) ? [`correct your list, or fill in ${headingOf('corrected_number')}`] : [];

/** The number in the bought answer, if that is the question. */
const boughtNumber = ({ bought }: Question): string =>
  bought === undefined ? '' : (bought.registrationNumber ?? '(no number)');

/** Who confirmed this candidate, if a second person must agree. Who answered that none is meant, on the first line. */
const proposedBy = ({ held }: Question, choice: Choice | undefined, first: boolean): string =>
  held
    .filter(({ decision, candidateId }) => (decision === 'confirm' ? candidateId === choice?.id : first))
    .map(({ decision, decidedBy }) => (decision === 'confirm' ? decidedBy : `${decidedBy} (${decision})`))
    .join('; ');

/** An earlier answer to a question that is open again. A confirmation is on its candidate's line. */
function saidEarlier({ decision }: Question, choice: Choice | undefined): string {
  if (decision === undefined || (decision.decision === 'confirm' && decision.candidateId !== choice?.id)) return '';
  const { decision: said, decidedBy, note } = decision;
  return `${said.replaceAll('_', ' ')}, ${decidedBy}${note === null ? '' : `: ${note}`}`;
}

/** If many rows ask, only a few are listed. */
function listed(texts: readonly string[]): string {
  const each = [...new Set(texts.filter((text) => text !== ''))];
  const others = each.length - AT_MOST;
  return [...each.slice(0, AT_MOST), ...(others > 0 ? [`and ${others} more`] : [])].join('; ');
}

const AT_MOST = 5;

/**
 * A spreadsheet must neither run nor change a cell, so that people compare the real value. Formulas get an apostrophe
 * in front, and so does text that it would read as a number, date or time: 00123456, 123456789012345678, 5.00510E+08,
 * 1-2, 3 Mar, 10:30.
 */
export function spreadsheetText(text: string): string {
  const changed = CHANGED.some((form) => form.test(text.trim()));
  return changed || /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
}

const CHANGED: readonly RegExp[] = [
  /^(?:0\d+|\d{12,}|\d+[.,]\d*0)$/,
  /^(?:\d+(?:[.,]\d*)?|[.,]\d+)e[+-]?\d+$/i,
  /^\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?$/,
  /^\d{1,2}[-/.]\d{4}$/,
  /^\d{1,2}[-/. ]*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:[-/., ]*\d{2,4})?$/i,
  /^\d{1,2}:\d{2}(?::\d{2})?$/,
];
