import { type LoadedPipeline, pipelineSha256 } from '../config/pipeline.js';
import { DEFAULT_PATIENCE } from '../config/pipeline-schema.js';
import { parseDuration } from '../domain/options/duration.js';
import type { RunRecord } from '../ledger/runs.js';

/** What a run remembers of how it was started, so that it can be resumed without its files. */
export interface StoredSettings {
  readonly pipeline: LoadedPipeline;
  readonly fresh: boolean;
  readonly limit: number | null;
  /** The names of the providers it was started with. */
  readonly providers: readonly string[];
}

/** JSON knows no Infinity and would write null, which means "asked anew every time". */
export const storeSettings = (settings: StoredSettings): string =>
  JSON.stringify(settings, (_, value: unknown) => (value === Infinity ? Number.MAX_SAFE_INTEGER : value));

/**
 * What a run is found again by, beside its input: what is bought and how it is decided, from whom, and how much of the
 * input. The first rows of an input are another job than the whole of it, and a file that was tried on the sandbox is
 * still to be run for real.
 */
export const identityOf = ({ pipeline, limit, providers }: Omit<StoredSettings, 'fresh'>): string =>
  `${pipelineSha256(pipeline)}@${[...new Set(providers)].join()}${limit === null ? '' : `+limit=${limit}`}`;

export function readSettings({ settings }: Pick<RunRecord, 'settings'>): StoredSettings {
  const stored = JSON.parse(settings) as StoredSettings & { readonly pipeline: FirstPipeline };
  const { report, ...pipeline } = stored.pipeline;
  const options = pipeline.options ?? (report === undefined ? {} : { 'credit-report': report });
  const freshnessMs = Object.fromEntries(
    Object.entries(pipeline.freshnessMs as Readonly<Record<string, number | null>>).map(([operation, ms]) => [
      operation,
      ms ?? Number.POSITIVE_INFINITY,
    ]),
  );
  const providers = stored.providers ?? (pipeline.sha256.split('@')[1] ?? '').split(',');
  const patienceMs = pipeline.patienceMs ?? parseDuration(DEFAULT_PATIENCE);
  return { ...stored, providers, pipeline: { ...pipeline, options, freshnessMs, patienceMs } };
}

/** Version 0.1 kept the options of its one stage that had any beside it, and the providers in the digest. */
interface FirstPipeline extends LoadedPipeline {
  readonly report?: unknown;
}
