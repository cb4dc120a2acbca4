import { pipelineArgument } from '../../config/find-pipeline.js';
import {
  type LoadedPipeline,
  NO_GUARDS,
  NO_WATCH,
  ONE_PERSON,
  pipelineSha256,
  toShared,
} from '../../config/pipeline.js';
import { DEFAULT_PATIENCE } from '../../config/pipeline-schema.js';
import { IMPORTANT_CHANGES } from '../../domain/change.js';
import { parseDuration } from '../../domain/options.js';
import { canonicalBaseUrl } from '../../domain/urls.js';
import type { ReadingOptions } from '../../input/types.js';
import { isRecord, parseStored, readStored } from '../../ledger/db/stored-json.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { stages } from '../../stages/list.js';
import type { ContinueStep } from './next-step.js';

/** What a run remembers of how it was started, so that it can be resumed without its files. */
export interface StoredSettings {
  readonly pipeline: LoadedPipeline;
  readonly fresh: boolean;
  readonly limit: number | null;
  /** The name of the portfolio, where one was given. */
  readonly portfolio?: string | undefined;
  /** How its file was to be read, where that was said. */
  readonly reading?: ReadingOptions | undefined;
  /** The names of the providers it was started with. */
  readonly providers: readonly string[];
  /** Somebody was to be told how it ends. Whom, only the pipeline file says: an address may be a password. */
  readonly notifies?: boolean | undefined;
}

/** JSON knows no Infinity and would write null, which means "asked anew every time". */
export function storeSettings({ pipeline, ...settings }: StoredSettings): string {
  const { notify, ...kept } = pipeline;
  const stored = { ...settings, pipeline: kept, ...(notify === null ? {} : { notifies: true }) };
  return JSON.stringify(stored, (_, value: unknown) => (value === Infinity ? Number.MAX_SAFE_INTEGER : value));
}

/**
 * What a run is found again by, beside its input: what is bought and how it is decided, from whom, and how much of the
 * input. The first rows of an input are another job than the whole of it, and a file that was tried on the sandbox is
 * still to be run for real.
 */
export const identityOf = ({ pipeline, limit, providers }: Omit<StoredSettings, 'fresh'>): string =>
  `${pipelineSha256(pipeline)}@${[...new Set(providers)].join()}${limit === null ? '' : `+limit=${limit}`}`;

export const readSettings = ({ id, settings }: Pick<RunRecord, 'id' | 'settings'>): StoredSettings =>
  asOfNow(readStored(settings, isSettings, { ...SETTINGS, run: id }));

/** The same where it may be damaged. */
export function findSettings({ settings }: Pick<RunRecord, 'settings'>): StoredSettings | undefined {
  const stored = parseStored(settings, isSettings);
  return stored && asOfNow(stored);
}

/** As this version has them: what there was not yet has its default. */
function asOfNow(stored: FirstSettings): StoredSettings {
  const { report, ...pipeline } = stored.pipeline;
  const options = withDefaults(pipeline.options ?? (report === undefined ? {} : { 'credit-report': report }));
  const freshnessMs = Object.fromEntries(
    Object.entries(pipeline.freshnessMs as Readonly<Record<string, number | null>>).map(([operation, ms]) => [
      operation,
      ms ?? Number.POSITIVE_INFINITY,
    ]),
  );
  const guards = pipeline.guards ?? NO_GUARDS;
  const watch = pipeline.watch ?? NO_WATCH;
  const importantChanges = pipeline.importantChanges ?? IMPORTANT_CHANGES;
  const search = { ...pipeline.search, fallback: pipeline.search?.fallback ?? [] };
  // Versions before kept them as they were spelt.
  const providers = (stored.providers ?? (pipeline.sha256.split('@')[1] ?? '').split(',')).map(canonicalBaseUrl);
  const patienceMs = pipeline.patienceMs ?? parseDuration(DEFAULT_PATIENCE);
  const { metrics = null, tables = 'at_every_stop', review = ONE_PERSON } = pipeline;
  const withAll = {
    ...pipeline,
    search,
    match: { ...pipeline.match, legalForm: pipeline.match?.legalForm ?? 'note' },
    review,
    // Versions before kept a yes or no.
    idsShared: toShared(pipeline.idsShared),
    guards,
    importantChanges,
    watch,
    options,
    freshnessMs,
    patienceMs,
    tables,
    metrics,
    notify: null,
  };
  return { ...stored, providers, pipeline: withAll };
}

/** Answers from before the run are not used. Whoever only lists runs needs no more of how they were started. */
export const isFresh = (run: Pick<RunRecord, 'id' | 'settings'>): boolean =>
  readStored(run.settings, isRecord, { ...SETTINGS, run: run.id }).fresh === true;

/** The same for lists, in which a run whose settings are damaged is shown with the others. */
export const looksFresh = ({ settings }: Pick<RunRecord, 'settings'>): boolean =>
  parseStored(settings, isRecord)?.fresh === true;

const SETTINGS = { table: 'runs', column: 'settings', row: null, id: null };

type FirstSettings = StoredSettings & { readonly pipeline: FirstPipeline };

const isSettings = (value: unknown): value is FirstSettings =>
  isRecord(value) &&
  isRecord(value.pipeline) &&
  isRecord(value.pipeline.freshnessMs) &&
  typeof value.pipeline.sha256 === 'string';

/** The files that a run was started with, as far as that can be read. */
export function filesOf({ inputPath, settings }: Pick<RunRecord, 'inputPath' | 'settings'>): readonly string[] {
  const { file } = parseStored(settings, isSettings)?.pipeline ?? {};
  return file === undefined ? [inputPath] : [inputPath, file];
}

/** What the run was started with, as it is said on a command line. */
export function jobOf(run: RunRecord) {
  const { pipeline, limit, portfolio, reading } = readSettings(run);
  return { input: run.inputPath, pipeline: pipelineArgument(pipeline), limit, portfolio, reading };
}

/** What starts a run again that was stopped while its input was being read. */
export const readAgain = (run: RunRecord): ContinueStep => ({ kind: 'run', ...jobOf(run), fresh: isFresh(run) });

/** An option that there was not yet when the run was started has its default. */
const withDefaults = (stored: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(stored).map(([name, said]) => {
      const schema = stages.find((stage) => stage.name === name)?.options?.schema;
      return [name, { ...(schema?.parse(undefined) as object | undefined), ...(said as object | undefined) }];
    }),
  );

/** Version 0.1 had no guards, and kept the options of its one stage that had any beside it, and the providers in the digest. */
interface FirstPipeline extends LoadedPipeline {
  readonly report?: unknown;
}
