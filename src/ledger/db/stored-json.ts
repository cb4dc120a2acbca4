import { LedgerError } from '../../domain/errors.js';

/** Where a text stands in the ledger: `rows.stages` of row 3 of a run. */
export interface StoredPlace {
  readonly table: string;
  readonly column: string;
  readonly run: string | null;
  readonly row: number | null;
  /** Of what is numbered on its own: a call, a start, a decision. */
  readonly id: number | null;
}

/** What a stored text says; undefined where it is damaged: no JSON, or none of the form it was written in. */
export function parseStored<T>(text: string, fits: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return fits(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a stored text says; a damaged one ends what is done, with its place and what leads on. */
export function readStored<T>(text: string, fits: (value: unknown) => value is T, place: StoredPlace): T {
  const value = parseStored(text, fits);
  if (value === undefined) throw damagedRecord([place]);
  return value;
}

/** Nothing can be made of these. The first few are named; `kybatch doctor --deep` names all. */
export function damagedRecord(places: readonly StoredPlace[]): LedgerError {
  const named = places.slice(0, NAMED).map(placeInWords).join('; ');
  const more = places.length > NAMED ? ` and ${places.length - NAMED} more` : '';
  const runs = [...new Set(places.flatMap(({ run }) => run ?? []))];
  return damagedRun(`${named}${more} cannot be read`, runs);
}

/** Something that these runs rest on does not hold. */
export function damagedRun(what: string, runs: readonly string[]): LedgerError {
  return new LedgerError(undefined, undefined, {
    message: `the ledger is damaged: ${what}`,
    code: 'LEDGER_DAMAGED',
    hint: `Nothing was sent, nothing was spent. Restore a copy of the ledger${runs.length === 0 ? '' : `, or ${dropAndRun(runs)}`}. \`kybatch doctor --deep\` names all that is damaged.`,
  });
}

const NAMED = 3;

/** What was bought is found by what was asked, not by the run that asked: a new run pays for nothing that is owned. */
export const dropAndRun = (runs: readonly string[]): string =>
  `drop the run (${runs.map((run) => `\`kybatch prune --run ${run}\``).join(', ')}) and start it anew with \`kybatch run <input>\`: what was bought stays owned, and is not paid for again`;

export function placeInWords({ table, column, run, row, id }: StoredPlace): string {
  const cell = `${table}.${column}`;
  if (row !== null) return `${cell} of row ${row} of run ${run ?? '?'}`;
  if (id !== null) return `${cell} of ${table.replace(/s$/, '')} ${id}${run === null ? '' : ` of run ${run}`}`;
  return run === null ? cell : `${cell} of run ${run}`;
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

export const isTextRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
