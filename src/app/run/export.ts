// Writes the tables of a run.

import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { settingsFiles } from '../../config/environment.js';
import { adviseOnFullDisk, KybatchError, UsageError } from '../../domain/errors.js';
import type { Prices } from '../../domain/prices.js';
import {
  assertExportsListable,
  type ExportFolder,
  type KeptWorkbook,
  noteExport,
  REPORT,
} from '../../export/export-folders.js';
import { exportRun } from '../../export/export-run.js';
import type { ExportFormat, QuestionLines } from '../../export/formats/format.js';
import { checkExport } from '../../export/formats/list.js';
import {
  clearExports,
  isForLatest,
  keepNewestTables,
  type LatestLink,
  type ListOfTables,
  latestLink,
  newestExports,
} from '../../export/latest-tables.js';
import { type ExportLack, type ExportSummary, lackOf } from '../../export/summary.js';
import { ALL_PARTS } from '../../export/write-answers.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { READERS_VERSION } from '../../readers/list.js';
import { openQuestions } from '../../review/questions.js';
import { VERDICTS } from '../../review/record-answer.js';
import { SHEET_COLUMNS, SHEET_COUNTS, SHEET_HIDDEN, SHEET_OWN } from '../../review/sheet-columns.js';
import { sheetLines } from '../../review/write-sheet.js';
import { DAY_MS, parseDay } from '../../util/clock.js';
import { createTempFolder, writeAtomically } from '../../util/files.js';
import { message } from '../../util/message-parts.js';
import { version } from '../../util/packages.js';
import {
  type AppEnvironment,
  type PlaceOptions,
  pathIn,
  pricesOf,
  processEnvironment,
  type Workplace,
  withLedger,
} from '../environment.js';
import { fileTarget, mustBeOutsideDataDir, mustNotBeAnInput } from '../output-paths.js';
import { dueDecider, portfoliosNamed } from '../portfolio/open-list.js';
import { hasUnrecordedAnswers } from '../review/questions.js';
import { findRun, listOfTables, newestRun, noRunYet } from './runs.js';
import { findSettings } from './stored-settings.js';

export interface TableOptions {
  /** The folder for the tables. Default: `exports/<run>` in the data directory. */
  readonly out?: string | undefined;
  /** Default: CSV, and the results as a workbook. */
  readonly formats?: readonly ExportFormat[] | undefined;
  /** The field separator of CSV. Default: a comma. */
  readonly delimiter?: string | undefined;
  /** CSV with a byte order mark, for Excel. */
  readonly bom?: boolean | undefined;
  /** Default: CSV texts that a spreadsheet would run as a formula get an apostrophe. False: for programs. */
  readonly defuse?: boolean | undefined;
  /** Includes e-mail addresses and phone numbers of people. */
  readonly includeContacts?: boolean | undefined;
  /** Writes Parquet in one folder per country. */
  readonly partitionByCountry?: boolean | undefined;
  /** Cancels the writing. The previous tables stay. */
  readonly signal?: AbortSignal | undefined;
}

export interface ExportTablesOptions extends PlaceOptions, TableOptions {
  /** Default: the newest run. A run in progress may be exported. */
  readonly run?: string | undefined;
  /** The newest run of this portfolio, by name or file. */
  readonly portfolio?: string | undefined;
  /** A day, YYYY-MM-DD in UTC: the portfolio of the run as it was at the end of that day. */
  readonly asOf?: string | undefined;
}

export interface ExportView {
  readonly folder: string;
  /** The stable place of the portfolio's newest tables. Null: they have none, or the user named another folder. */
  readonly latest: string | null;
  readonly workbook: string | null;
  /** Where the previous workbook was moved because a person had edited it. Otherwise null. */
  readonly kept: string | null;
  /** It has answers that are not recorded yet. */
  readonly keptAnswers: boolean;
  readonly summary: ExportSummary;
  /** The missing parts of the tables. Null if they are complete. */
  readonly lack: ExportLack | null;
}

