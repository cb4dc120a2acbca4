import { randomBytes } from 'node:crypto';
import type { LoadedPipeline, Pipeline } from '../../config/pipeline.js';
import { UsageError } from '../../domain/errors.js';
import { newRow, type PlannedRow } from '../../engine/plan.js';
import type { InputFields, InputTable, ReadingOptions } from '../../input/types.js';
import type { Ledger } from '../../ledger/ledger.js';
import type {
  Converged,
  Due,
  DueDecision,
  DueReason,
  PortfolioRecord,
  PortfolioStore,
  Standing,
} from '../../ledger/portfolio/portfolios.js';
import type { RowRecord, RunRecord } from '../../ledger/rows/runs.js';
import { type DueTerms, decideDue, dueTerms } from '../../portfolio/due.js';
import {
  fileRow,
  isAnythingDue,
  type LoadedFile,
  loadFile,
  type SurveyedRow,
  soundRow,
  survey,
} from '../../portfolio/file-rows.js';
import { spool } from '../../sheets/file-source.js';
import { didYouMean } from '../../util/message-parts.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { type AppEnvironment, pathIn } from '../environment.js';
import type { ProviderNames } from '../provider/provider.js';
import { findSettings, identityOf, readSettings, type StoredSettings, storeSettings } from '../run/stored-settings.js';

/** What is to be brought up to date, with what. */
export interface ListOptions {
  readonly table: InputTable;
  readonly pipeline: LoadedPipeline;
  readonly limit: number | null;
  readonly fresh: boolean;
  /** The name of the portfolio; the path of the file without it. */
  readonly portfolio: string | undefined;
  /** How the file is read, as it was said. */
  readonly reading?: ReadingOptions | undefined;
}

export const portfolioName = ({ portfolio, table }: Pick<ListOptions, 'portfolio' | 'table'>): string =>
  portfolio ?? defaultPortfolio(table.path);

/** What one provider said is nothing to the account of another. */
export const providersKey = ({ v1, v2 }: ProviderNames): string => [...new Set([v1, v2])].join();

/** A file beside what is known of its portfolio. */
export class OpenList {
  readonly #options: ListOptions;
  readonly #names: ProviderNames;
  readonly #ledger: Ledger;
  readonly #terms: DueTerms;
  #due: Partial<Record<DueReason, number>> = {};

