import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredSettings } from '../../src/app/run/stored-settings.js';
import type { AnyClient } from '../../src/calls/request.js';
import { type LoadedPipeline, loadPipeline } from '../../src/config/pipeline.js';
import type { IdSpace } from '../../src/domain/provider.js';
import { type RunEnd, type RunWork, workOnRun } from '../../src/engine/run.js';
import { readInput } from '../../src/input/read-input.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { RowRecord, RunRecord } from '../../src/ledger/rows/runs.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import type { ReportOptions } from '../../src/stages/credit-report.js';
import { type Clock, systemClock } from '../../src/util/clock.js';
import { openLedgerIn } from '../helpers/ledger-place.js';
import { openRun } from '../helpers/open-run.js';
import { type Bench, type BenchOptions, findCompany, withSandbox } from '../helpers/sandbox.js';

export type Overrides = Partial<LoadedPipeline> & {
  /** Options of the stage `credit-report` that replace those of quick tests. */
  readonly report?: Partial<ReportOptions>;
};

export interface CallRow {
  readonly id: number;
  readonly row: number | null;
  readonly stage: string | null;
  readonly operation: string;
  readonly request_key: string;
  readonly subject_id: string | null;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly request_id: string | null;
  readonly meter: string;
  readonly charge: 'charged' | 'free' | 'unknown' | 'owned' | null;
  readonly units_charged: number | null;
  readonly reconciled: string | null;
}

export interface Workshop extends Bench {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly dataDir: string;
  pipeline(overrides?: Overrides): LoadedPipeline;
  /** Writes these rows to a file and returns its path. */
  write(lines: readonly string[]): string;
  /** Creates a run of these rows, or continues the unfinished one. */
  open(lines: readonly string[], pipeline?: LoadedPipeline): Promise<RunRecord>;
  work(run: RunRecord, options?: Partial<RunWork>): Promise<RunEnd>;
  rows(run: RunRecord): Promise<RowRecord[]>;
  calls(): CallRow[];
  query<T>(sql: string): T[];
}

export interface WorkshopOptions extends BenchOptions {
  readonly pipeline?: Overrides;
}