export function exportTables(
  options: ExportTablesOptions = {},
  environment = processEnvironment(),
): Promise<ExportView> {
  return withLedger('read', options, environment, async (ledger, workplace) => {
    const run = await runToShow(options, workplace);
    if (options.asOf !== undefined) {
      const past = readPastDay(options.asOf, environment.clock.now());
      return await writeTables((await runThen(run, past, ledger)).id, { ...options, past }, workplace);
    }
    const last = run.portfolioId === null ? undefined : await ledger.portfolios.lastRun(run.portfolioId);
    if (last !== undefined && last.id !== run.id)
      environment.onNote?.(
        message(
          'OLDER_RUN',
          `${run.id} is an older run of its list. The tables show the list as it is now, after ${last.id}. Calls and units are from ${run.id}`,
        ),
      );
    const notCompared = await ledger.changes.waiting(READERS_VERSION);
    if (notCompared > 0)
      environment.onNote?.(
        message(
          'CHANGES_NOT_COMPARED',
          `${notCompared} new answers are not in the table changes yet: the next attempt compares them`,
        ),
      );
    try {
      return await writeTables(run.id, options, workplace);
    } catch (error) {
      throw adviseOnFullDisk(error, OTHER_DISK);
    }
  });
}

/** The named run, the newest of the named portfolio, or the newest of all. */
async function runToShow(
  { run, portfolio }: Pick<ExportTablesOptions, 'run' | 'portfolio'>,
  workplace: Workplace,
): Promise<RunRecord> {
  const { ledger } = workplace;
  if (portfolio === undefined) return await findRun(run, ledger);
  if (run !== undefined)
    throw new UsageError('RUN_AND_PORTFOLIO', 'a run and --portfolio cannot be given together', 'Give one of them.');
  const ids = portfoliosNamed(portfolio, await ledger.portfolios.all(), workplace).map(({ id }) => id);
  const newest = await newestRun(ledger, async ({ portfolioId }) => portfolioId !== null && ids.includes(portfolioId));
  if (newest === undefined) throw noRunYet();
  return newest;
}

/** A day that has begun, and its last moment. */
interface PastDay {
  readonly day: string;
  readonly at: number;
}

function readPastDay(day: string, now: number): PastDay {
  const begins = parseDay(day);
  if (begins === undefined)
    throw new UsageError('DATE_INVALID', `--as-of: ${day} is not a date`, 'Use YYYY-MM-DD, for example 2026-06-30.');
  if (begins > now)
    throw new UsageError('DATE_IN_FUTURE', `--as-of: ${day} is in the future`, 'Use a day that has begun.');
  return { day, at: begins + DAY_MS - 1 };
}

/** The newest run of the portfolio on that day, whose calls are shown. It may be pruned, while the answers are there. */
async function runThen(run: RunRecord, { at }: PastDay, { runs }: Pick<Ledger, 'runs'>): Promise<RunRecord> {
  if (run.portfolioId === null)
    throw new UsageError('NO_LIST_THEN', `${run.id} comes from a version without portfolios`, 'Leave out --as-of.');
  const isOfThen = (one: RunRecord) => one.portfolioId === run.portfolioId && one.createdAt <= at;
  return (await runs.all()).find(isOfThen) ?? run;
}

const OTHER_DISK =
  'Free some space on this disk, then continue. Or name a folder on another disk: `--out DIR`. The previous tables are kept.';

export interface ReportFileOptions extends PlaceOptions, Pick<ExportTablesOptions, 'run' | 'portfolio'> {
  /** The file. Default: `report-<run>.html` in the working directory. */
  readonly out?: string | undefined;
}

