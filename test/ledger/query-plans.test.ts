import { expect, test } from 'vitest';
import { Packer } from '../../src/ledger/answers/bodies.js';
import type { Database } from '../../src/ledger/db/database.js';
import type { Connection } from '../../src/ledger/db/sqlite/connection.js';
import { sqliteDatabase } from '../../src/ledger/db/sqlite/database.js';
import { openForWriting } from '../../src/ledger/db/sqlite/open.js';
import { callStore } from '../../src/ledger/money/call-store.js';
import { unknownChargeStore } from '../../src/ledger/money/unknown-charges.js';
import { stageExtender } from '../../src/ledger/portfolio/converge.js';
import type { MemberState } from '../../src/ledger/portfolio/portfolios.js';
import { reviewStore } from '../../src/ledger/review/review-store.js';
import { runStore } from '../../src/ledger/rows/run-store.js';
import { withDataDir } from './sqlite-support.js';
import { NOW } from './support.js';

/** These tables grow with every run. The others stay small. */
const LARGE = /^SCAN (calls|rows|row_ids|candidates|answers|bodies|questions|errors)\b/;
/** These indexes hold only open calls and unknown charges. */
const PARTIAL = /USING (COVERING )?INDEX calls_(in_flight|under_way|in_doubt|reports_in_doubt|unknown)\b/;

test('no statement that a call or a row waits for scans a large table', async () => {
  await withListening(async ({ connection, listening, seen }) => {
    callStore(listening, new Packer());
    runStore(listening);
    reviewStore(listening);
    unknownChargeStore(listening);
    expect(seen.length).toBeGreaterThan(40);
    const slow = seen.flatMap((sql) =>
      planOf(connection, sql)
        .filter((step) => LARGE.test(step) && !PARTIAL.test(step))
        .map((step) => `${step}: ${sql}`),
    );
    expect(slow).toEqual([]);
  });
});

test('statements for every reopened row are prepared once', async () => {
  await withListening(async ({ listening, seen }) => {
    const widen = stageExtender(listening, () => ({ due: null, nextAt: null }));
    for (let row = 1; row <= 3; row++)
      await listening.write(() => widen({ ...STANDING, onItsWay: { runId: 'r', row } }));
    expect(seen).toHaveLength(2);
  });
});

interface Listening {
  readonly connection: Connection;
  /** A database on the connection that records every prepared statement. */
  readonly listening: Database;
  readonly seen: string[];
}

const withListening = (use: (heard: Listening) => Promise<void>): Promise<void> =>
  withDataDir(async (dataDir) => {
    const connection = openForWriting(dataDir, NOW);
    const database = sqliteDatabase(connection, { dataDir, onClose: () => {} });
    const seen: string[] = [];
    const listening: Database = Object.create(database, {
      prepare: {
        value: (sql: string) => {
          seen.push(sql);
          return database.prepare(sql);
        },
      },
    });
    try {
      await use({ connection, listening, seen });
    } finally {
      await database.close();
    }
  });

function planOf(database: Connection, sql: string): string[] {
  const names = [...sql.matchAll(/@(\w+)/g)].map((match) => match[1]);
  const values = names.length > 0 ? [Object.fromEntries(names.map((name) => [name, null]))] : nulls(sql);
  const steps = database.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...values);
  return steps.map(({ detail }) => detail);
}

const nulls = (sql: string): null[] => Array.from(sql.matchAll(/\?/g), () => null);

const STANDING: Omit<MemberState, 'onItsWay'> = {
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
