// A thread that works out what is due in every list, so that pages do not wait for it.

import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../../util/clock.js';
import type { ProviderOptions } from '../provider/provider.js';
import { portfolios } from './portfolios.js';

export interface DueWork {
  readonly options: ProviderOptions;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const { options, cwd, env } = workerData as DueWork;
parentPort?.postMessage(await portfolios(options, { cwd, env, clock: systemClock }));
