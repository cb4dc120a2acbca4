// (b) The limit: a loop that only fetches and stores, in groups. It parses and compresses nothing.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'undici';
import { connect } from '../../../src/ledger/db/sqlite/connection.js';
import { callsOf, readWork, startMeter, tellDone } from './work.js';

const work = readWork();
const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
const file = join(folder, 'minimal.db');
const database = connect(file);
for (const pragma of ['page_size = 8192', 'journal_mode = WAL', 'synchronous = FULL', 'wal_autocheckpoint = 8000'])
  database.pragma(pragma);
database.exec(
  'CREATE TABLE bodies (row INTEGER, call INTEGER, bytes BLOB); CREATE TABLE done (row INTEGER PRIMARY KEY)',
);
const insert = database.prepare('INSERT INTO bodies VALUES (?, ?, ?)');
const mark = database.prepare('INSERT INTO done VALUES (?)');

let waiting: { row: number; bodies: Buffer[]; resolve: () => void }[] = [];
const commit = database.transaction((group: typeof waiting) => {
  for (const { row, bodies } of group) {
    for (const [call, bytes] of bodies.entries()) insert.run(row, call, bytes);
    mark.run(row);
  }
});
function store(row: number, bodies: Buffer[]): Promise<void> {
  return new Promise((resolve) => {
    waiting.push({ row, bodies, resolve });
    if (waiting.length === 1) setImmediate(flush);
  });
}
function flush(): void {
  const group = waiting;
  waiting = [];
  commit.immediate(group);
  for (const { resolve } of group) resolve();
}

const pool = new Pool(work.origin, { connections: work.concurrency });
const meter = startMeter();
let next = 0;
const worker = async () => {
  for (let row = next++; row < work.rows.length; row = next++) {
    const bodies: Buffer[] = [];
    for (const { method, path, headers, body } of callsOf(work, work.rows[row] as (typeof work.rows)[number])) {
      const answer = await pool.request({ method, path, headers, body });
      bodies.push(Buffer.from(await answer.body.arrayBuffer()));
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
    }
    await store(row, bodies);
  }
};
await Promise.all(Array.from({ length: work.concurrency }, worker));
const used = meter();
await pool.close();
database.close();
tellDone({ rows: work.rows.length, ...used, bytesOnDisk: statSync(file).size });
rmSync(folder, { recursive: true });
