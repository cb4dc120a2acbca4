import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { readMarker } from '../export/export-marker.js';
import type { Ledger } from '../ledger/ledger.js';
import type { KnownRun } from '../ledger/reading.js';
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
 * Guard `new_ledger`: a log or an export tells of work with this provider that the ledger does not know: of a run that is
 * newer than all its runs, or of one of its runs after the last start of it that it knows. Runs that were pruned or dropped
 * are known by their calls. `ledger`: null where there is none yet.
 */
export async function newLedger(
  { dataDir, out }: { readonly dataDir: string; readonly out: string | undefined },
  names: ProviderNames,
  ledger: Pick<Ledger, 'runs' | 'reading'> | null,
): Promise<readonly GuardFinding[]> {
  const newest = ledger === null ? null : await ledger.reading.newestRunAt();
  for (const { run, where, trace } of tracesIn(dataDir, out)) {
    const known = await ledger?.reading.knownOf(run);
    const found = trace(names, known);
    // Of a removed run nothing more is asked than that it is known.
    const until = known === undefined ? newest : (known.heardAt ?? Number.POSITIVE_INFINITY);
    if (found === undefined || found.at <= (until ?? Number.NEGATIVE_INFINITY)) continue;
    const none = known === undefined ? 'knows none' : 'knows nothing of it';
    const since = until === null ? 'knows no run' : `${none} after ${isoTime(until)}`;
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
  /** When it was, if it has worked with one of these providers; of a run that is known, the newest that may be missing. */
  readonly trace: (names: ProviderNames, known: KnownRun | undefined) => Pick<Trace, 'at'> | undefined;
}

function tracesIn(dataDir: string, out: string | undefined): readonly Lead[] {
  const logs = namesIn(join(dataDir, 'logs')).flatMap((name): Lead[] => {
    const [, run] = /^(\d{4}-\d{2}-\d{2}-[0-9a-f]+)\.log$/.exec(name) ?? [];
    const where = join(dataDir, 'logs', name);
    return run === undefined ? [] : [{ run, where, trace: (names, known) => traceOfLog(where, names, known) }];
  });
  const folders = namesIn(join(dataDir, 'exports')).map((name) => join(dataDir, 'exports', name));
  const exports = [...folders, ...(out === undefined ? [] : [out])].flatMap((where): Lead[] => {
    const marker = readMarker(where);
    if (marker === undefined) return [];
    const { run, at, calls, providers } = marker;
    const isOurs = ({ v1, v2 }: ProviderNames) => providers.some((name) => name !== '' && (name === v1 || name === v2));
    // An export may be made at any time: only calls that the ledger does not have tell of more than it knows.
    const trace: Lead['trace'] = (names, known) =>
      calls > (known?.calls ?? 0) && isOurs(names) ? { at: Date.parse(at) } : undefined;
    return [{ run, where, trace }];
  });
  return [...logs, ...exports].toSorted((a, b) => (a.run < b.run ? 1 : -1)).slice(0, LOOKED_AT);
}

/**
 * A log that tells which providers it asked, and of a row that has moved: something was bought, or would have been. Only
 * a start that the ledger has taken down moves rows, so those of a run that is known are no newer than its starts.
 */
function traceOfLog(path: string, names: ProviderNames, known: KnownRun | undefined): Pick<Trace, 'at'> | undefined {
  const { head, tail } = endsOf(path);
  const [first = '', ...rest] = head.split('\n');
  const isRow = (line: string) => line.includes('"event":"row"');
  try {
    const { time, v1, v2, event } = JSON.parse(first) as Readonly<Record<string, unknown>>;
    const isOurs = event === 'start' && [v1, v2].some((name) => name && (name === names.v1 || name === names.v2));
    if (!isOurs || !rest.some(isRow)) return undefined;
    const [, last] = /"time":"([^"]+)"/.exec(tail.split('\n').findLast(isRow) ?? '') ?? [];
    const at = Date.parse(known === undefined ? String(time) : String(last));
    return Number.isNaN(at) ? undefined : { at };
  } catch {
    return undefined;
  }
}

function endsOf(path: string): { readonly head: string; readonly tail: string } {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LOG_BYTES);
    const from = (at: number) => bytes.toString('utf8', 0, readSync(file, bytes, 0, LOG_BYTES, at));
    return { head: from(0), tail: from(Math.max(0, fstatSync(file).size - LOG_BYTES)) };
  } finally {
    closeSync(file);
  }
}

/** What cannot be looked into leaves no trace: who writes there is told. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
