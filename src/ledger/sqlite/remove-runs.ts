import type { Connection } from './driver.js';

/** Takes whole runs out. Their calls stay: units were spent, whoever for. */
export function removeRuns(database: Connection, ids: readonly string[]) {
  const without = (table: string, column = 'run_id') => {
    const remove = database.prepare(`DELETE FROM ${table} WHERE ${column} = ?`);
    return ids.reduce((sum, id) => sum + remove.run(id).changes, 0);
  };
  const removed = { rows: without('rows'), candidates: without('candidates'), questions: without('questions') };
  for (const table of ['row_ids', 'errors', 'run_environments', 'starts']) without(table);
  without('runs', 'id');
  return removed;
}

export const dropRun = (database: Connection, id: string): void =>
  database.transaction(() => void removeRuns(database, [id])).immediate();
