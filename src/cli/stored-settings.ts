import type { LoadedPipeline } from '../config/pipeline.js';
import type { StoredSettings } from '../engine/run.js';
import type { RunRecord } from '../ledger/ledger.js';

/** The settings a run was created with. JSON knows no Infinity: an answer that is good for ever came back as null. */
export function readStoredSettings(run: RunRecord): StoredSettings {
  const stored = JSON.parse(run.settings) as StoredSettings;
  const freshnessMs = Object.fromEntries(
    Object.entries(stored.pipeline.freshnessMs as Readonly<Record<string, number | null>>).map(([operation, ms]) => [
      operation,
      ms ?? Number.POSITIVE_INFINITY,
    ]),
  );
  return { ...stored, pipeline: { ...stored.pipeline, freshnessMs } as LoadedPipeline };
}
