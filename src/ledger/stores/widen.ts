import type { Script, Sql } from '../database.js';
import type { Convergence, Due, Standing } from '../portfolios.js';
import { parseStored } from '../stored-json.js';
import { rowFetched, rowStages } from './cells.js';
import type { BelievedTimes } from './times.js';

/** What has become stale since a row set out once more is bought with the rest. One that begins anew buys it anyway. */
export function widener(
  database: Sql,
  times: BelievedTimes,
  judge: Convergence['judge'],
): (standing: Standing) => Script<void> {
  const find = database.prepare<[string, number], { stages: string; fetched: string; pipelineSha256: string }>(
    `SELECT stages, fetched, pipeline_sha256 AS pipelineSha256 FROM rows JOIN runs ON runs.id = run_id WHERE run_id = ? AND row = ?`,
  );
  const save = database.prepare('UPDATE rows SET stages = ? WHERE run_id = ? AND row = ?');
  return function* (standing) {
    const { onItsWay } = standing;
    if (onItsWay === null) return;
    const { runId, row } = onItsWay;
    const under = yield* find.get(runId, row);
    const stages = under && parseStored(under.stages, rowStages.fits);
    const said = under && parseStored(under.fetched, rowFetched.fits);
    if (under === undefined || stages === undefined || said === undefined || Object.keys(stages).length === 0) return;
    const fetched = times.allBelieved(said);
    // What is settled there was asked for as that run was told.
    const { pipelineSha256 } = under;
    const { due } = judge({ ...standing, outcome: 'complete', stages, fetched, pipelineSha256, onItsWay: null });
    const isSettledHere = (stage: string) => stages[stage] === 'done' || stages[stage] === 'not_available';
    const more = Object.entries(due?.stages ?? {}).filter(
      ([stage, status]) => status === 'pending' && isSettledHere(stage),
    );
    if (more.length > 0) yield* save.run(JSON.stringify({ ...stages, ...Object.fromEntries(more) }), runId, row);
  };
}

/** What a row on its way has settled by a run that told it otherwise is open again. */
export function againDoer(database: Sql): (standing: Standing, due: Due) => Script<void> {
  const open = database.prepare('UPDATE rows SET stages = json_patch(stages, ?) WHERE run_id = ? AND row = ?');
  const forget = database.prepare(
    'DELETE FROM row_ids WHERE run_id = ? AND row = ? AND space IN (SELECT value FROM json_each(?))',
  );
  return function* ({ onItsWay }, { stages, forget: spaces }) {
    if (onItsWay === null) return;
    yield* open.run(JSON.stringify(stages), onItsWay.runId, onItsWay.row);
    yield* forget.run(onItsWay.runId, onItsWay.row, JSON.stringify(spaces));
  };
}
