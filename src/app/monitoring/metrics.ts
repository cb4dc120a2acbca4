// Writes the metrics of a run to a file, in Prometheus format.

import { existsSync, readFileSync } from 'node:fs';
import type { LoadedPipeline } from '../../config/pipeline.js';
import { LedgerError, UsageError } from '../../domain/errors.js';
import type { Ledger } from '../../ledger/ledger.js';
import { ledgerBytes } from '../../ledger/open-ledger.js';
import { firstBytes, writeAtomically } from '../../util/files.js';
import { message } from '../../util/message-parts.js';
import { labelsInText, type Metric, prometheusText, type Sample } from '../../util/prometheus.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { redact } from '../../util/secret.js';
import { type AppEnvironment, pathIn } from '../environment.js';
import { fileTarget } from '../output-paths.js';
import type { ProviderNames } from '../provider/provider.js';
import { freeSpace } from '../run/guards.js';
import {
  type AttemptFigures,
  type FailedAttempt,
  type Figures,
  figuresOf,
  type LastExit,
  type ListFigures,
  type Measured,
  type ReportedAttempt,
} from './figures.js';

const MINUTE_MS = 60_000;

/** The place for metrics. A file with other content is refused: it would be overwritten. */
export function metricsTarget(
  named: string,
  dataDir: string,
  environment: AppEnvironment,
  reads: readonly string[],
): string {
  const path = fileTarget(pathIn(environment, named), dataDir, environment, reads, 'metrics.file');
  const start = firstBytes(path, METRICS_START.length);
  if (start !== '' && start !== METRICS_START)
    throw new UsageError(
      'OUT_NOT_METRICS',
      `${path} is not a metrics file of kybatch`,
      'Name another file with metrics.file. It need not exist.',
    );
  return path;
}

const METRICS_START = '# HELP kybatch_';

export type StopMetrics = (failed?: FailedAttempt) => Promise<void>;

/** Metrics in a file for a monitor. A failed write is noted once and fails nothing. */
export class MetricsFile {
  /** Units charged before the attempt that is followed. */
  #unitsBefore: number | undefined;
  #told = false;
  #isFollowed = false;
  /** The last attempt to write them succeeded. */
  #isWritten = false;

  private constructor(
    private readonly path: string,
    private readonly dataDir: string,
    private readonly environment: AppEnvironment,
  ) {}

  /** Null if the pipeline configures none. A place that is not free is refused before anything is spent. */
  static of(
    { metrics, file }: Pick<LoadedPipeline, 'metrics' | 'file'>,
    input: string,
    dataDir: string,
    environment: AppEnvironment,
  ): MetricsFile | null {
    if (metrics === null) return null;
    return new MetricsFile(metricsTarget(metrics.file, dataDir, environment, [input, file]), dataDir, environment);
  }

  /** A failure of the ledger is reported by the attempt. */
  async write(
    ledger: Ledger,
    names: ProviderNames,
    attempt: ReportedAttempt | null,
    failed?: FailedAttempt,
  ): Promise<void> {
    this.#isWritten = false;
    await this.#replace(async () => {
      const measured = await this.#measure(ledger, attempt);
      return metricsText(await figuresOf(ledger, names, attempt, measured, this.environment.clock.now(), failed));
    });
  }

  /** The exit of an attempt whose ledger cannot be read. Other figures of the ledger stay as they were. */
  async writeExit(portfolio: string, exit: LastExit): Promise<void> {
    if (this.#isWritten) return;
    await this.#replace(async () => {
      const before = existsSync(this.path) ? readFileSync(this.path, 'utf8') : '';
      const free = freeSpace(this.dataDir, this.environment) ?? null;
      return withExit(before, portfolio, exit, free, this.environment.clock.now());
    });
  }

  async #replace(text: () => Promise<string>): Promise<void> {
    try {
      // World-readable, because a monitor runs as another user. Never writable for others, whatever the umask.
      await writeAtomically(this.path, redact(await text()), 0o644);
      this.#isWritten = true;
    } catch (error) {
      if (error instanceof LedgerError) return;
      if (this.#told) return;
      this.#told = true;
      this.environment.onNote?.(
        message('METRICS_NOT_WRITTEN', `metrics.file ${this.path} cannot be written: ${(error as Error).message}`),
      );
    }
  }

  /** Sums all calls once, not every minute: only this attempt adds to them, unless there are other workers. */
  async #measure({ reading, claims }: Ledger, attempt: ReportedAttempt | null): Promise<Measured> {
    const spent = attempt === null ? 0 : (await reading.spent(attempt.attemptId)).units;
    if (this.#unitsBefore === undefined || attempt?.atWork !== true || claims !== undefined)
      this.#unitsBefore = (await reading.unitsCharged()) - spent;
    return {
      unitsCharged: this.#unitsBefore + spent,
      ledgerBytes: (await reading.databaseBytes()) ?? ledgerBytes(this.dataDir),
      freeBytes: freeSpace(this.dataDir, this.environment) ?? null,
    };
  }

  /** A refused attempt still writes the time and the unchanged lists. */
  async writeUnlessFollowed(ledger: Ledger, names: ProviderNames): Promise<void> {
    if (!this.#isFollowed) await this.write(ledger, names, null);
  }

  /** Writes the metrics when an attempt has begun and every minute. The returned function writes them at its end. */
  follow(ledger: Ledger, names: ProviderNames, attempt: Omit<ReportedAttempt, 'atWork'>): StopMetrics {
    const over = new AbortController();
    this.#isFollowed = true;
    const write = (atWork: boolean, failed?: FailedAttempt) =>
      this.write(ledger, names, { ...attempt, atWork }, failed);
    const going = this.#everyMinute(() => write(true), over.signal);
    return async (failed) => {
      over.abort();
      await going;
      await write(false, failed);
    };
  }

  async #everyMinute(write: () => Promise<void>, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await write();
      await this.environment.clock.sleep(MINUTE_MS, over).catch(() => {});
    }
  }
}

