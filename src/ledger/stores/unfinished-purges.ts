import { hash } from 'node:crypto';
import type { Script, Sql } from '../database.js';
import type { PurgeReport, PurgeRequest } from '../housekeeping.js';
import { isRecord, isTexts, parseStored } from '../stored-json.js';

/**
 * What a purge has removed is remembered until it is proved: where the proof fails, or the process is killed before it,
 * the same command finishes it. Nothing in it says whose data went.
 */
export const rememberPurge = (database: Sql, request: PurgeRequest, removed: PurgeReport, now: number): Script<void> =>
  database
    .prepare(
      `INSERT INTO purges (request, report, begun_at) VALUES (unhex(?), ?, ?)
       ON CONFLICT (request) DO UPDATE SET report = excluded.report`,
    )
    .run(digestOf(request), JSON.stringify({ ...removed, ...NAMES_NOBODY }), now);

export function* unfinishedPurge(database: Sql, request: PurgeRequest): Script<PurgeReport | undefined> {
  const stored = yield* database
    .prepare<[string], string>('SELECT report FROM purges WHERE request = unhex(?)')
    .pluck()
    .get(digestOf(request));
  // Where it is damaged there is still something to prove.
  return stored === undefined ? undefined : { ...COUNTS_LOST, ...parseStored(stored, isCounts), ...NAMES_NOBODY };
}

const NAMES_NOBODY = { identifiers: [], stillListed: [], boughtAgain: [] } as const;

type Counts = Omit<PurgeReport, keyof typeof NAMES_NOBODY>;

export const forgetPurge = (database: Sql, request: PurgeRequest): Script<void> =>
  database.prepare('DELETE FROM purges WHERE request = unhex(?)').run(digestOf(request));

const COUNTS_LOST: Counts = {
  runs: [],
  runsRemoved: [],
  rows: 0,
  answers: 0,
  bodies: 0,
  candidates: 0,
  questions: 0,
  decisions: 0,
  changes: 0,
};

const digestOf = (request: PurgeRequest): string => hash('sha256', JSON.stringify(Object.entries(request).sort()));

/** Changes were not always counted. */
const isCounts = (value: unknown): value is Omit<Counts, 'changes'> =>
  isRecord(value) &&
  [value.runs, value.runsRemoved].every(isTexts) &&
  [value.rows, value.answers, value.bodies, value.candidates, value.questions, value.decisions].every(
    (count) => typeof count === 'number',
  );
