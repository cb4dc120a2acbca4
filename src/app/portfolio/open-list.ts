// Opens an input file together with its portfolio, and finds portfolios by name.

import { randomBytes } from 'node:crypto';
import { parse } from 'node:path';
import type { LoadedPipeline, Pipeline } from '../../config/pipeline.js';
import { UsageError } from '../../domain/errors.js';
import { newRow, type PlannedRow } from '../../engine/plan.js';
import type { InputFields, InputTable, ReadingOptions } from '../../input/types.js';
import type { Ledger } from '../../ledger/ledger.js';
import type {
  Due,
  DueDecision,
  MemberState,
  PortfolioRecord,
  PortfolioUpdate,
} from '../../ledger/portfolio/portfolios.js';
import type { RowRecord, RunRecord } from '../../ledger/rows/runs.js';
import { type DueTerms, decideDue, dueTerms } from '../../portfolio/due.js';
import {
  fileRow,
  isAnythingDue,
  type LoadedFile,
  loadFile,
  type SurveyedRow,
  survey,
  usableRow,
} from '../../portfolio/file-rows.js';
import { spool } from '../../sheets/file-source.js';
import { didYouMean, type Message, message } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { withCommas } from '../../util/words.js';
import { type AppEnvironment, pathIn, type Workplace } from '../environment.js';
import type { ProviderNames } from '../provider/provider.js';
import {
  findSettings,
  identityOf,
  isFreshIfReadable,
  readSettings,
  type StoredSettings,
  storeSettings,
} from '../run/stored-settings.js';

export interface ListOptions {
  readonly table: InputTable;
  readonly pipeline: LoadedPipeline;
  readonly limit: number | null;
  readonly fresh: boolean;
  /** The name of the portfolio. Default: the path of the file. */
  readonly portfolio: string | undefined;
  readonly reading?: ReadingOptions | undefined;
}

export const portfolioName = ({ portfolio, table }: Pick<ListOptions, 'portfolio' | 'table'>): string =>
  portfolio ?? defaultPortfolio(table.path);

/** Answers of one provider do not count for another. */
export const providersKey = ({ v1, v2 }: ProviderNames): string => [...new Set([v1, v2])].join();

export class OpenList {
  readonly #terms: DueTerms;

