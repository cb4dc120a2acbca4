import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LedgerError } from '../../src/domain/errors.js';
import { connect } from '../../src/ledger/db/sqlite/connection.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { checkLedger, openLedger } from '../../src/ledger/open-ledger.js';
import { look, openAt, withDataDir, withLedger } from './sqlite-support.js';
import { begin, buy, call, keyOf, NOW, openRun } from './support.js';

const FILES = ['kybatch.db', 'kybatch.db-wal', 'kybatch.db-shm'] as const;
const WAL_HEADER = 32;
const FRAME = 24 + 8192;
const CALLS = 6;

let killed = '';
let copies = 0;

/** A data directory as a process leaves it that is killed while it buys: what was bought is in the log beside the ledger. */
beforeAll(async () => {
  killed = mkdtempSync(join(tmpdir(), 'kybatch-killed-'));
  await withLedger(async (ledger, dataDir) => {
    await buySome(ledger);
    for (const file of FILES) copyFileSync(join(dataDir, file), join(killed, file));
  });
});
afterAll(() => rmSync(killed, { recursive: true }));

/** One more of it. */
function copy(): string {
  const place = join(killed, `${++copies}`);
  mkdirSync(place);
  for (const file of FILES) copyFileSync(join(killed, file), join(place, file));
  return place;
}

async function buySome(ledger: Ledger): Promise<void> {
  const place = await begin(ledger, await openRun(ledger, 1));
  for (let index = 0; index < CALLS; index++) await buy(ledger, call(place, { requestKey: keyOf(`${index}`) }));
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
const lastFrame = (bytes: Buffer) => WAL_HEADER + (Math.floor((bytes.length - WAL_HEADER) / FRAME) - 1) * FRAME;

const withoutIndex = (place: string) => rmSync(join(place, 'kybatch.db-shm'));

/** Refused by who writes and who looks, named by doctor, and left as it was. */
async function expectDamaged(place: string, what: RegExp): Promise<void> {
  const bytes = () =>
    readdirSync(place).map((name) => [name, name.endsWith('.lock') ? '' : readFileSync(join(place, name), 'latin1')]);
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
  expect(bytes().filter(([name]) => name !== 'kybatch.lock')).toEqual(
    before.filter(([name]) => name !== 'kybatch.lock'),
  );
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

test('files of runs beside a ledger without runs are reported, and refuse nothing', async () => {
  await withDataDir(async (dataDir) => {
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
    expect(await checkLedger({ dataDir })).toEqual({ state: 'absent' });
    writeFileSync(join(dataDir, 'logs', '2026-01-05-aaaaaa.log'), '{}\n');
    const note = expect.stringContaining('logs');
    expect(await checkLedger({ dataDir })).toEqual({ state: 'absent', note });
    const notes: string[] = [];
    const open = () => openLedger({ dataDir, now: NOW, access: 'write', onNote: ({ code }) => notes.push(code) });
    const ledger = await open();
    await openRun(ledger, 1);
    await ledger.close();
    await (await open()).close();
    expect(notes).toEqual(['LEDGER_SHOWS_LOSS']);
  });
});

describe('the WAL of a ledger that was not closed', () => {
  test('is read completely, with and without its index', async () => {
    await expectCalls(copy(), CALLS);
    const place = copy();
    withoutIndex(place);
    await expectCalls(place, CALLS);
  });

  test.each<[string, (bytes: Buffer) => Buffer | undefined, RegExp]>([
    ['header', flip(() => 0), /header/],
    ['salt', flip(() => 17), /header/],
    ['first frame', flip(() => WAL_HEADER + 8), /frame 1 /],
    ['middle', flip((bytes) => Math.floor(bytes.length / 2)), /frame \d+ /],
    ['zeros', (bytes) => bytes.fill(0), /header/],
    ['garbage', (bytes) => bytes.map((_, index) => (index * 7919) & 255) as Buffer, /header/],
    ['a few bytes', (bytes) => bytes.subarray(0, 20), /header/],
  ])('is damaged by its own checksums: %s', async (_, how, what) => {
    const place = copy();
    change(wal(place), how);
    withoutIndex(place);
    await expectDamaged(place, what);
  });

  test.each<[string, (place: string) => void, RegExp]>([
    ['cut in half', (place) => change(wal(place), (bytes) => bytes.subarray(0, bytes.length / 2)), / \d+ frames/],
    [
      'its last commit damaged',
      (place) =>
        change(
          wal(place),
          flip((bytes) => lastFrame(bytes) + 500),
        ),
      / \d+ frames/,
    ],
    ['empty', (place) => truncateSync(wal(place), 0), /kybatch\.db-wal/],
    ['gone', (place) => rmSync(wal(place)), /kybatch\.db-wal/],
  ])('is damaged by its index: %s', async (_, damage, what) => {
    const place = copy();
    damage(place);
    await expectDamaged(place, what);
  });

  test('a torn last transaction is dropped, because it was never confirmed', async () => {
    const place = copy();
    change(
      wal(place),
      flip((bytes) => lastFrame(bytes) + 500),
    );
    withoutIndex(place);
    await expectCalls(place, CALLS);
    const cut = copy();
    change(wal(cut), (bytes) => bytes.subarray(0, bytes.length - 1000));
    withoutIndex(cut);
    await expectCalls(cut, CALLS);
  });

  test('without it and its index the run is still there: an attempt checkpoints it into the ledger', async () => {
    const place = copy();
    for (const end of ['-wal', '-shm']) rmSync(join(place, `kybatch.db${end}`));
    expect(look(place, 'SELECT state, row_count FROM runs')).toEqual([{ state: 'open', row_count: 1 }]);
    const notes: string[] = [];
    expect(await checkLedger({ dataDir: place })).toEqual({
      state: 'sound',
      note: expect.any(String),
    });
    await (
      await openLedger({ dataDir: place, now: NOW, access: 'write', onNote: ({ code }) => notes.push(code) })
    ).close();
    expect(notes).toEqual(['LEDGER_SHOWS_LOSS']);
    // Told once: the start is over now.
    expect(await checkLedger({ dataDir: place })).toEqual({ state: 'sound' });
  });
});
