import { expect, test } from 'vitest';
import { LostConnection, Patience, ReadOnlyServer } from '../../src/ledger/db/postgres/failures.js';
import { JumpingClock } from '../helpers/jumping-clock.js';

const START = Date.parse('2026-03-01T10:00:00Z');

function patient(patienceMs: number) {
  const clock = new JumpingClock(START);
  const notes: string[] = [];
  const patience = new Patience({ name: 'L', clock, patienceMs, onNote: ({ code }) => notes.push(code) });
  return { patience, clock, notes };
}

/** Succeeds after this many failures. */
const after = (failures: number, reason: () => Error, meanwhile: () => Promise<void> = async () => {}) => {
  let tried = 0;
  return async () => {
    tried += 1;
    if (tried <= failures) throw reason();
    await meanwhile();
  };
};

test('a read-only server does not count as back because a read worked', async () => {
  const { patience, notes } = patient(300_000);
  const reads = () => patience.until(async () => {});
  let tried = 0;
  await patience.until(async () => {
    tried += 1;
    await reads();
    if (tried < 5) throw new ReadOnlyServer();
  });
  expect(notes).toEqual(['LEDGER_AWAY', 'LEDGER_BACK']);
});

test('for each outage, one note says that it is away, and one that it is back when no call waits any more', async () => {
  const { patience, notes } = patient(300_000);
  const lost = () => new LostConnection(new Error('cut'));
  for (const _ of [1, 2]) {
    await Promise.all([patience.until(after(3, lost)), patience.until(after(6, lost))]);
    expect(notes.splice(0)).toEqual(['LEDGER_AWAY', 'LEDGER_BACK']);
  }
});

test('a later call waits no longer than the others', async () => {
  const { patience, clock } = patient(60_000);
  const never = () => patience.until(after(Number.POSITIVE_INFINITY, () => new LostConnection(new Error('cut'))));
  const away = { code: 'LEDGER_AWAY', message: expect.stringContaining(' 60 s') };
  let late: Promise<unknown> | undefined;
  const first = patience.until(async () => {
    if (clock.now() > START + 30_000) late ??= expect(never()).rejects.toMatchObject(away);
    throw new LostConnection(new Error('cut'));
  });
  await expect(first).rejects.toMatchObject(away);
  await late;
  expect(late).toBeDefined();
});