/** Real sandbox, clients, ledger and clock, removed at the end. */
export async function withWorkshop<T>(
  { pipeline: always = {}, ...options }: WorkshopOptions,
  use: (workshop: Workshop) => Promise<T>,
): Promise<T> {
  const clock = options.clock ?? systemClock;
  const dataDir = mkdtempSync(join(tmpdir(), 'kybatch-engine-'));
  try {
    return await withSandbox({ reportDelayMs: 0, ...options }, async (bench) => {
      const ledger = await openLedgerIn({ dataDir, now: clock.now(), access: 'write' });
      const query = <Row>(sql: string): Row[] => {
        const database = connect(ledgerPath(dataDir), { readonly: true });
        try {
          return database.prepare<[], Row>(sql).all();
        } finally {
          database.close();
        }
      };
      const write = (lines: readonly string[]) => {
        const path = join(dataDir, 'input.csv');
        writeInput(path, lines);
        return path;
      };
      const pipeline = (overrides: Overrides = {}) => quickPipeline({ ...always, ...overrides });
      try {
        return await use({
          ...bench,
          ledger,
          clock,
          dataDir,
          pipeline,
          write,
          open: async (lines, using = pipeline()) => {
            const path = write(lines);
            return await openRun(await readInput(path), settingsOf(using), ledger, clock);
          },
          work: (run, work = {}) => workOnRun({ ...workOf(run, bench, ledger, clock, pipeline()), ...work }),
          rows: async (run) => {
            const rows: RowRecord[] = [];
            for (let row = 1; row <= run.rowCount; row++) rows.push(present(await ledger.runs.row(run.id, row)));
            return rows;
          },
          calls: () => query<CallRow>('SELECT *, hex(request_key) AS request_key FROM calls ORDER BY id'),
          query,
        });
      } finally {
        await ledger.close();
      }
    });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

let analyst: LoadedPipeline | undefined;

/** The analysts' pipeline without its patience, so that no test waits for seconds. */
export function quickPipeline({ report, ...overrides }: Overrides = {}): LoadedPipeline {
  analyst ??= loadPipeline('analyst', process.cwd());
  const loaded = analyst;
  return {
    ...loaded,
    retry: { attempts: 3, baseMs: 1, capMs: 2 },
    patienceMs: 0,
    options: { ...loaded.options, 'credit-report': { ...reportOptionsOf(loaded), ...QUICK, ...report } },
    ...overrides,
  };
}

/** Its first look for a lost report is its last. */
const QUICK: Partial<ReportOptions> = { firstPollMs: 5, pollAtMostMs: 10, giveUpAfterMs: 60_000, lookForMs: 4 };

export const reportOptionsOf = ({ options }: Pick<LoadedPipeline, 'options'>): ReportOptions =>
  options['credit-report'] as ReportOptions;

export const settingsOf = (pipeline: LoadedPipeline): StoredSettings => ({
  pipeline,
  fresh: false,
  limit: null,
  providers: ['sandbox'],
});

export const sourcesOf = ({ sandbox, v1, v2 }: Bench): RunWork['sources'] => ({
  v1: { client: v1 as unknown as AnyClient, environment: sandbox.v1BaseUrl },
  v2: { client: v2 as unknown as AnyClient, environment: sandbox.v2BaseUrl },
});

function workOf(run: RunRecord, bench: Bench, ledger: Ledger, clock: Clock, pipeline: LoadedPipeline) {
  return {
    run,
    pipeline,
    budgetUnits: pipeline.budget.units,
    budgetReports: pipeline.budget.creditReports,
    concurrency: 8,
    fresh: false,
    sources: sourcesOf(bench),
    ledger,
    clock,
    drain: new AbortController().signal,
    abort: new AbortController().signal,
  } satisfies RunWork;
}

/** The row's ID in a space, or undefined. */
export const idOf = ({ ids }: Pick<RowRecord, 'ids'>, space: IdSpace): string | undefined =>
  ids.find((known) => known.space === space)?.id;

/** Companies with an answer from every stage, one after the other. */
export function wholeCompanies(sandbox: Pick<Sandbox, 'registry'>, count: number): Company[] {
  const { registry } = sandbox;
  const found: Company[] = [];
  for (let index = 0; found.length < count; index++) {
    const company = registry.company(index);
    if (isWhole(sandbox, company)) found.push(company);
  }
  return found;
}

/** The first company that its number identifies and that has what a test needs. */
export const findPlainCompany = (sandbox: Sandbox, fits: (company: Company) => boolean): Company =>
  findCompany(sandbox, (company) => fits(company) && isPlain(sandbox, company));

/** Plain, and known to each module. */
function isWhole(sandbox: Pick<Sandbox, 'registry'>, company: Company): boolean {
  const { registry } = sandbox;
  if (!registry.hasRecord(company) || !registry.inV2(company) || !registry.hasCreditReport(company)) return false;
  const traits = registry.traits(company);
  if (traits.identityMismatch || traits.noAccounts || traits.namesake || traits.dissolved) return false;
  return isPlain(sandbox, company);
}

/** Unique by its number in its country, and plain in every spelling. */
export function isPlain(
  { registry }: Pick<Sandbox, 'registry'>,
  { registrationNumber, countryCode, name }: Company,
): boolean {
  if (registrationNumber === null || !['NL', 'FR', 'NO', 'DK', 'PL'].includes(countryCode)) return false;
  if (!/^[\w .&]+$/.test(name)) return false;
  return registry.search({ location: countryCode, registrationNumber }, 'forgiving').length === 1;
}

export const writeInput = (path: string, lines: readonly string[]): void =>
  writeFileSync(path, ['id,name,country,registration_number,vat_number', ...lines, ''].join('\n'));

export const lineOf = ({ name, countryCode, registrationNumber }: Company, id = ''): string =>
  `${id},${name},${countryCode},${registrationNumber ?? ''},`;

export function present<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('expected a value');
  return value;
}

/** Lets all possible work finish. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await oneTurn();
}

/** A turn of the event loop after the ledger's writes to disk, which are independent of it. */
export async function oneTurn(): Promise<void> {
  await access('.');
  do await new Promise((done) => setImmediate(done));
  while (process.getActiveResourcesInfo().some((resource) => resource.startsWith('FSReq')));
}
