import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { readMarker } from '../export/export-marker.js';
import type { Ledger } from '../ledger/ledger.js';
import { isoTime } from '../util/iso-time.js';
import type { GuardFinding } from './guards.js';
import type { ProviderNames } from './provider.js';

/** A run that something beside the ledger tells of. */
interface Trace {
  readonly run: string;
  readonly at: number;
  readonly where: string;
}

/** The newest are enough: what is older than the ledger's own runs says nothing. */
const LOOKED_AT = 50;
const LOG_BYTES = 65_536;

/**
 * Guard `new_ledger`: a log or an export tells of a run that worked with this provider, and the ledger knows neither the run
 * nor a later one. Runs that were pruned or dropped are known by their calls. `ledger`: null where there is none yet.
 */
export async function newLedger(
  { dataDir, out }: { readonly dataDir: string; readonly out: string | undefined },
  names: ProviderNames,
  ledger: Pick<Ledger, 'runs' | 'reading'> | null,
): Promise<readonly GuardFinding[]> {
  const newest = ledger === null ? null : await ledger.reading.newestRunAt();
  for (const { run, where, trace } of tracesIn(dataDir, out)) {
    if (ledger !== null && (await ledger.reading.knowsRun(run))) continue;
    const found = trace(names);
    if (found === undefined || found.at <= (newest ?? Number.NEGATIVE_INFINITY)) continue;
    const since = newest === null ? 'knows no run' : `knows none after ${isoTime(newest)}`;
    return [
      {
        guard: 'new_ledger',
        message: `${where} tells of run ${run} (${isoTime(found.at)}), and the ledger ${since}: what was bought then would be bought again`,
        hint: 'Name the data directory or database (--data-dir, KYBATCH_LEDGER_URL) that holds it, or restore the newest backup.',
      },
    ];
  }
  return [];
}

interface Lead {
  readonly run: string;
  readonly where: string;
  /** When it was, if it has worked with one of these providers. */
  readonly trace: (names: ProviderNames) => Pick<Trace, 'at'> | undefined;
}

function tracesIn(dataDir: string, out: string | undefined): readonly Lead[] {
  const logs = namesIn(join(dataDir, 'logs')).flatMap((name): Lead[] => {
    const [, run] = /^(\d{4}-\d{2}-\d{2}-[0-9a-f]+)\.log$/.exec(name) ?? [];
    const where = join(dataDir, 'logs', name);
    return run === undefined ? [] : [{ run, where, trace: (names) => traceOfLog(where, names) }];
  });
  const folders = namesIn(join(dataDir, 'exports')).map((name) => join(dataDir, 'exports', name));
  const exports = [...folders, ...(out === undefined ? [] : [out])].flatMap((where): Lead[] => {
    const marker = readMarker(where);
    if (marker === undefined) return [];
    const { run, at, calls, providers } = marker;
    const isOurs = ({ v1, v2 }: ProviderNames) => providers.some((name) => name !== '' && (name === v1 || name === v2));
    return [{ run, where, trace: (names) => (calls > 0 && isOurs(names) ? { at: Date.parse(at) } : undefined) }];
  });
  return [...logs, ...exports].toSorted((a, b) => (a.run < b.run ? 1 : -1)).slice(0, LOOKED_AT);
}

/** A log that tells which providers it asked, and of a row that has moved: something was bought, or would have been. */
function traceOfLog(path: string, names: ProviderNames): Pick<Trace, 'at'> | undefined {
  const [first = '', ...rest] = headOf(path).split('\n');
  try {
    const { time, v1, v2, event } = JSON.parse(first) as Readonly<Record<string, unknown>>;
    const isOurs = event === 'start' && [v1, v2].some((name) => name && (name === names.v1 || name === names.v2));
    const at = Date.parse(String(time));
    return isOurs && !Number.isNaN(at) && rest.some((line) => line.includes('"event":"row"')) ? { at } : undefined;
  } catch {
    return undefined;
  }
}

function headOf(path: string): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LOG_BYTES);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, LOG_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);