/** The metrics in Prometheus format. Names of lists come from outside, so they are only used as labels. */
export function metricsText(figures: Figures): string {
  const { at, lists, unknownCharges, unitsLeft, attempt } = figures;
  return prometheusText([
    ofLists(lists, 'rows', 'Rows of the list by outcome.', ({ outcomes }) => counted('outcome', outcomes)),
    ofLists(lists, 'rows_due', 'Due rows that are not done.', ({ due }) => [plain(due)]),
    ofLists(lists, 'rows_held', 'Due rows on hold, by reason.', ({ held }) => counted('reason', held)),
    ofLists(lists, 'oldest_answer_age_seconds', 'Age of the oldest answer that the list uses.', ({ oldestAnswerAt }) =>
      maybe(oldestAnswerAt, (fetchedAt) => (at - fetchedAt) / 1000),
    ),
    ofLists(
      lists,
      'last_success_timestamp_seconds',
      'When an attempt on the list last finished.',
      ({ lastSuccessAt }) => maybe(lastSuccessAt, (time) => time / 1000),
    ),
    lastExits(lists),
    ofLists(lists, 'members_left', 'Companies that left the file when it was last read.', ({ departed }) => [
      plain(departed),
    ]),
    ofLists(lists, 'workers', 'Processes that work on the list.', ({ workers }) => [plain(workers)]),
    ofLists(lists, 'outage_since_timestamp_seconds', 'Since when the provider does not answer.', ({ outages }) =>
      outages.map(({ api, operation, since }) => ({
        labels: { api, operation: operation ?? '' },
        value: since / 1000,
      })),
    ),
    one('calls_in_doubt', 'Calls with unknown charge that a person has to record.', [plain(unknownCharges)]),
    {
      ...one('units_charged_total', 'Charged units of all attempts.', [plain(figures.unitsCharged)]),
      isTotal: true,
    },
    one(
      'drift_units',
      'Units of the last seven days that the provider counts beyond this ledger, without calls with unknown charge.',
      figures.drift.map(({ api, units }) => ({ labels: { api }, value: units })),
    ),
    one(
      'permission_left',
      'What is left of a permission, as v2 reports it.',
      ofPermissions(figures, ({ left }) => left),
    ),
    one(
      'permission_drift',
      'What v2 counted since the last attempt beyond the calls of this ledger.',
      ofPermissions(figures, ({ drift }) => drift),
    ),
    one(
      'ledger_bytes',
      'Size of the ledger: of its file, or of its database in PostgreSQL.',
      maybe(figures.ledgerBytes, (bytes) => bytes),
    ),
    diskFree(figures.freeBytes),
    one(
      'units_left',
      'Units left of the plan and of the day, as the provider reports them, and of the limit of the attempt.',
      [
        ...unitsLeft.map(({ api, of, units }) => ({ labels: { api, of }, value: units })),
        ...maybe(attempt?.budgetLeft ?? null, (units) => units, { api: 'v1', of: 'start' }),
      ],
    ),
    ...(attempt === null ? [] : ofAttempt(attempt)),
    written(at),
  ]);
}

