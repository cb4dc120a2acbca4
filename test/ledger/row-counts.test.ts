import fc from 'fast-check';
import { expect, test } from 'vitest';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { ledgerPath } from '../../src/ledger/db/sqlite/open.js';
import { look, mustCountRows, openAt, withDataDir } from './sqlite-support.js';

const RUNS = ['first', 'second'];
const ROWS = [1, 2, 3];

const state = {
  outcome: fc.constantFrom('pending', 'complete', 'needs_review', 'failed'),
  hold: fc.constantFrom(null, 'waiting', 'parked'),
  holdReason: fc.constantFrom(null, 'budget', 'scope'),
  stages: fc.constantFrom('{}', '{"record":"done"}', '{"record":"failed"}'),
  units: fc.nat(3),
  error: fc.constantFrom(null, 'PURGED', 'NOT_FOUND'),
};

const steps = fc.array(
  fc.record({
    does: fc.constantFrom('insert', 'settle', 'charge', 'both', 'take over', 'delete', 'prune', 'roll back'),
    run: fc.constantFrom(...RUNS),
    row: fc.constantFrom(...ROWS),
    ...state,
  }),
  { maxLength: 40 },
);

const STATEMENTS = {
  insert: `INSERT INTO rows (run_id, row, line, input_values, fields, outcome, hold, hold_reason, stages, units_charged, error_code)
    VALUES (@run, @row, 1, '[]', '{}', @outcome, @hold, @holdReason, @stages, @units, @error) ON CONFLICT DO NOTHING`,
  both: `UPDATE rows SET outcome = @outcome, units_charged = units_charged + @units WHERE run_id = @run AND row = @row`,
  settle: `UPDATE rows SET outcome = @outcome, hold = @hold, hold_reason = @holdReason, stages = @stages, error_code = @error
    WHERE run_id = @run AND row = @row`,
  charge: 'UPDATE rows SET units_charged = units_charged + @units WHERE run_id = @run AND row = @row',
  'take over': "UPDATE rows SET run_id = 'third', row = row + 10 WHERE run_id = @run AND row = @row",
  delete: 'DELETE FROM rows WHERE run_id = @run AND row = @row',
  prune: 'DELETE FROM rows WHERE run_id = @run',
};

test('stored counts of rows are those of a recount, after any statements and rollbacks', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      await withDataDir(async (dataDir) => {
        await (await openAt(dataDir)).close();
        const database = connect(ledgerPath(dataDir));
        database.pragma('foreign_keys = OFF');
        for (const { does, ...given } of history) {
          const [statement, isKept] = does === 'roll back' ? (['settle', false] as const) : ([does, true] as const);
          database.exec('BEGIN');
          try {
            database.prepare(STATEMENTS[statement]).run(given);
            database.exec(isKept ? 'COMMIT' : 'ROLLBACK');
          } catch (error) {
            // The place that a row moves to is taken.
            database.exec('ROLLBACK');
            if (does !== 'take over') throw error;
          }
        }
        database.close();
        mustCountRows(dataDir);
      });
    }),
    { numRuns: 30 },
  );
});

test('a ledger from before the counts gets them when it is migrated', async () => {
  await withDataDir(async (dataDir) => {
    await (await openAt(dataDir)).close();
    const database = connect(ledgerPath(dataDir));
    database.exec(`DROP TRIGGER row_added; DROP TRIGGER row_removed; DROP TRIGGER row_changed; DROP TRIGGER row_charged; DROP TABLE row_counts;
      DROP INDEX rows_asking; DROP INDEX questions_unanswered;
      DELETE FROM schema_migrations WHERE version >= 32;
      INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at)
        VALUES ('old', 'in.csv', '', 'p', '', '{}', '[]', 'open', 1);
      INSERT INTO rows (run_id, row, line, input_values, fields, outcome, units_charged) VALUES
        ('old', 1, 1, '[]', '{}', 'pending', 2), ('old', 2, 2, '[]', '{}', 'complete', 3), ('old', 3, 3, '[]', '{}', 'complete', 0);`);
    database.close();
    await (await openAt(dataDir, 'existing')).close();
    expect(look(dataDir, 'SELECT outcome, rows, units FROM row_counts')).toEqual([
      { outcome: 'complete', rows: 2, units: 3 },
      { outcome: 'pending', rows: 1, units: 2 },
    ]);
    mustCountRows(dataDir);
  });
});
