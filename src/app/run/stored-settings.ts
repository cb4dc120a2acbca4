import {
  type LoadedPipeline,
  NO_GUARDS,
  NO_WATCH,
  ONE_PERSON,
  pipelineSha256,
  toShared,
} from '../../config/pipeline.js';
import { DEFAULT_PATIENCE } from '../../config/pipeline-schema.js';
import { pipelineArgument } from '../../config/user-files.js';
import { IMPORTANT_CHANGES } from '../../domain/change.js';
import { parseDuration } from '../../domain/freshness.js';
import { canonicalBaseUrl } from '../../domain/urls.js';
import type { ReadingOptions } from '../../input/types.js';
import { isRecord, parseStored, readStored } from '../../ledger/db/stored-json.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { stages } from '../../stages/list.js';
import type { ContinueStep } from './next-step.js';

export interface StoredSettings {
  readonly pipeline: LoadedPipeline;
  readonly fresh: boolean;
  readonly limit: number | null;
  readonly portfolio?: string | undefined;
  /** How its file was to be read, if options said so. */
  readonly reading?: ReadingOptions | undefined;
  readonly providers: readonly string[];
  /** The recipient is only in the pipeline file, because an address may contain a password. */
  readonly notifies?: boolean | undefined;
}

/** JSON writes Infinity as null, which would mean "ask again every time". */
export function storeSettings({ pipeline, ...settings }: StoredSettings): string {
  const { notify, ...kept } = pipeline;
  const stored = { ...settings, pipeline: kept, ...(notify === null ? {} : { notifies: true }) };
  return JSON.stringify(stored, (_, value: unknown) => (value === Infinity ? Number.MAX_SAFE_INTEGER : value));
}

/** A run is another one for its first rows alone, for another pipeline, and on the sandbox. */
export const identityOf = ({ pipeline, limit, providers }: Omit<StoredSettings, 'fresh'>): string =>
  `${pipelineSha256(pipeline)}@${[...new Set(providers)].join()}${limit === null ? '' : `+limit=${limit}`}`;

export const readSettings = ({ id, settings }: Pick<RunRecord, 'id' | 'settings'>): StoredSettings =>
  withCurrentDefaults(readStored(settings, isSettings, { ...SETTINGS, run: id }));

/** The same for settings that may be damaged. */
export function findSettings({ settings }: Pick<RunRecord, 'settings'>): StoredSettings | undefined {
  const stored = parseStored(settings, isSettings);
  return stored && withCurrentDefaults(stored);
}

/** Fills in the defaults of settings that an older version did not have. */
function withCurrentDefaults(stored: FirstSettings): StoredSettings {
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
  // Older versions stored them as they were typed.
  const providers = (stored.providers ?? (pipeline.sha256.split('@')[1] ?? '').split(',')).map(canonicalBaseUrl);
  const patienceMs = pipeline.patienceMs ?? parseDuration(DEFAULT_PATIENCE);
  const { metrics = null, prices = null, tables = 'at_every_stop', review = ONE_PERSON } = pipeline;
  const { keepExports = null, partsAbove = null } = pipeline;
  const withAll = {
    ...pipeline,
    search,
    match: { ...pipeline.match, legalForm: pipeline.match?.legalForm ?? 'note' },
    review,
    // Older versions stored a boolean.
    idsShared: toShared(pipeline.idsShared),
    guards,
    importantChanges,
    watch,
    options,
    freshnessMs,
    patienceMs,
    tables,
    keepExports,
    partsAbove,
    prices,
    metrics,
    notify: null,
  };
  return { ...stored, providers, pipeline: withAll };
}

/** Reads no more of the settings than this, because listing runs needs no more. */
export const isFresh = (run: Pick<RunRecord, 'id' | 'settings'>): boolean =>
  readStored(run.settings, isRecord, { ...SETTINGS, run: run.id }).fresh === true;

/** The same for lists, which also show runs with damaged settings. */
export const isFreshIfReadable = ({ settings }: Pick<RunRecord, 'settings'>): boolean =>
  parseStored(settings, isRecord)?.fresh === true;

const SETTINGS = { table: 'runs', column: 'settings' };

type FirstSettings = StoredSettings & { readonly pipeline: FirstPipeline };

const isSettings = (value: unknown): value is FirstSettings =>
  isRecord(value) &&
  isRecord(value.pipeline) &&
  isRecord(value.pipeline.freshnessMs) &&
  typeof value.pipeline.sha256 === 'string';

/** The files that a run was started with, as far as they can be read. */
export function filesOf({ inputPath, settings }: Pick<RunRecord, 'inputPath' | 'settings'>): readonly string[] {
  const { file } = parseStored(settings, isSettings)?.pipeline ?? {};
  return file === undefined ? [inputPath] : [inputPath, file];
}

export function jobOf(run: RunRecord) {
  const { pipeline, limit, portfolio, reading } = readSettings(run);
  return { input: run.inputPath, pipeline: pipelineArgument(pipeline), limit, portfolio, reading };
}

/** The step that begins a run again if it was stopped while its input was read. */
export const rereadStep = (run: RunRecord) =>
  ({ kind: 'run', ...jobOf(run), fresh: isFresh(run) }) as const satisfies ContinueStep;

/** Options that did not exist when the run was created get their defaults. */
const withDefaults = (stored: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(stored).map(([name, said]) => {
      const schema = stages.find((stage) => stage.name === name)?.options?.schema;
      return [name, { ...(schema?.parse(undefined) as object | undefined), ...(said as object | undefined) }];
    }),
  );

/** Version 0.1 stored the options of its one configurable stage in the pipeline, and the providers in the digest. */
interface FirstPipeline extends LoadedPipeline {
  readonly report?: unknown;
}