/** The text with another exit, free space and time. The attempt is over. */
function withExit(before: string, portfolio: string, lastExit: LastExit, freeBytes: number | null, at: number): string {
  const [exit, disk, time] = [lastExits([{ name: portfolio, lastExit }]), diskFree(freeBytes), written(at)];
  const isReplaced = (family: string) => [exit, disk, time].some(({ name }) => family.startsWith(`# HELP ${name} `));
  const families = before.split(/^(?=# HELP )/m);
  const kept = families.filter((family) => !isReplaced(family)).join('');
  const ofList = `${exit.name}${labelsInText({ portfolio: label(portfolio) }).replace(/\}$/, ',')}`;
  const ofOthers = before.split('\n').filter((line) => line.startsWith(`${exit.name}{`) && !line.startsWith(ofList));
  return [
    kept.replaceAll(/^(kybatch_start_at_work\b.*) 1$/gm, '$1 0'),
    prometheusText([exit]),
    ...ofOthers.map((line) => `${line}\n`),
    prometheusText([disk, time]),
  ].join('');
}

const lastExits = (lists: readonly Pick<ListFigures, 'name' | 'lastExit'>[]): Metric =>
  ofLists(lists, 'last_exit_code', 'Exit code of the last attempt on the list, and why. -1: it died.', ({ lastExit }) =>
    maybe(lastExit, ({ code }) => code, { reason: label(lastExit?.reason ?? '') }),
  );

const diskFree = (freeBytes: number | null): Metric =>
  one(
    'disk_free_bytes',
    'Free space on the disk of the data directory.',
    maybe(freeBytes, (bytes) => bytes),
  );

const written = (at: number): Metric =>
  one('written_timestamp_seconds', 'When these figures were written.', [plain(at / 1000)]);

function ofAttempt({ list, atWork, spent, calls }: AttemptFigures): readonly Metric[] {
  const labels = list === null ? {} : { portfolio: label(list) };
  const figure = (name: string, help: string, value: number) => one(name, help, [{ labels, value }]);
  return [
    figure('start_at_work', 'Whether the attempt that wrote this is running.', atWork ? 1 : 0),
    figure('start_units_spent', 'Units that this attempt has spent.', spent.units),
    figure('start_credit_reports', 'Credit reports that this attempt has bought.', spent.reports),
    figure('start_unknown_charges', 'Calls of this attempt with unknown charge.', spent.unknown),
    one(
      'start_calls',
      'Calls of this attempt by operation, HTTP status (empty: no response) and class: ok, owned (reused), under_way (in flight), or an error class.',
      calls.map(({ api, operation, class: kind, httpStatus, count }) => ({
        labels: { ...labels, api, operation, class: kind, http: String(httpStatus ?? '') },
        value: count,
      })),
    ),
  ];
}

const one = (name: string, help: string, samples: readonly Sample[]): Metric => ({
  name: `kybatch_${name}`,
  help,
  samples,
});

const ofLists = <List extends Pick<ListFigures, 'name'>>(
  lists: readonly List[],
  name: string,
  help: string,
  samplesOf: (list: List) => readonly Sample[],
): Metric =>
  one(
    name,
    help,
    lists.flatMap((list) =>
      samplesOf(list).map(({ labels, value }) => ({ labels: { portfolio: label(list.name), ...labels }, value })),
    ),
  );

const ofPermissions = (
  { permissions }: Figures,
  value: (use: Figures['permissions'][number]) => number | null,
): readonly Sample[] =>
  permissions.flatMap((use) =>
    maybe(value(use), (known) => known, { permission: label(use.permission), metric: label(use.metric) }),
  );

const plain = (value: number): Sample => ({ labels: {}, value });

const counted = (name: string, counts: Readonly<Record<string, number>>): readonly Sample[] =>
  Object.entries(counts).map(([key, value]) => ({ labels: { [name]: key }, value }));

const maybe = <T>(known: T | null, value: (known: T) => number, labels: Sample['labels'] = {}): readonly Sample[] =>
  known === null ? [] : [{ labels, value: value(known) }];

const label = (name: string): string => sanitizeText(name);