  private constructor(
    options: ListOptions,
    names: ProviderNames,
    ledger: Ledger,
    now: number,
    readonly known: PortfolioRecord | undefined,
    readonly file: LoadedFile,
    before: ReadonlyMap<string, Pipeline>,
  ) {
    this.#options = options;
    this.#names = names;
    this.#ledger = ledger;
    const way = wayOf(this.#settings());
    this.#terms = dueTerms(options.pipeline, now, options.fresh, (other) => withoutLimit(other) === way, before);
  }

  static async open(options: ListOptions, names: ProviderNames, ledger: Ledger, now: number): Promise<OpenList> {
    const { portfolios } = ledger;
    const known = await portfolios.find(portfolioName(options), providersKey(names));
    const file = await loadFile(options.table, options.limit, known, portfolios);
    return new OpenList(options, names, ledger, now, known, file, await pipelinesBefore(known, ledger));
  }

  readonly judge = (standing: Standing): DueDecision => decideDue(standing, this.#terms);

  /** Takes the file in, and begins what is due, or goes on with the run that is about it. Nothing is spent. */
  begin(): Promise<Converged> {
    const { table, limit, fresh, pipeline } = this.#options;
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
    return this.#ledger.portfolios.converge({
      name: portfolioName(this.#options),
      providers: providersKey(this.#names),
      now: this.#terms.now,
      input: { key: this.file.key, path: table.path, columns: table.columns, reading: table.agreement },
      laid: this.file.laid,
      limit,
      judge: this.judge,
      run,
      goesOnWith: fresh ? null : run,
      secondPerson: pipeline.review.secondPerson,
    });
  }

  #settings(): StoredSettings {
    const { limit, fresh, pipeline, portfolio, reading } = this.#options;
    const said = reading === undefined ? {} : { reading };
    return { pipeline, fresh, limit, portfolio, ...said, providers: [this.#names.v1, this.#names.v2] };
  }

  isAnythingDue(): Promise<boolean> {
    return isAnythingDue(this.file, this.known, this.#options.limit, this.judge, this.#ledger.portfolios);
  }

  /** Why rows are due, as far as they were looked at. */
  get due(): Readonly<Partial<Record<DueReason, number>>> {
    return this.#due;
  }

  /** The rows of the file as they would set out. */
  async *rows(): AsyncGenerator<PlannedRow> {
    const { table, limit } = this.#options;
    // A file that was taken in before is laid out only for whoever wants to see it row by row.
    if (!this.file.laid) await loadFile(table, limit, undefined, this.#ledger.portfolios);
    this.#due = {};
    for await (const row of survey(this.known, this.judge, this.#ledger.portfolios)) {
      if (limit !== null && row.row > limit) return;
      if (row.due !== null) this.#due[row.due.reason] = (this.#due[row.due.reason] ?? 0) + 1;
      yield { ...row, record: () => this.#record(row) };
    }
  }

  async #record({ row, fields, standing, due }: SurveyedRow): Promise<RowRecord | null> {
    if (due === null) return null;
    const known = standing === null ? undefined : await rowToProcess(standing, due, this.#ledger);
    // What the file says now: leads may be read that were not when the row was laid down.
    return known === undefined ? newRow(row, fields) : { ...known, row, fields };
  }
}

/** The row in which a member goes on, or begins once more with what it keeps; undefined where that is gone. */
export async function rowToProcess(
  { at, onItsWay, outcome }: Standing,
  due: Due,
  { runs }: Pick<Ledger, 'runs'>,
): Promise<RowRecord | undefined> {
  const place = due.goesOn ? (onItsWay ?? at) : at;
  const stood = await runs.row(place.runId, place.row);
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

/** What is odd about a file that was laid out. */
export const notesOn = ({ file: { repeatedId } }: OpenList): readonly string[] =>
  repeatedId === null ? [] : [idsAreNone(repeatedId)];

const idsAreNone = (repeated: string): string =>
  `the id ${sanitizeText(repeated, 80)} stands in more than one row: the column id is not used to know rows again from file to file, what identifies their company is`;

/** What the runs of a portfolio were started with; one that is damaged is compared with nothing. */
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

/** What members need now, by the pipeline that a run was started with. */
export function judgeOf(
  run: RunRecord,
  now: number,
  before?: ReadonlyMap<string, Pipeline>,
): (standing: Standing) => DueDecision {
  // A run of a version before there were portfolios is nobody's list.
  if (run.portfolioId === null) return () => ({ due: null, nextAt: null });
  const terms = dueTerms(readSettings(run).pipeline, now, false, () => true, before);
  return (standing) => decideDue(standing, terms);
}

/** The same where nothing was ever bought. */
export async function* rowsOfFile({ table, limit }: Pick<ListOptions, 'table' | 'limit'>): AsyncGenerator<PlannedRow> {
  for await (const input of table.rows()) {
    if (limit !== null && input.row > limit) return;
    const { row, line } = input;
    const { fields, problem } = soundRow(input);
    yield { row, line, fields, problem, record: async () => newRow(row, fields) };
  }
}

/** How a run goes about it, however many rows it takes. */
const wayOf = (settings: StoredSettings): string => identityOf({ ...settings, limit: null });
const withoutLimit = (identity: string): string => identity.replace(/\+limit=\d+$/, '');

/** Readable, sortable, and not to be guessed from another. */
const newRunId = (now: number): string =>
  `${new Date(now).toISOString().slice(0, 10)}-${randomBytes(3).toString('hex')}`;

/** How standard input is named on a command line, and in the books. */
const STDIN = '-';
const NAMES: ReadonlySet<string> = new Set([STDIN, '/dev/stdin']);

/** What its portfolio is called where nobody names it. */
const STDIN_PORTFOLIO = 'stdin';

/** The file with the companies, or a copy of what came through standard input. */
export interface InputFile {
  /** Where it is read. */
  readonly path: string;
  /** What the books know it by. */
  readonly input: string;
  /** What messages call it. */
  readonly shownAs: string;
}

/** What an input is called in the books: its path, or `-`. */
export const nameOfInput = (input: string, around: AppEnvironment): string =>
  NAMES.has(input) ? STDIN : pathIn(around, input);

/** The name of a list that was given none. */
export const defaultPortfolio = (input: string): string => (input === STDIN ? STDIN_PORTFOLIO : input);

/** What is said where lists that are piped in would be taken for one. */
export const pipedNotes = ({ input }: InputFile, portfolio: string | undefined): readonly string[] =>
  input !== STDIN || portfolio !== undefined
    ? []
    : [`what is piped in is the list of the portfolio "${STDIN_PORTFOLIO}"; --portfolio NAME keeps lists apart`];

/** The input for the length of `use`: it is read more than once, which a pipe cannot be, so a private copy is made of one. */
export async function withInputFile<T>(
  input: string,
  around: AppEnvironment,
  use: (file: InputFile) => Promise<T>,
): Promise<T> {
  if (!NAMES.has(input)) {
    const path = pathIn(around, input);
    return await use({ path, input: path, shownAs: path });
  }
  if (around.stdin === undefined) {
    throw new UsageError(
      'nothing is piped into kybatch: - reads standard input',
      'Pipe a file into it, or name one in the place of -.',
    );
  }
  const copy = await spool(around.stdin(), 'standard input');
  try {
    return await use({ path: copy.path, input: STDIN, shownAs: 'standard input' });
  } finally {
    copy.remove();
  }
}

/** A ledger from before there were portfolios has runs of this file: what they have confirmed and bought is where its list stands. */
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

/** The portfolio that is named, by its name or by the path of its file; all of these providers where none is. */
export async function findPortfolios(
  name: string | undefined,
  names: ProviderNames,
  portfolios: PortfolioStore,
  around: AppEnvironment,
): Promise<readonly PortfolioRecord[]> {
  const providers = providersKey(names);
  const known = (await portfolios.all()).filter((portfolio) => portfolio.providers === providers);
  return name === undefined ? known : portfoliosNamed(name, known, around);
}

/** Those of the known ones that a person means: one for each provider that the list was run with. */
export function portfoliosNamed(
  name: string,
  known: readonly PortfolioRecord[],
  around: AppEnvironment,
): readonly PortfolioRecord[] {
  const found = known.filter((portfolio) => portfolio.name === name.trim() || portfolio.name === pathIn(around, name));
  if (found.length > 0) return found;
  const others = known.map((portfolio) => portfolio.name);
  throw new UsageError(
    `there is no portfolio ${name}.${didYouMean(name, others)}`,
    '`kybatch run <input>` makes one; its name is that of --portfolio, or the path of the input.',
  );
}
