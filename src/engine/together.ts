import type { Door } from '../calls/door.js';
import type { BatchApi, ByApi } from '../domain/api-name.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Clock } from '../util/clock.js';
import type { Listen, RunEvent } from './events.js';

export interface TogetherOptions {
  readonly runId: string;
  readonly startId: number;
  readonly ledger: Pick<Ledger, 'runs' | 'signals'>;
  readonly environments: ByApi<number | null>;
  readonly door: Pick<Door, 'hearOfSlowDown'>;
  readonly clock: Clock;
  readonly listen: Listen;
}

export interface Together {
  readonly listen: (event: RunEvent) => void;
  stop(): Promise<void>;
}

/** How often it is counted what all of them have come to. */
const COUNT_MS = 2000;
/** In a large run that takes time: it is counted again after so many times as long. */
const RESTS = 20;

const ALONE: Together = { listen: () => {}, stop: async () => {} };

/** What those who work on one run tell each other: to slow down; and how far all of them have come. */
export async function workTogether(options: TogetherOptions): Promise<Together> {
  const { runId, startId, ledger, environments, door, clock, listen } = options;
  const { signals, runs } = ledger;
  if (signals === undefined) return ALONE;
  const apis = (['v1', 'v2'] as const).filter((api) => environments[api] !== null);
  const stopListening = await signals.listen((signal) => {
    const api = apis.find((one) => environments[one] === signal.environmentId);
    if (api !== undefined && signal.startId !== startId) door.hearOfSlowDown(api, signal.pauseMs);
  });
  const stopped = new AbortController();
  const counting = (async () => {
    for (let took = 0; ; ) {
      await clock.sleep(Math.max(COUNT_MS, RESTS * took), stopped.signal);
      const begun = clock.now();
      listen({ kind: 'counted', progress: await runs.progress(runId) });
      took = clock.now() - begun;
    }
  })().catch(() => {});
  return {
    listen(event) {
      const environmentId = event.kind === 'slowed' && isOfBatch(event.api) ? environments[event.api] : null;
      if (event.kind !== 'slowed' || environmentId == null) return;
      signals.tell({ kind: 'slow_down', startId, environmentId, pauseMs: event.pauseMs }).catch(() => {});
    },
    async stop() {
      stopped.abort();
      await counting;
      await stopListening();
    },
  };
}

const isOfBatch = (api: string): api is BatchApi => api === 'v1' || api === 'v2';
