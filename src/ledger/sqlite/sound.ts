import { hintFor } from '../../domain/system-failure.js';
import { DamagedLedger } from './damaged-ledger.js';
import type { Connection } from './driver.js';
import { impossibleNumber } from './impossible-number.js';

/**
 * Refuses a damaged file before anything is spent on it. A small one is checked whole. Of a large one the tables that
 * say what is owned and owed are walked through, those that grow most last and only as long as there is time: the
 * bodies, most of the file, are checked against their digests when they are read (docs/performance.md, "Opening a ledger").
 */
export function mustBeSound(database: Connection): void {
  const found = firstFault(database) ?? impossibleNumber(database);
  if (found === undefined) return;
  throw new DamagedLedger(database.name, found, hintFor('LEDGER_DAMAGED'));
}

const SMALL_BYTES = 32 * 1024 * 1024;
const ENOUGH_MS = 1_000;
const TABLES = [
  'environments',
  'allowances',
  'closures',
  'starts',
  'runs',
  'run_environments',
  'answers',
  'calls',
  'rows',
];

function firstFault(database: Connection): string | undefined {
  const sizeOf = (what: string) => database.pragma(what, { simple: true }) as number;
  if (sizeOf('page_count') * sizeOf('page_size') <= SMALL_BYTES) return verdict(database, 'integrity_check(1)');
  const there = new Set(
    database.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all(),
  );
  const began = performance.now();
  for (const table of TABLES) {
    if (performance.now() - began > ENOUGH_MS) return undefined;
    const fault = there.has(table) ? verdict(database, `quick_check('${table}')`) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function verdict(database: Connection, pragma: string): string | undefined {
  const said = String(database.pragma(pragma, { simple: true }));
  // Only the first line: the rest repeats it for every page.
  return said === 'ok' ? undefined : said.split('\n').slice(0, 2).join(' ');
}
