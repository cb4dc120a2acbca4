// Moves all data of a provider's base URL to another one.

import type { ApiName } from '../domain/provider.js';
import type { Database, Script, Sql } from './db/database.js';
import type { MovedApi, MovedProvider } from './erase/housekeeping.js';
import { mustHaveNoWorkers } from './rows/attempts.js';

const WAIT = 'Wait for it to end, or stop it (Ctrl-C, SIGTERM). Nothing was moved.';

/** Tables whose records cannot collide. */
const PLAIN = ['calls', 'closures', 'run_environments', 'questions', 'decisions', 'held_decisions', 'changes'];

/** Tables in which both addresses may have the same record, with its key. The new address's record stays. */
const KEYED: Readonly<Record<string, readonly string[]>> = {
  asked_for: ['space', 'id', 'stage', 'request_key'],
  verdicts: ['space', 'id', 'request_key', 'raw_sha256'],
  permission_use: ['permission', 'metric'],
  contact_counts: [],
  watches: ['company_id'],
  watch_events: ['company_id', 'digest'],
  member_companies: ['member_id', 'space'],
  allowances: [],
  answers: ['request_key'],
  summed_calls: ['day', 'operation', 'run_id'],
};

/** Moves all data of one base URL to another. Of two answers to one request the newer is used. */
export function* moveProvider(database: Database, from: string, to: string, now: number): Script<MovedProvider> {
  yield* mustHaveNoWorkers(database, now, WAIT);
  const found = yield* database
    .prepare<[string], { id: number; api: ApiName; answers: number }>(
      `SELECT id, api, (SELECT count(*) FROM answers WHERE environment_id = environments.id) AS answers
       FROM environments WHERE name = ? ORDER BY id`,
    )
    .all(from);
  const other = database
    .prepare<[string, string], number>('SELECT id FROM environments WHERE api = ? AND name = ?')
    .pluck();
  const rename = database.prepare('UPDATE environments SET name = ? WHERE id = ?');
  const moved: MovedApi[] = [];
  for (const { id, api, answers } of found) {
    const kept = yield* other.get(api, to);
    if (kept === undefined) yield* rename.run(to, id);
    else yield* merge(database, id, kept);
    moved.push({ api, answers, merged: kept !== undefined });
  }
  if (found.length === 0) return { moved, portfolios: 0, runs: 0 };
  return {
    moved,
    portfolios: yield* renamePortfolios(database, from, to),
    runs: yield* renameRuns(database, from, to),
  };
}

function* merge(database: Sql, from: number, to: number): Script<void> {
  const run = (sql: string) => database.prepare(sql).run({ from, to });
  for (const table of PLAIN) yield* run(`UPDATE ${table} SET environment_id = @to WHERE environment_id = @from`);
  const same = (table: string, a: string, b: string) =>
    (KEYED[table] ?? []).map((column) => ` AND ${a}.${column} = ${b}.${column}`).join('');
  const both = (table: string) =>
    `EXISTS (SELECT 1 FROM ${table} AS kept WHERE kept.environment_id = @to${same(table, 'kept', table)})`;
  // Newer answers of the old address replace those of the new one.
  yield* run(
    `DELETE FROM answers WHERE environment_id = @to AND EXISTS
       (SELECT 1 FROM answers AS newer WHERE newer.environment_id = @from AND newer.request_key = answers.request_key AND newer.call_id > answers.call_id)`,
  );
  const more = `FROM summed_calls AS more WHERE more.environment_id = @from${same('summed_calls', 'more', 'summed_calls')}`;
  yield* run(
    `UPDATE summed_calls SET calls = calls + (SELECT more.calls ${more}), owned = owned + (SELECT more.owned ${more})
     WHERE environment_id = @to AND EXISTS (SELECT 1 ${more})`,
  );
  // Each address counted the other's units as drift, so the comparison starts over with the next answer.
  yield* run(
    `DELETE FROM allowances WHERE environment_id = @to AND EXISTS
       (SELECT 1 FROM allowances AS newer WHERE newer.environment_id = @from AND newer.observed_at > allowances.observed_at)`,
  );
  yield* run(
    'UPDATE allowances SET anchor_call_id = NULL, anchor_units = NULL, drift_units = 0 WHERE environment_id IN (@from, @to)',
  );
  for (const table of Object.keys(KEYED)) {
    yield* run(`DELETE FROM ${table} WHERE environment_id = @from AND ${both(table)}`);
    yield* run(`UPDATE ${table} SET environment_id = @to WHERE environment_id = @from`);
  }
  yield* database.prepare('DELETE FROM environments WHERE id = ?').run(from);
}

/** If both addresses have the same portfolio, both stay. That of the new address continues, with all answers. */
function* renamePortfolios(database: Sql, from: string, to: string): Script<number> {
  const portfolios = yield* database
    .prepare<[], { id: number; name: string; providers: string }>(
      'SELECT id, name, providers FROM portfolios ORDER BY id',
    )
    .all();
  const rename = database.prepare('UPDATE portfolios SET providers = ? WHERE id = ?');
  const taken = new Set(portfolios.map(({ name, providers }) => `${providers} ${name}`));
  let renamed = 0;
  for (const { id, name, providers } of portfolios) {
    const moved = [...new Set(providers.split(',').map((one) => (one === from ? to : one)))].join();
    if (moved === providers || taken.has(`${moved} ${name}`)) continue;
    yield* rename.run(moved, id);
    renamed += 1;
  }
  return renamed;
}

/** A run continues only if its settings name the current providers. */
function* renameRuns(database: Sql, from: string, to: string): Script<number> {
  const runs = yield* database
    .prepare<[], { id: string; digest: string; settings: string }>(
      'SELECT id, pipeline_sha256 AS digest, settings FROM runs ORDER BY id',
    )
    .all();
  const rename = database.prepare('UPDATE runs SET pipeline_sha256 = ?, settings = ? WHERE id = ?');
  let renamed = 0;
  for (const { id, digest, settings } of runs) {
    const [, pipeline, providers, limit = ''] = /^([^@]*)@(.*?)(\+limit=\d+)?$/.exec(digest) ?? [];
    if (pipeline === undefined || providers?.split(',').includes(from) !== true) continue;
    const names = [...new Set(providers.split(',').map((one) => (one === from ? to : one)))].join();
    const said = settings.replaceAll(JSON.stringify(from), JSON.stringify(to));
    yield* rename.run(`${pipeline}@${names}${limit}`, said, id);
    renamed += 1;
  }
  return renamed;
}
