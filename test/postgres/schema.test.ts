import type pg from 'pg';
import { expect, test } from 'vitest';
import { readSchema } from '../../src/ledger/db/database.js';
import { POSTGRES_ONLY_TABLES } from '../../src/ledger/db/postgres/copy.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import { withClient, withPostgres } from './server.js';

/** SQLite has it hidden in every table. PostgreSQL has it in tables whose order is read. */
const UNSEEN = 'rowid';

/** Only workers that share a ledger claim rows. */
const CLAIMS = 'rows_to_claim';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: string | null;
}

interface Table {
  readonly columns: readonly Column[];
  readonly key: readonly string[];
  readonly references: readonly string[];
  readonly indexes: readonly string[];
  readonly checks: number;
}

/** A condition without the syntax that differs between the two. */
const plain = (condition: string | null): string => (condition ?? '').replaceAll(/::\w+|[()\s]/g, '').toLowerCase();

function tablesOfSqlite(): Record<string, Table> {
  const database = connect(':memory:');
  try {
    database.exec(readSchema().replaceAll(/^-- SQLite alone:.*\n.*;$/gm, ''));
    const all = <T>(sql: string, ...values: unknown[]) => database.prepare<unknown[], T>(sql).all(...values);
    const indexColumns = (index: string) =>
      all<{ name: string }>('SELECT name FROM pragma_index_info(?) ORDER BY seqno', index).map(({ name }) => name);
    return Object.fromEntries(
      all<{ name: string; sql: string }>(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      ).map(({ name: table, sql }) => {
        const columns = all<{ name: string; type: string; notnull: number; dflt_value: string | null; pk: number }>(
          'SELECT * FROM pragma_table_info(?)',
          table,
        );
        return [
          table,
          {
            columns: columns.map(({ name, type, notnull, dflt_value, pk }) => ({
              name,
              type,
              required: notnull === 1 || pk > 0,
              default: dflt_value,
            })),
            key: columns
              .filter(({ pk }) => pk > 0)
              .sort((a, b) => a.pk - b.pk)
              .map(({ name }) => name),
            references: all<{ from: string; table: string; to: string; on_delete: string }>(
              'SELECT * FROM pragma_foreign_key_list(?)',
              table,
            )
              .map(({ from, table: to, to: column, on_delete }) => `${from} ${to}.${column} ${on_delete}`)
              .sort(),
            indexes: all<{ name: string; unique: number; origin: string; sql: string | null }>(
              'SELECT l.*, sql FROM pragma_index_list(?) AS l LEFT JOIN sqlite_master AS m ON m.name = l.name',
              table,
            )
              .filter(({ origin }) => origin !== 'pk')
              .map(
                ({ name, unique, origin, sql: made }) =>
                  // UNIQUE creates a different name in each.
                  `${origin === 'c' ? name : ''} ${unique} ${indexColumns(name)} ${plain(/WHERE (.*)/s.exec(made ?? '')?.[1] ?? null)}`,
              )
              .sort(),
            checks: [...sql.matchAll(/CHECK/g)].length,
          },
        ];
      }),
    );
  } finally {
    database.close();
  }
}

const TYPES: Readonly<Record<string, string>> = { bigint: 'INTEGER', text: 'TEXT', bytea: 'BLOB' };