  private constructor(
    private readonly options: ListOptions,
    readonly names: ProviderNames,
    readonly ledger: Ledger,
    now: number,
    readonly known: PortfolioRecord | undefined,
    readonly file: LoadedFile,
    before: ReadonlyMap<string, Pipeline>,
  ) {
    const way = settingsIdentity(this.#settings());
    this.#terms = dueTerms(options.pipeline, now, options.fresh, (other) => withoutLimit(other) === way, before);
  }

  static async open(options: ListOptions, names: ProviderNames, ledger: Ledger, now: number): Promise<OpenList> {
    const { portfolios } = ledger;
    const known = await portfolios.find(portfolioName(options), providersKey(names));
    const file = await loadFile(options.table, options.limit, known, portfolios);
    const before = await pipelinesBefore(known, ledger);
    const listWith = (fresh: boolean) => new OpenList({ ...options, fresh }, names, ledger, now, known, file, before);
    const last = options.fresh && known !== undefined ? await portfolios.lastRun(known.id) : undefined;
    const isBegun = last !== undefined && isFreshIfReadable(last) && listWith(false).continues(last);
    return listWith(options.fresh && !isBegun);
  }

  /** Everything is bought again. A paused run that already does so continues instead, or its rows would cost twice. */
  get fresh(): boolean {
    return this.options.fresh;
  }

  /** Whether `begin` continues this run, if it is the only open one. */
  continues(run: RunRecord): boolean {
    const isSame = run.inputSha256 === this.options.table.sha256 && run.pipelineSha256 === identityOf(this.#settings());
    return run.state === 'open' && isSame && !this.options.fresh && !this.file.laid;
  }

  readonly judge = (standing: MemberState): DueDecision => decideDue(standing, this.#terms);

  /** Stores the file, then begins a run with the due rows or continues the existing one. Nothing is spent. */
  begin(): Promise<PortfolioUpdate> {
    const { table, limit, fresh, pipeline } = this.options;
    const settings = this.#settings();
    const run = {
      id: newRunId(this.#terms.now),
      inputPath: table.path,
      inputSha256: table.sha256,
      pipelineName: pipeline.name,
      pipelineSha256: identityOf(settings),
      settings: storeSettings(settings),
      columns: table.columns,
    };
    return this.ledger.portfolios.converge({
      name: portfolioName(this.options),
      providers: providersKey(this.names),
      now: this.#terms.now,
      input: { key: this.file.key, path: table.path, columns: table.columns, reading: table.agreement },
      isLoaded: this.file.laid,
      limit,
      decideDue: this.judge,
      run,
      continuesIf: fresh ? null : run,
      secondPerson: pipeline.review.secondPerson,
    });
  }

  #settings(): StoredSettings {
    const { limit, fresh, pipeline, portfolio, reading } = this.options;
    const said = reading === undefined ? {} : { reading };
    return { pipeline, fresh, limit, portfolio, ...said, providers: [this.names.v1, this.names.v2] };
  }

  isAnythingDue(): Promise<boolean> {
    const { table, limit } = this.options;
    return isAnythingDue(this.file, table, this.known, limit, this.judge, this.ledger.portfolios);
  }

  async *rows(): AsyncGenerator<PlannedRow> {
    const { table, limit } = this.options;
    const surveyed = survey(this.file, table, this.known, this.judge, this.ledger.portfolios);
    for await (const planned of plannedRows(surveyed, this.ledger)) {
      if (limit !== null && planned.row > limit) return;
      // Uses the present file: it may have search keys that were not read when the row was stored.
      const { row, fields, due } = planned;
      const record = async () => ({ ...((await due?.record()) ?? newRow(row, fields)), row, fields });
      yield due === null ? planned : { ...planned, due: { ...due, record } };
    }
  }
}

/** The same rows, as a run would begin them. The records of a batch are read together, when the first is needed. */
export async function* plannedRows(
  batches: AsyncIterable<readonly SurveyedRow[]>,
  ledger: Pick<Ledger, 'runs'>,
): AsyncGenerator<PlannedRow> {
  for await (const batch of batches) {
    let records: ReturnType<typeof rowsToProcess> | undefined;
    for (const row of batch) {
      const record = async () => {
        records ??= rowsToProcess(batch, ledger);
        return (await records)(row);
      };
      yield { ...row, due: row.due && { reason: row.due.reason, record } };
    }
  }
}

type DueMember = Pick<SurveyedRow, 'standing' | 'due'>;

/** The rows in which due companies continue, or begin again with what they keep. Undefined if a row is gone. */
async function rowsToProcess(
  members: readonly DueMember[],
  { runs }: Pick<Ledger, 'runs'>,
): Promise<(member: DueMember) => RowRecord | undefined> {
  const places = new Map<string, number[]>();
  for (const { standing, due } of members) {
    if (standing === null || due === null) continue;
    const { runId, row } = placeOf(standing, due);
    const rows = places.get(runId);
    if (rows === undefined) places.set(runId, [row]);
    else rows.push(row);
  }
  const found = new Map<string, RowRecord>();
  for (const [runId, rows] of places)
    for (const record of await runs.rowsAt(runId, rows)) found.set(`${runId} ${record.row}`, record);
  return ({ standing, due }) => {
    if (standing === null || due === null) return undefined;
    const { runId, row } = placeOf(standing, due);
    return asItBegins(standing, due, found.get(`${runId} ${row}`));
  };
}

const placeOf = ({ at, onItsWay }: MemberState, { goesOn }: Due) => (goesOn ? (onItsWay ?? at) : at);

function asItBegins({ outcome }: MemberState, due: Due, stood: RowRecord | undefined): RowRecord | undefined {
  if (stood === undefined || (due.goesOn && outcome !== 'pending')) return stood;
  const ids = stood.ids.filter(({ space }) => !due.forget.includes(space));
  if (due.goesOn) return { ...stood, ids, stages: { ...stood.stages, ...due.stages } };
  const { stages, notBefore } = due;
  return {
    ...stood,
    outcome: 'pending',
    ids,
    confirmedBefore: stood.ids,
    stagesBefore: stood.stages,
    stages,
    notBefore,
  };
}

export const notesAboutFile = ({ file: { repeatedIds } }: OpenList): readonly Message[] =>
  repeatedIds.length === 0 ? [] : [rowsWithRepeatedIds(repeatedIds)];

const IDS_SHOWN = 5;

function rowsWithRepeatedIds(repeated: readonly string[]): Message {
  const shown = repeated.slice(0, IDS_SHOWN).map((id) => sanitizeText(id, 80));
  const more = repeated.length > IDS_SHOWN ? ` and ${withCommas(repeated.length - IDS_SHOWN)} more` : '';
  return message(
    'ID_REPEATED',
    `${repeated.length === 1 ? 'this id is' : 'these ids are'} in more than one row: ${shown.join(', ')}${more}. kybatch recognises these rows by their company instead`,
  );
}

/** The pipelines of a portfolio's earlier runs, without damaged ones. */
export async function pipelinesBefore(
  portfolio: PortfolioRecord | undefined,
  { portfolios }: Pick<Ledger, 'portfolios'>,
): Promise<ReadonlyMap<string, Pipeline>> {
  const started = portfolio === undefined ? [] : await portfolios.startedWith(portfolio.id);
  return new Map(
    started.flatMap((run) => {
      const pipeline = findSettings(run)?.pipeline;
      return pipeline === undefined ? [] : [[run.pipelineSha256, pipeline]];
    }),
  );
}

export function dueDecider(
  run: RunRecord,
  now: number,
  before?: ReadonlyMap<string, Pipeline>,
): (standing: MemberState) => DueDecision {
  // A run older than portfolios has no list.
  if (run.portfolioId === null) return () => ({ due: null, nextAt: null });
  const terms = dueTerms(readSettings(run).pipeline, now, false, () => true, before);
  return (standing) => decideDue(standing, terms);
}

/** The same when nothing was ever bought. */
export async function* rowsOfFile({ table, limit }: Pick<ListOptions, 'table' | 'limit'>): AsyncGenerator<PlannedRow> {
  for await (const input of table.rows()) {
    if (limit !== null && input.row > limit) return;
    const { row, line } = input;
    const { fields, problem } = usableRow(input);
    yield { row, line, fields, problem, due: { reason: null, record: async () => newRow(row, fields) } };
  }
}

/** Identifies how a run works, without its row limit. */
const settingsIdentity = (settings: StoredSettings): string => identityOf({ ...settings, limit: null });
const withoutLimit = (identity: string): string => identity.replace(/\+limit=\d+$/, '');

/** Readable, sortable, and not predictable. */
const newRunId = (now: number): string =>
  `${new Date(now).toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`;

/** The name of standard input on the command line and in the ledger. */
const STDIN = '-';
const NAMES: ReadonlySet<string> = new Set([STDIN, '/dev/stdin']);

const STDIN_PORTFOLIO = 'stdin';

/** The file with the companies, or a copy of standard input. */
export interface InputFile {
  readonly path: string;
  readonly input: string;
  readonly shownAs: string;
}

/** The name of an input in the ledger: its path, or `-`. */
export const nameOfInput = (input: string, environment: AppEnvironment): string =>
  NAMES.has(input) ? STDIN : pathIn(environment, input);

export const defaultPortfolio = (input: string): string => (input === STDIN ? STDIN_PORTFOLIO : input);

/** The note that piped lists share one portfolio unless they are named. */
export const pipedNotes = ({ input }: InputFile, portfolio: string | undefined): readonly Message[] =>
  input !== STDIN || portfolio !== undefined
    ? []
    : [
        message(
          'PIPED_PORTFOLIO',
          `piped lists belong to the portfolio "${STDIN_PORTFOLIO}". To keep lists apart, add --portfolio NAME`,
        ),
      ];

/** Opens the input for the length of `use`. Standard input is copied, because it is read more than once. */
export async function withInputFile<T>(
  input: string,
  environment: AppEnvironment,
  use: (file: InputFile) => Promise<T>,
): Promise<T> {
  if (!NAMES.has(input)) {
    const path = pathIn(environment, input);
    return await use({ path, input: path, shownAs: path });
  }
  if (environment.stdin === undefined) {
    throw new UsageError(
      'STDIN_NOT_PIPED',
      '- reads standard input, and nothing is piped into kybatch',
      'Pipe a file into it, or give a file name.',
    );
  }
  const copy = await spool(environment.stdin(), 'standard input');
  try {
    return await use({ path: copy.path, input: STDIN, shownAs: 'standard input' });
  } finally {
    copy.remove();
  }
}

/** Turns the runs of this file in a ledger older than portfolios into its portfolio, with their matches and answers. */
export async function adoptRuns(
  options: ListOptions,
  names: ProviderNames,
  ledger: Ledger,
  now: number,
): Promise<void> {
  const { portfolios, runs } = ledger;
  const name = portfolioName(options);
  const providers = providersKey(names);
  if (options.portfolio !== undefined || (await portfolios.find(name, providers)) !== undefined) return;
  const mine = (await runs.all()).filter((run) => isOf(run, name, providers));
  const [newest, ...older] = mine;
  if (newest === undefined) return;
  for (let first = 1; first <= newest.rowCount; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, newest.rowCount - first + 1) }, (_, index) => first + index);
    const rows = await runs.rowsAt(newest.id, numbers);
    await portfolios.loadRows(rows.map(asLaid), first === 1);
  }
  await portfolios.adopt({ name, providers, now, run: newest, older: older.map(({ id }) => id) });
}

