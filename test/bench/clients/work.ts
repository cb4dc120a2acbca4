import { readFileSync } from 'node:fs';

/** The input of each client: the provider's address, and four calls for each row. */
export interface Work {
  readonly buildFolder: string;
  readonly origin: string;
  readonly keys: { readonly v1: string; readonly v2: string };
  /** The rows as a CSV, for the pipeline. */
  readonly input: string;
  readonly pipeline: string;
  readonly routes: string;
  readonly concurrency: number;
  /** The file for the pipeline’s requests, row by row, so that other clients can send them too. */
  readonly requests?: string;
  /** Whether rows may have another outcome than `complete`. */
  readonly anyOutcome?: boolean;
  readonly rows: readonly WorkRow[];
}

/** Other clients know the IDs beforehand. */
export interface WorkRow {
  readonly location: string;
  readonly registrationNumber: string;
  readonly v1Id: string;
  readonly v2Id: string;
}

export interface Done {
  readonly rows: number;
  readonly seconds: number;
  /** Of this process, on all threads. */
  readonly cpuSeconds: number;
  readonly rssMb: number;
  readonly bytesOnDisk: number;
}

export const readWork = (): Work => JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Work;

export function startMeter(): () => Pick<Done, 'seconds' | 'cpuSeconds'> {
  const started = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return { seconds: (performance.now() - started) / 1000, cpuSeconds: (user + system) / 1e6 };
  };
}

export function tellDone(done: Omit<Done, 'rssMb'>): void {
  process.send?.({ ...done, rssMb: Math.round(process.resourceUsage().maxRSS / 1024) } satisfies Done);
  process.disconnect?.();
}

export interface WorkCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export function callsOf({ keys }: Work, row: WorkRow): readonly WorkCall[] {
  const v1 = { authorization: `Bearer ${keys.v1}` };
  const v2 = { authorization: `Token ${keys.v2}` };
  const json = { 'content-type': 'application/json' };
  const search = JSON.stringify({ location: row.location, registration_number: row.registrationNumber });
  return [
    { method: 'POST', path: '/api/v1/kyb/search', headers: { ...v1, ...json }, body: search },
    { method: 'GET', path: `/api/v1/kyb/${row.v1Id}/full`, headers: v1, body: null },
    { method: 'POST', path: '/api/v2/kyb/search', headers: { ...v2, ...json }, body: search },
    { method: 'GET', path: `/api/v2/financial/${row.v2Id}`, headers: v2, body: null },
  ];
}
