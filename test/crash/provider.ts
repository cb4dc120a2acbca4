import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxOptions, SandboxPlace } from '../../src/sandbox/index.js';

export interface ProviderCharge {
  readonly api: 'v1' | 'v2' | 'mcp';
  readonly operation: string;
  readonly requestId: string;
  readonly params: string;
}

/** The provider's counts, as the reference. */
export interface Judge {
  readonly charges: readonly ProviderCharge[];
  /** The companies of the generated reports, once per report. */
  readonly reports: readonly string[];
}

export interface Provider {
  /** The environment of a kybatch that uses it. */
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
  judge(): Judge;
  setAllowance(units: number): Promise<void>;
  stop(): Promise<void>;
}

/** Only options that can be serialised. Without a journal there are no counts to compare. */
export async function startProvider(options: SandboxOptions): Promise<Provider> {
  const { journal } = options;
  const child = fork(join(import.meta.dirname, 'provider.mjs'), [JSON.stringify(options)], { execArgv: [] });
  const [place] = (await Promise.race([once(child, 'message'), failing(child)])) as [
    Pick<SandboxPlace, 'v1BaseUrl' | 'v2BaseUrl' | 'routesFile' | 'keys'>,
  ];
  return {
    env: {
      KYBATCH_V1_BASE_URL: place.v1BaseUrl,
      KYBATCH_V1_API_KEY: place.keys.v1,
      KYBATCH_V2_BASE_URL: place.v2BaseUrl,
      KYBATCH_V2_API_KEY: place.keys.v2,
      KYBATCH_V2_ROUTES: place.routesFile,
    },
    pid: child.pid ?? 0,
    judge: () => readJudge(journal),
    async setAllowance(allowance) {
      child.send({ allowance });
      await once(child, 'message');
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

async function failing(child: ReturnType<typeof fork>): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`the provider ended with ${code}`);
}

interface JournalLine {
  readonly type: string;
  readonly charge?: ProviderCharge;
  readonly report?: { readonly sourceId: string };
}

function readJudge(journal: string | undefined): Judge {
  const lines = journal !== undefined && existsSync(journal) ? readFileSync(journal, 'utf8').split('\n') : [];
  const entries = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as JournalLine);
  return {
    charges: entries.flatMap(({ charge }) => charge ?? []),
    reports: entries.flatMap(({ report }) => report?.sourceId ?? []),
  };
}
