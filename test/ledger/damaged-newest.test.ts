import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LedgerError } from '../../src/domain/errors.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { checkLedger } from '../../src/ledger/open-ledger.js';
import { look, openAt, withDataDir, withLedger } from './sqlite-support.js';
import { begin, buy, call, keyOf, openRun } from './support.js';

const FILES = ['kybatch.db', 'kybatch.db-wal', 'kybatch.db-shm', 'kybatch.commits'] as const;
const WAL_HEADER = 32;
const FRAME = 24 + 8192;
const CALLS = 6;

let killed = '';
let earlierWal = Buffer.alloc(0);
let copies = 0;

/** A data directory after a kill during purchases: the newest answers are in the log beside the ledger. */
beforeAll(async () => {
  killed = mkdtempSync(join(tmpdir(), 'kybatch-killed-'));
  await withLedger(async (ledger, dataDir) => {
    await buySome(ledger, 'earlier');
    earlierWal = readFileSync(wal(dataDir));
    await buySome(ledger, 'later');
    for (const file of FILES) copyFileSync(join(dataDir, file), join(killed, file));
  });
});
afterAll(() => rmSync(killed, { recursive: true }));

function copy(): string {
  const place = join(killed, `${++copies}`);
  mkdirSync(place);
  for (const file of FILES) copyFileSync(join(killed, file), join(place, file));
  return place;
}

async function buySome(ledger: Ledger, name: string): Promise<void> {
  const place = await begin(ledger, await openRun(ledger, 1));
  for (let index = 0; index < CALLS / 2; index++)
    await buy(ledger, call(place, { requestKey: keyOf(`${name} ${index}`) }));
}

const wal = (place: string) => join(place, 'kybatch.db-wal');
const change = (path: string, how: (bytes: Buffer) => Buffer | undefined) => {
  const bytes = readFileSync(path);
  writeFileSync(path, how(bytes) ?? bytes);
};
const flip = (at: (bytes: Buffer) => number) => (bytes: Buffer) => {
  const place = at(bytes);
  bytes[place] = (bytes[place] ?? 0) ^ 1;
  return undefined;
};
/** Frames of an earlier generation, with other salts, may follow it. */
function lastFrame(bytes: Buffer): number {
  let at = bytes.length - FRAME;
  while (!bytes.subarray(at + 8, at + 16).equals(bytes.subarray(16, 24))) at -= FRAME;
  return at;
}

const withoutIndex = (place: string) => rmSync(join(place, 'kybatch.db-shm'));

/** Writers and readers refuse it, `doctor` names the damage, and nothing changes it. */
async function expectDamaged(place: string, what: RegExp): Promise<void> {
  // SQLite rebuilds the index of a WAL for every reader.
  const bytes = () =>
    readdirSync(place)
      .filter((name) => !/\.lock$|-shm$/.test(name) && statSync(join(place, name)).size > 0)
      .map((name) => [name, readFileSync(join(place, name), 'latin1')]);
  const before = bytes();
  for (const access of ['read', 'write', 'existing'] as const) {
    const open = () => openAt(place, access);
    await expect(open(), `${what} ${access}`).rejects.toThrow(LedgerError);
    await expect(open()).rejects.toThrow(
      expect.objectContaining({ code: 'LEDGER_DAMAGED', exit: 1, message: expect.stringMatching(what) }),
    );
    await expect(open()).rejects.toThrow(expect.objectContaining({ hint: expect.stringMatching(/\w/) }));
  }
  expect(await checkLedger({ dataDir: place })).toMatchObject({
    state: 'damaged',
    detail: expect.stringMatching(what),
  });
  expect(bytes()).toEqual(before);
}

async function expectCalls(place: string, count: number): Promise<void> {
  await (await openAt(place, 'read')).close();
  await (await openAt(place, 'write')).close();
  expect(look(place, 'SELECT 1 FROM calls')).toHaveLength(count);
}