async function tablesOfPostgres(client: pg.Client): Promise<Record<string, Table>> {
  const all = async <T extends pg.QueryResultRow>(sql: string) => (await client.query<T>(sql)).rows;
  const columns = await all<{ table: string; name: string; type: string; required: boolean; default: string | null }>(
    `SELECT relname AS table, attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required,
       pg_get_expr(adbin, adrelid) AS default
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE relnamespace = 'kybatch'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped ORDER BY relname, attnum`,
  );
  const constraints = await all<{ table: string; type: string; columns: string[]; definition: string }>(
    `SELECT conrelid::regclass::text AS table, contype AS type, pg_get_constraintdef(oid) AS definition,
       ARRAY(SELECT attname::text FROM unnest(conkey) WITH ORDINALITY AS k (n, place)
         JOIN pg_attribute ON attrelid = conrelid AND attnum = n ORDER BY place) AS columns
     FROM pg_constraint WHERE connamespace = 'kybatch'::regnamespace`,
  );
  const indexes = await all<{
    table: string;
    name: string;
    unique: boolean;
    made: boolean;
    columns: string[];
    where: string;
  }>(
    `SELECT indrelid::regclass::text AS table, indexrelid::regclass::text AS name, indisunique AS unique,
       EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid) AS made,
       ARRAY(SELECT replace(pg_get_indexdef(indexrelid, n, true), '"', '') FROM generate_series(1, indnkeyatts) AS n) AS columns,
       pg_get_expr(indpred, indrelid) AS where
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace = 'kybatch'::regnamespace AND NOT indisprimary`,
  );
  const found: Record<string, Table> = {};
  for (const table of new Set(columns.map((column) => column.table))) {
    const ours = constraints.filter((constraint) => constraint.table === table);
    found[table] = {
      columns: columns
        .filter((column) => column.table === table && column.name !== UNSEEN)
        .map(({ name, type, required, default: value }) => ({
          name,
          type: TYPES[type] ?? type,
          required,
          default: value?.replace(/::\w+$/, '') ?? null,
        })),
      key: ours.find(({ type }) => type === 'p')?.columns ?? [],
      references: ours
        .filter(({ type }) => type === 'f')
        .map(({ columns: [from], definition }) => {
          const [, to, column, cascade] = /REFERENCES (\w+)\((\w+)\)(?: ON DELETE (\w+))?/.exec(definition) ?? [];
          return `${from} ${to}.${column} ${cascade ?? 'NO ACTION'}`;
        })
        .sort(),
      indexes: indexes
        .filter((index) => index.table === table && index.columns.join() !== UNSEEN && index.name !== CLAIMS)
        .map(
          ({ name, unique, made, columns: of, where }) => `${made ? '' : name} ${unique ? 1 : 0} ${of} ${plain(where)}`,
        )
        .sort(),
      checks: ours.filter(({ type }) => type === 'c').length,
    };
  }
  return found;
}

test('the two engines have the same tables, columns, keys and indexes', () =>
  withPostgres((url) =>
    withClient(url, async (client) => {
      await client.query('SET search_path TO kybatch');
      const theirs = await tablesOfPostgres(client);
      expect(POSTGRES_ONLY_TABLES.filter((table) => !(table in theirs))).toEqual([]);
      for (const table of POSTGRES_ONLY_TABLES) delete theirs[table];
      expect(theirs).toEqual(tablesOfSqlite());
    }),
  ));

test('all texts are ordered byte by byte', () =>
  withPostgres((url) =>
    withClient(url, async (client) => {
      const { rows } = await client.query(
        `SELECT attrelid::regclass, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
         WHERE relnamespace = 'kybatch'::regnamespace AND relkind IN ('r', 'i') AND atttypid = 'text'::regtype AND attcollation <> '"C"'::regcollation`,
      );
      expect(rows).toEqual([]);
    }),
  ));

test('frequently written columns stay in their page, and update no index', () =>
  withPostgres((url) =>
    withClient(url, async (client) => {
      await client.query(`SET search_path TO kybatch; BEGIN;
        INSERT INTO environments (api, name) VALUES ('v1', 'a');
        INSERT INTO runs (id, input_path, input_sha256, pipeline_name, pipeline_sha256, settings, columns, state, created_at)
          VALUES ('r', '', '', '', '', '{}', '[]', 'open', 0);
        INSERT INTO rows (run_id, row, line, input_values, fields, outcome) SELECT 'r', n, n, repeat('x', 600), '{}', 'pending' FROM generate_series(1, 8) AS n;
        INSERT INTO starts (begun_at, lease_until) VALUES (0, 0);
        INSERT INTO allowances (environment_id, observed_at) VALUES (1, 0);
        INSERT INTO writers (host) VALUES ('a');
        UPDATE rows SET units_charged = units_charged + 1 WHERE row = 1;
        UPDATE rows SET outcome = 'pending', hold = NULL, stages = '{"search":"done"}', updated_at = 1 WHERE row = 2;
        UPDATE starts SET lease_until = 1, units_spent = 1;
        UPDATE allowances SET remaining_units = 1, observed_at = 1;
        UPDATE writers SET batch = 1, seen_at = 1`);
      const { rows } = await client.query(
        `SELECT relname AS name, pg_stat_get_xact_tuples_hot_updated(oid)::int AS hot, pg_stat_get_xact_tuples_updated(oid)::int AS all
         FROM pg_class WHERE relname IN ('rows', 'starts', 'allowances', 'writers') AND relnamespace = 'kybatch'::regnamespace ORDER BY 1`,
      );
      expect(rows).toEqual([
        { name: 'allowances', hot: 1, all: 1 },
        { name: 'rows', hot: 2, all: 2 },
        { name: 'starts', hot: 1, all: 1 },
        { name: 'writers', hot: 1, all: 1 },
      ]);
    }),
  ));
