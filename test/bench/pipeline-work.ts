import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import type { Done, Work, WorkRow } from './clients/work.js';
import { median } from './measure.js';
import { type Row, ratio, whole } from './table.js';

/** How many calls kybatch has in flight on each API. */
export const PER_API = 64;

/** A client runs in its own process. */
export function runClient(file: string, ...args: readonly string[]): Promise<Done> {
  return new Promise((resolve, reject) => {
    const child = fork(file, args);
    let done: Done | undefined;
    child.on('message', (message) => {
      done = message as Done;
    });
    child.on('exit', (code) =>
      done !== undefined && code === 0 ? resolve(done) : reject(new Error(`${file} ended with ${code}`)),
    );
  });
}

/** Writes the work as a file for the clients, with the input and the pipeline for kybatch. Returns its path. */
export function writeWork(
  path: string,
  folder: string,
  count: number,
  { concurrency, ...shared }: Pick<Work, 'buildFolder' | 'origin' | 'keys' | 'concurrency' | 'requests' | 'anyOutcome'>,
  file = 'stages: [record, financials]\nsearch: {attempts: 1}\n',
): string {
  const companies = largeCompanies(count);
  const input = `${path}.csv`;
  const pipeline = join(folder, 'bench.yaml');
  const quote = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  const lines = companies.map(({ name, location, registrationNumber }) =>
    [name, location, registrationNumber].map(quote).join(','),
  );
  writeFileSync(input, `name,country,registration_number\n${lines.join('\n')}\n`);
  writeFileSync(pipeline, file);
  const routes = join(shared.buildFolder, 'sandbox', 'routes.yaml');
  writeFileSync(
    path,
    JSON.stringify({ ...shared, input, pipeline, routes, concurrency, rows: companies } satisfies Work),
  );
  return path;
}

/** Companies with long records and unique numbers that both APIs know. */
function largeCompanies(count: number): (WorkRow & { readonly name: string })[] {
  const registry = createRegistry({ seed: 1 });
  const found: (WorkRow & { readonly name: string })[] = [];
  for (let index = 0; found.length < count && index < registry.size; index++) {
    const company = registry.company(index);
    const { name, countryCode: location, registrationNumber, v1Id, v2Id } = company;
    const traits = registry.traits(company);
    const whole = !traits.noAccounts && !traits.noRecord && !traits.unknownToV2 && !traits.identityMismatch;
    if (!traits.large || !whole || registrationNumber === null || BY_STATE.has(location)) continue;
    if (registry.search({ location, registrationNumber }, 'forgiving').length !== 1) continue;
    found.push({ name, location, registrationNumber, v1Id, v2Id });
  }
  return found;
}

/** Countries in which a number is unique only together with a state or a court. */
const BY_STATE = new Set(['US', 'CA', 'CN', 'DE']);

/** The first is the reference for the others. */
export function toTable(names: readonly string[], results: readonly (readonly Done[])[]): Row[] {
  const speeds = results.map((dones) => median(dones.map(({ rows, seconds }) => rows / seconds)));
  const [ours = Number.NaN] = speeds;
  return names.map((name, index) => {
    const dones = results[index] ?? [];
    return {
      client: name,
      'rows/s': whole(speeds[index] ?? Number.NaN),
      'lowest to highest': spread(dones.map(({ rows, seconds }) => rows / seconds)),
      'kybatch is': `${ratio(ours / (speeds[index] ?? Number.NaN))} times`,
      'CPU ms a row': median(dones.map(({ cpuSeconds, rows }) => (cpuSeconds * 1000) / rows)).toFixed(2),
      'KB on disk a row': whole(median(dones.map(({ bytesOnDisk, rows }) => bytesOnDisk / rows / 1024))),
      'RSS MB': whole(median(dones.map(({ rssMb }) => rssMb))),
    };
  });
}

const spread = (values: readonly number[]): string => `${whole(Math.min(...values))} to ${whole(Math.max(...values))}`;