/** Writes the report of a run as one file, from the stored answers. The tables are made for it, and not kept. */
export function writeReport(options: ReportFileOptions = {}, environment = processEnvironment()): Promise<string> {
  return withLedger('read', options, environment, async (_, workplace) => {
    const run = await runToShow(options, workplace);
    const file = fileTarget(options.out ?? `report-${run.id}.html`, workplace.dataDir, environment);
    const folder = createTempFolder();
    try {
      const { folder: tables } = await writeTables(run.id, { formats: ['csv'] }, { ...workplace, dataDir: folder });
      await writeAtomically(file, readFileSync(join(tables, REPORT)));
      return file;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

/** Checks before any spending that the tables can be written. `runId` is null for a run that is yet to be created. */
export async function checkTables(
  options: TableOptions,
  runId: string | null,
  dataDir: string,
  environment: AppEnvironment,
): Promise<void> {
  try {
    const folder = tablesFolder(options, runId ?? 'new-run', dataDir, environment);
    assertExportsListable(dataDir);
    await checkExport({ folder, formats: options.formats ?? USUAL_FORMATS });
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    const { message, code, hint = '', exit } = error;
    throw new KybatchError(message, { code, hint: `${hint} Nothing was spent.`.trim(), exit, cause: error });
  }
}

export function tablesFolder(
  { out }: TableOptions,
  name: string,
  dataDir: string,
  environment: AppEnvironment,
): string {
  if (out === undefined) return join(dataDir, 'exports', name);
  if (out.trim() === '') throw new UsageError('OUT_EMPTY', '--out is empty', 'Give a folder. It need not exist.');
  const folder = pathIn(environment, out);
  if (isForLatest(folder, dataDir))
    throw new UsageError(
      'OUT_NOT_FREE',
      `${folder} cannot be used: kybatch keeps a link to the newest tables there`,
      'Name another folder, or leave out --out: the link then leads to the new tables.',
    );
  mustBeOutsideDataDir(folder, dataDir);
  mustNotBeAnInput(folder, settingsFiles(environment));
  return folder;
}

/** Tables for programs and a workbook for people. docs/developers/performance.md has the cost. */
const USUAL_FORMATS: readonly ExportFormat[] = ['csv', 'xlsx'];

/** Writes the tables of a run in its present state. Those of an older run show the present list, too. */
export async function writeTables(
  runId: string,
  options: TableOptions & { readonly past?: PastDay },
  workplace: Workplace,
  prices?: Prices | null,
): Promise<ExportView> {
  const { ledger, dataDir, clock } = workplace;
  const { past } = options;
  const snapshot = await ledger.reading.snapshot(runId, past && { asOf: past.at });
  if (snapshot === undefined)
    throw new UsageError('RUN_NOT_FOUND', `there is no run ${runId}`, 'List the runs: `kybatch runs`');
  try {
    if (past !== undefined && snapshot.listed === 0)
      throw new UsageError(
        'NO_LIST_THEN',
        `the list had no row on ${past.day}`,
        'The days of its runs: `kybatch runs`',
      );
    // Tables of a past day never take the place of the present ones.
    const name = past === undefined ? runId : `${runId}-as-of-${past.day}`;
    const folder = tablesFolder(options, name, dataDir, workplace);
    assertExportsListable(dataDir);
    const now = clock.now();
    const judge = past === undefined ? dueDecider(snapshot.run, now) : null;
    const formats = options.formats ?? USUAL_FORMATS;
    const questions =
      formats.includes('xlsx') && past === undefined ? await questionLines(snapshot.run, ledger) : undefined;
    const pipeline = findSettings(snapshot.run)?.pipeline;
    const priced = prices === undefined ? pricesOf(pipeline, workplace) : prices;
    const list = past === undefined ? await listOfTables(snapshot.run, ledger) : undefined;
    const tablesOf = options.out === undefined ? list : undefined;
    const latest = tablesOf && latestLink(dataDir, tablesOf);
    const above = pipeline?.partsAbove ?? null;
    const isLarge = list !== undefined && above !== null && snapshot.listed > above;
    const isShared = ledger.claims !== undefined;
    let kept: string | null = null;
    const onKept = (file: string) => {
      kept = file;
      note({ run: runId, file, at: new Date(now).toISOString() }, workplace);
    };
    const summary = await exportRun(
      snapshot,
      {
        folder,
        formats,
        csv: { delimiter: options.delimiter ?? ',', bom: options.bom ?? false, defuse: options.defuse },
        includeContacts: options.includeContacts ?? false,
        partitionByCountry: options.partitionByCountry ?? false,
        now,
        version,
      },
      {
        ...ALL_PARTS,
        judge,
        onKept,
        latest,
        prices: priced,
        signal: options.signal,
        inParts: isLarge
          ? {
              size: COMPANIES_IN_PART,
              folders: newestExports(dataDir, list),
              readersVersion: READERS_VERSION,
              // Each machine has a data directory of its own, so only a named folder may be shared.
              sharedRun: isShared && options.out !== undefined ? runId : undefined,
            }
          : undefined,
        ...(questions === undefined ? {} : { questions }),
      },
    );
    note({ run: runId, folder, at: summary.exported_at }, workplace);
    const keep = pipeline?.keepExports ?? null;
    const isSet = tablesOf !== undefined && latest !== undefined && setLatest(latest, folder, workplace);
    if (isSet) clearOlder(tablesOf, keep, latest, workplace);
    const workbook = summary.files.find(({ format }) => format === 'xlsx')?.path;
    return {
      folder,
      latest: isSet ? latest.path : null,
      workbook: workbook === undefined ? null : join(folder, workbook),
      kept,
      keptAnswers: kept !== null && (await hasUnrecordedAnswers(kept, ledger.review)),
      summary,
      lack: lackOf(summary),
    };
  } finally {
    await snapshot.close();
  }
}

/** A smaller part is written again for fewer changes, and makes more files. */
const COMPANIES_IN_PART = 500;

/** The tables are complete without the link, so a failure is noted. */
function setLatest(latest: LatestLink, folder: string, { onNote }: AppEnvironment): boolean {
  try {
    latest.point(folder);
    return true;
  } catch (error) {
    onNote?.(
      message(
        'LATEST_NOT_SET',
        `the tables are complete, but the link to the newest ones was not set (${reasonOfFailure(error)})`,
      ),
    );
    return false;
  }
}

const reasonOfFailure = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The next export tries again what fails here. */
function clearOlder(
  list: ListOfTables,
  keep: number | null,
  { target }: LatestLink,
  { dataDir, onNote }: Workplace,
): void {
  try {
    if (keep !== null) keepNewestTables(dataDir, list, keep, target);
    clearExports(dataDir);
  } catch (error) {
    onNote?.(message('EXPORTS_NOT_CLEARED', `older tables were not removed (${reasonOfFailure(error)})`));
  }
}

/** The tables are written by now, so a failure to record their folder fails nothing. */
function note(made: ExportFolder | KeptWorkbook, { dataDir, onNote }: Workplace): void {
  try {
    noteExport(dataDir, made);
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    onNote?.(
      message(
        'EXPORT_NOT_LISTED',
        `the tables are complete, but the data directory has no record of them (${error.message}): \`kybatch erase\` will not list ${'folder' in made ? made.folder : made.file}`,
      ),
    );
  }
}

/** The review questions of a run's list for the results workbook, with the same columns as a review sheet. */
async function questionLines(
  { id, portfolioId }: RunRecord,
  { runs, review }: Pick<Ledger, 'runs' | 'review'>,
): Promise<QuestionLines> {
  const ofList = (await runs.all()).filter((other) => portfolioId !== null && other.portfolioId === portfolioId);
  const asking = new Set([id, ...ofList.map((run) => run.id)]);
  return {
    columns: SHEET_COLUMNS,
    lines: sheetLines(await openQuestions(review, [...asking])),
    choices: { decision: VERDICTS },
    counts: SHEET_COUNTS,
    hidden: SHEET_HIDDEN,
    own: SHEET_OWN,
  };
}