describe('the remains of a ledger are not a new one', () => {
  test.each([0, 1, 99])('a file of %i bytes', async (size) => {
    const place = copy();
    truncateSync(join(place, 'kybatch.db'), size);
    await expectDamaged(place, /kybatch\.db \S+ \d+ /);
    for (const end of ['-wal', '-shm']) rmSync(join(place, `kybatch.db${end}`));
    await expectDamaged(place, /kybatch\.db \S+ \d+ /);
  });

  test('a WAL beside a database that holds no ledger with it', async () => {
    await withDataDir(async (dataDir) => {
      mkdirSync(dataDir);
      const place = join(dataDir, 'copy');
      mkdirSync(place);
      const other = connect(join(dataDir, 'other.db'));
      other.pragma('journal_mode = WAL');
      other.exec('CREATE TABLE x (y); DROP TABLE x');
      for (const end of ['', '-wal']) copyFileSync(join(dataDir, `other.db${end}`), join(place, `kybatch.db${end}`));
      other.close();
      await expect(openAt(place, 'read')).rejects.toMatchObject({
        code: 'LEDGER_DAMAGED',
        message: expect.stringContaining('kybatch.db'),
      });
      await expect(openAt(place, 'write')).rejects.toMatchObject({
        code: 'LEDGER_DAMAGED',
        message: expect.stringContaining('kybatch.db'),
      });
      expect(await checkLedger({ dataDir: place })).toMatchObject({ state: 'damaged' });
    });
  });

  test('a WAL beside a missing ledger', async () => {
    const place = copy();
    rmSync(join(place, 'kybatch.db'));
    await expectDamaged(place, /kybatch\.db /);
  });

  test('an attempt interrupted while it creates the ledger leaves nothing that looks like one', async () => {
    await withDataDir(async (dataDir) => {
      mkdirSync(dataDir);
      for (const end of ['', '-wal']) writeFileSync(join(dataDir, `kybatch.db.new${end}`), 'half of it');
      await expect(openAt(dataDir, 'read')).rejects.toMatchObject({ code: 'NO_LEDGER_YET' });
      expect(await checkLedger({ dataDir })).toEqual({ state: 'absent' });
      await (await openAt(dataDir)).close();
      expect(readdirSync(dataDir).sort()).toEqual(['kybatch.db', 'kybatch.lock']);
    });
  });
});

describe('the WAL of a ledger that was not closed', () => {
  test('is read completely, with and without its index', async () => {
    await expectCalls(copy(), CALLS);
    const place = copy();
    withoutIndex(place);
    await expectCalls(place, CALLS);
  });

  test.each<[string, (place: string) => void]>([
    ...(
      [
        ['header', flip(() => 0)],
        ['salt', flip(() => 17)],
        ['first frame', flip(() => WAL_HEADER + 8)],
        ['middle', flip((bytes) => Math.floor(bytes.length / 2))],
        ['last commit', flip((bytes) => lastFrame(bytes) + 500)],
        ['zeros', (bytes) => bytes.fill(0)],
        ['garbage', (bytes) => bytes.map((_, index) => (index * 7919) & 255) as Buffer],
        ['a few bytes', (bytes) => bytes.subarray(0, 20)],
        ['cut in half', (bytes) => bytes.subarray(0, bytes.length / 2)],
      ] satisfies [string, (bytes: Buffer) => Buffer | undefined][]
    ).map(([name, how]): [string, (place: string) => void] => [name, (place) => change(wal(place), how)]),
    ['of an earlier time', (place) => writeFileSync(wal(place), earlierWal)],
  ])('is refused if commits are missing: %s', async (_, damage) => {
    const place = copy();
    damage(place);
    const indexed = join(place, 'indexed');
    mkdirSync(indexed);
    for (const file of FILES) copyFileSync(join(place, file), join(indexed, file));
    await expect(openAt(indexed, 'write')).rejects.toMatchObject({ code: 'LEDGER_DAMAGED' });
    rmSync(indexed, { recursive: true });
    withoutIndex(place);
    await expectDamaged(place, /kybatch\.db-wal.* \d+ /);
  });

  test('a torn last transaction is dropped, because it was never confirmed', async () => {
    for (const how of [
      flip((bytes) => lastFrame(bytes) + 500),
      (bytes: Buffer) => bytes.subarray(0, lastFrame(bytes) + FRAME - 1000),
    ]) {
      const place = copy();
      change(wal(place), how);
      withoutIndex(place);
      // The process died before it recorded its last commit.
      change(join(place, 'kybatch.commits'), (bytes) => Buffer.from(`${Number(bytes) - 1}`));
      await expectCalls(place, CALLS);
    }
  });

  test.each<[string, (place: string) => void]>([
    ['empty', (place) => truncateSync(wal(place), 0)],
    ['gone', (place) => rmSync(wal(place))],
    [
      'gone with its index',
      (place) => {
        rmSync(wal(place));
        withoutIndex(place);
      },
    ],
  ])('counts as an older copy if it is %s, until that is accepted', async (_, damage) => {
    const place = copy();
    damage(place);
    let lost: number | undefined;
    for (const accepts of [false, true]) {
      const ledger = await openAt(place, 'write');
      expect(ledger.lostCommits).toBeGreaterThan(0);
      // Commits of a refused attempt do not make up for lost ones.
      expect(ledger.lostCommits).toBe(lost ?? ledger.lostCommits);
      lost = ledger.lostCommits;
      // The run is still there: an attempt checkpoints it into the ledger.
      expect(await ledger.runs.all()).not.toEqual([]);
      if (accepts) ledger.acceptLoss();
      await openRun(ledger, 1);
      await ledger.close();
    }
    const ledger = await openAt(place, 'write');
    expect(ledger.lostCommits).toBe(0);
    await ledger.close();
  });
});