const BATCH = 1000;

function isOf(run: RunRecord, path: string, providers: string): boolean {
  if (run.portfolioId !== null || run.state === 'reading' || run.inputPath !== path) return false;
  const [v1 = '', v2 = v1] = readSettings(run).providers;
  return providersKey({ v1, v2 }) === providers;
}

function asLaid({ row, line, values, fields, outcome, errorCode, errorMessage }: RowRecord) {
  const problem = { code: errorCode ?? '', message: errorMessage ?? '' };
  const input = { row, line, values, fields: fields as InputFields };
  return fileRow(input, outcome === 'invalid' ? problem : undefined);
}

/** The portfolio with this name or file path, or all portfolios of these providers. */
export async function findPortfolios(
  name: string | undefined,
  names: ProviderNames,
  workplace: Workplace,
): Promise<readonly PortfolioRecord[]> {
  const providers = providersKey(names);
  const known = (await workplace.ledger.portfolios.all()).filter((portfolio) => portfolio.providers === providers);
  return name === undefined ? known : portfoliosNamed(name, known, workplace);
}

/** The known portfolios of this name: one for each provider that the list was run with. */
export function portfoliosNamed(
  name: string,
  known: readonly PortfolioRecord[],
  environment: AppEnvironment,
): readonly PortfolioRecord[] {
  const found = known.filter(
    (portfolio) => portfolio.name === name.trim() || portfolio.name === pathIn(environment, name),
  );
  if (found.length > 0) return found;
  // The file's name without folder and extension, if no other list has it.
  const alike = known.filter((portfolio) => parse(portfolio.name).name === name.trim());
  if (new Set(alike.map((portfolio) => portfolio.name)).size === 1) return alike;
  const others = known.map((portfolio) => portfolio.name);
  throw new UsageError(
    'PORTFOLIO_NOT_FOUND',
    `there is no portfolio ${name}.${didYouMean(name, others)}`,
    'List them: `kybatch portfolios`. `kybatch run FILE` creates one.',
  );
}
