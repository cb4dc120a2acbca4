import { expect, test } from 'vitest';
import type { Standing } from '../../src/ledger/portfolios.js';
import { callStore } from '../../src/ledger/sqlite/calls.js';
import type { Connection } from '../../src/ledger/sqlite/driver.js';
import { openForWriting } from '../../src/ledger/sqlite/open.js';
import { Packer } from '../../src/ledger/sqlite/packer.js';
import { reviewStore } from '../../src/ledger/sqlite/review.js';
import { Room } from '../../src/ledger/sqlite/room.js';
import { runStore } from '../../src/ledger/sqlite/runs.js';
import { BelievedTimes } from '../../src/ledger/sqlite/times.js';
import { widener } from '../../src/ledger/sqlite/widen.js';
import { Writer } from '../../src/ledger/sqlite/writer.js';
import { withDataDir } from './sqlite-support.js';
import { NOW } from './support.js';

/** They grow with every run; the others stay small. */
const LARGE = /^SCAN (calls|rows|row_ids|candidates|answers|bodies|questions|errors)\b/;
/** They hold only what is open, or in doubt. */
const PARTIAL = /USING (COVERING )?INDEX calls_(in_flight|under_way|in_doubt|reports_in_doubt|unknown)\b/;

test('nothing that a call or a row waits for reads a large table from end to end', async () => {
  await withDataDir(async (dataDir) => {
    const database = openForWriting(dataDir, NOW);
    const { seen, listening } = listenTo(database);
    const writer = new Writer(database);
    const times = new BelievedTimes(database, NOW);
    callStore(listening, writer, times, new Packer(), new Room(database.name));
    runStore(listening, writer, times);
    reviewStore(listening, writer);
    expect(seen.length).toBeGreaterThan(40);
    const slow = seen.flatMap((sql) =>
      planOf(database, sql)
        .filter((step) => LARGE.test(step) && !PARTIAL.test(step))
        .map((step) => `${step}: ${sql}`),
    );
    expect(slow).toEqual([]);
    database.close();
  });
});

test('what is asked for every row that sets out once more is prepared once', async () => {
  await withDataDir(async (dataDir) => {
    const database = openForWriting(dataDir, NOW);
    const { seen, listening } = listenTo(database);
    const judge = () => ({ due: null, nextAt: null });
    const widen = widener(listening, new BelievedTimes(database, NOW), judge);
    for (let row = 1; row <= 3; row++) widen({ ...STANDING, onItsWay: { runId: 'r', row } });
    expect(seen).toHaveLength(2);
    database.close();
  });
});

/** The same connection, and every statement that is prepared on it. */
function listenTo(database: Connection): { readonly seen: string[]; readonly listening: Connection } {
  const seen: string[] = [];
  const prepare = database.prepare.bind(database);
  const listening = Object.create(database, {
    prepare: {
      value: (sql: string) => {
        seen.push(sql);
        return prepare(sql);
      },
    },
  }) as Connection;
  return { seen, listening };
}

function planOf(database: Connection, sql: string): string[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map((match) => match[1]);
  const values = names.length > 0 ? [Object.fromEntries(names.map((name) => [name, null]))] : nulls(sql);
  const steps = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return steps.map(({ detail }) => detail);
}

const nulls = (sql: string): null[] => Array.from(sql.matchAll(/\?/g), () => null);

const STANDING: Omit<Standing, 'onItsWay'> = {
  member: 1,
  row: 1,
  at: { runId: 'a', row: 1 },
  outcome: 'complete',
  stages: {},
  fetched: {},
  updatedAt: NOW,
  pipelineSha256: 'p',
  changedAt: null,
};
