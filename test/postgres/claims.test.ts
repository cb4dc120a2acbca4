import { describe, expect, test, vi } from 'vitest';
import { processEnvironment } from '../../src/app/environment.js';
import { waitForLeader } from '../../src/app/run/execute-run.js';
import { TakenOverError } from '../../src/domain/errors.js';
import { ClaimedRows } from '../../src/engine/row-source.js';
import type { ClaimStore } from '../../src/ledger/db/postgres/claims.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import { LedElsewhereError } from '../../src/ledger/rows/claims.js';
import type { RunRecord } from '../../src/ledger/rows/runs.js';
import type { Message } from '../../src/util/message-parts.js';
import { long } from '../helpers/long.js';
import { call, keyOf, NO_LIMITS, NOW, openRun, rowSettlement, settlement } from '../ledger/support.js';
import { withClient, withPostgres } from './server.js';
import { withWire } from './wire.js';

interface Shared {
  readonly url: string;
  readonly ledger: Ledger;
  readonly claims: ClaimStore;
  readonly run: string;
  readonly clock: { now: number };
  readonly begin: (purse?: number) => Promise<number>;
  /** An attempt that leads the run. */
  readonly lead: () => Promise<number>;
  /** Claims five new rows. */
  readonly take: (attemptId: number, limit?: number) => Promise<readonly number[]>;
}

const LEASE_MS = 20_000;

/** A run of 12 rows, and a clock that does not advance. */
const onClaims = (use: (shared: Shared) => Promise<void>) => () =>
  withPostgres(async (ledgerUrl) => {
    const clock = { now: Date.now() };
    const ledger = await openLedger({
      dataDir: 'nowhere',
      ledgerUrl,
      now: clock.now,
      clock: () => clock.now,
      access: 'write',
    });
    const { claims } = ledger;
    if (claims === undefined) throw new Error('no claims');
    try {
      const run = await openRun(ledger, 12);
      const begin = (purse?: number) =>
        ledger.calls.begin({ runId: run, begunAt: clock.now, leaseUntil: clock.now + LEASE_MS, purse, worker: 'a:1' });
      const lead = async () => {
        const attemptId = await begin();
        await claims.lead({ runId: run, attemptId });
        await ledger.runs.releaseParked(run);
        return attemptId;
      };
      const take: Shared['take'] = (attemptId, limit = 5) => claims.claim(attemptId, 'new', limit);
      await use({ url: ledgerUrl, ledger, claims, run, clock, begin, lead, take });
    } finally {
      await ledger.close();
    }
  });

const ROWS = Array.from({ length: 12 }, (_, index) => index + 1);

describe('rows', () => {
  long(
    'of two workers that may begin no more do not deadlock, and their waiting rows are kept',
    onClaims(async ({ ledger, claims, run, begin, clock, lead, take }) => {
      let mayStart = true;
      const leader = await lead();
      const helper = await begin(leader);
      const [one, other] = [leader, helper].map(
        (attemptId) =>
          new ClaimedRows({ runId: run, claims, runs: ledger.runs, attemptId, canStart: async () => mayStart }),
      ) as [ClaimedRows, ClaimedRows];
      expect([await one.pending(), await other.pending()]).toMatchObject([{ row: 1 }, { row: 6 }]);
      mayStart = false;
      await ledger.runs.settleRow(run, 1, rowSettlement({ hold: 'waiting', nextAt: clock.now - 60_000 }), leader);
      await ledger.runs.settleRow(run, 6, rowSettlement({ outcome: 'complete' }), helper);
      // Each gives back the rows that it has not begun.
      expect(await one.nextDue(clock.now)).toBe(clock.now + 1000);
      expect(await other.nextDue(clock.now)).toBe(clock.now + 1);
      expect(await other.due()).toMatchObject({ row: 1 });
      expect(await claims.run({ runId: run, attemptId: leader })).toMatchObject({ isReady: true, isElsewhere: true });
      expect(await other.nextDue(clock.now)).toBeUndefined();
      mayStart = true;
      expect(await one.pending()).toMatchObject({ row: 2 });
      expect(await one.pending()).toMatchObject({ row: 3 });
      // An interrupted row stays here until this worker ends, so that it is not taken again.
      await ledger.runs.settleRow(run, 2, rowSettlement(), leader);
      expect(await take(helper, 20)).not.toContain(2);
      await one.close();
      expect(await take(helper, 20)).toContain(2);
    }),
  );

  test(
    'are claimed in order, by one attempt each, until none is free, and settling frees a waiting row',
    onClaims(async ({ ledger, claims, run, begin, clock, lead, take }) => {
      const one = await lead();
      const other = await begin(one);
      expect(await take(one)).toEqual([1, 2, 3, 4, 5]);
      expect(await take(other)).toEqual([6, 7, 8, 9, 10]);
      expect(await take(one)).toEqual([11, 12]);
      expect(await take(other)).toEqual([]);
      const ofOne = { runId: run, attemptId: one };
      expect(await claims.run(ofOne)).toMatchObject({ isReady: false, isElsewhere: true, nextAt: null });
      const later = clock.now + 3_600_000;
      await ledger.runs.settleRow(run, 2, rowSettlement({ hold: 'waiting', nextAt: later }), one);
      await ledger.runs.settleRow(run, 6, rowSettlement({ hold: 'waiting', nextAt: clock.now - 60_000 }), other);
      expect(await claims.run(ofOne)).toMatchObject({ isReady: true, nextAt: clock.now - 60_000 });
      expect(await claims.claim(one, 'waiting', 5)).toEqual([6]);
      expect(await claims.claim(one, 'waiting', 5)).toEqual([]);
      expect(await claims.run(ofOne)).toMatchObject({ isReady: false, nextAt: later });
      clock.now = later;
      expect(await claims.claim(other, 'waiting', 5)).toEqual([2]);
      for (const row of ROWS) await ledger.runs.settleRow(run, row, rowSettlement({ outcome: 'complete' }), one);
      expect(await claims.run(ofOne)).toMatchObject({ isReady: false, isElsewhere: false, nextAt: null });
    }),
  );

  long(
    'are never claimed twice by many workers at once',
    onClaims(async ({ url, ledger, clock }) => {
      const run = await openRun(ledger, 600, 'many');
      const started = { runId: run, begunAt: clock.now, leaseUntil: clock.now + LEASE_MS };
      const leader = await ledger.calls.begin(started);
      await ledger.claims?.lead({ runId: run, attemptId: leader });
      const workers = await Promise.all(
        Array.from({ length: 4 }, () =>
          openLedger({ dataDir: 'nowhere', ledgerUrl: url, now: clock.now, clock: () => clock.now, access: 'write' }),
        ),
      );
      const taken = await Promise.all(
        workers.map(async (worker) => {
          const attemptId = await worker.calls.begin({ ...started, purse: leader });
          const rows: number[] = [];
          for (;;) {
            const more = (await worker.claims?.claim(attemptId, 'new', 7)) ?? [];
            if (more.length === 0) return rows;
            rows.push(...more);
          }
        }),
      );
      for (const worker of workers) await worker.close();
      expect(taken.flat().toSorted((a, b) => a - b)).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
    }),
  );

  test(
    'that have cost units are claimed first, also from a dead attempt',
    onClaims(async ({ url, ledger, begin, clock, lead, take }) => {
      const pay = (row: number) =>
        withClient(url, (client) => client.query('UPDATE kybatch.rows SET units_charged = 1 WHERE row = $1', [row]));
      await pay(9);
      const leader = await lead();
      expect(await take(leader, 3)).toEqual([9, 1, 2]);
      const killed = await begin(leader);
      expect(await take(killed, 5)).toEqual([3, 4, 5, 6, 7]);
      await pay(6);
      clock.now += LEASE_MS - 1;
      await ledger.calls.renew(leader, clock.now + LEASE_MS);
      await ledger.calls.markCallsOfDeadAttempts(clock.now);
      expect(await take(leader, 1)).toEqual([8]);
      clock.now += 2;
      await ledger.calls.markCallsOfDeadAttempts(clock.now);
      expect(await take(leader, 3)).toEqual([6, 3, 4]);
      await expect(take(killed)).rejects.toThrow(TakenOverError);
      expect(await ledger.runs.settleRow('run', 5, rowSettlement({ outcome: 'complete' }), killed)).toBe(false);
    }),
  );

  test(
    'of a retry are the only ones that workers take, also when its leader has died',
    onClaims(async ({ ledger, run, begin, clock, lead, take }) => {
      const leader = await lead();
      await ledger.runs.leaveOutOthers(run, [4, 8]);
      const helper = await begin(leader);
      expect(await take(helper, 1)).toEqual([4]);
      clock.now += LEASE_MS + 1;
      await ledger.calls.renew(helper, clock.now + LEASE_MS);
      await ledger.calls.markCallsOfDeadAttempts(clock.now);
      expect(await take(helper)).toEqual([8]);
      expect(await take(helper)).toEqual([]);
      const next = await lead();
      expect(await take(next, 3)).toEqual([1, 2, 3]);
    }),
  );

  test.each([
    ['as long as a call may take', undefined, 40_000],
    ['for the time that its run allows for a call', 120_000, 125_000],
  ])(
    'V1-5 of an attempt blocked beyond its lease are not sent again before they are lost: %s',
    async (_, deadlineMs, lostAfterMs) => {
      await onClaims(async ({ url, ledger, run, begin, clock }) => {
        if (deadlineMs !== undefined)
          await withClient(url, (client) =>
            client.query('UPDATE kybatch.runs SET settings = $1', [JSON.stringify({ pipeline: { deadlineMs } })]),
          );
        const { calls } = ledger;
        const environmentId = await calls.environment('v1', 'live');
        const blocked = await begin();
        const sentAt = clock.now;
        const ask = (attemptId: number, request: string) =>
          calls.intend(
            call(
              { environmentId, attemptId },
              { runId: run, row: 1, requestKey: keyOf(request), startedAt: clock.now, reusableSince: 0 },
            ),
            NO_LIMITS,
          );
        const [home, gone] = [await ask(blocked, 'home'), await ask(blocked, 'gone')];
        if (home.kind !== 'intent' || gone.kind !== 'intent') throw new Error('no intent');
        clock.now = sentAt + LEASE_MS + 1;
        const other = await begin();
        // Its lease has expired and its rows are free. Its calls are in flight.
        expect(await calls.markCallsOfDeadAttempts(clock.now)).toBe(0);
        expect(await calls.renew(blocked, clock.now + LEASE_MS)).toBe(false);
        for (const request of ['home', 'gone']) expect(await ask(other, request)).toEqual({ kind: 'under_way' });
        // The process wakes up: its paid answers are stored and not bought again. It begins nothing new.
        expect(await calls.settle(home.intent, settlement({ settledAt: clock.now }))).toBe(true);
        expect(await ask(other, 'home')).toEqual({ kind: 'answered' });
        expect(await ask(blocked, 'new')).toEqual({ kind: 'taken_over' });
        await calls.renew(other, sentAt + 10 * LEASE_MS);
        clock.now = sentAt + lostAfterMs;
        expect(await calls.markCallsOfDeadAttempts(clock.now)).toBe(0);
        clock.now += 1;
        expect(await calls.markCallsOfDeadAttempts(clock.now)).toBe(1);
        expect(await ask(other, 'gone')).toMatchObject({ kind: 'intent' });
        expect(await calls.settle(gone.intent, settlement({ settledAt: clock.now }))).toBe(false);
      })();
    },
  );

  test(
    'have one leader: another is refused while it lives, and takes over all that no living attempt has when it dies',
    onClaims(async ({ claims, run, begin, clock, lead, take }) => {
      const leader = await lead();
      expect(await take(leader)).toEqual([1, 2, 3, 4, 5]);
      await expect(lead()).rejects.toThrow(LedElsewhereError);
      clock.now += LEASE_MS + 1;
      const helper = await begin(leader);
      expect(await take(helper)).toEqual([6, 7, 8, 9, 10]);
      const next = await lead();
      expect(await take(next, 20)).toEqual([1, 2, 3, 4, 5, 11, 12]);
      // A dead leader that wakes up does not lead any more.
      await expect(take(leader)).rejects.toThrow(TakenOverError);
      expect(await claims.runs()).toMatchObject([{ runId: run, attemptId: next, leaderIsAlive: true, worker: 'a:1' }]);
    }),
  );

  test(
    'are free for no worker when the leader leaves, and without a leader the last worker ends the run',
    onClaims(async ({ ledger, claims, run, begin, clock, lead, take }) => {
      const leader = await lead();
      await claims.leave({ runId: run, attemptId: leader }, false);
      expect(await claims.runs()).toEqual([]);
      expect(await take(leader)).toEqual([]);
      await claims.lead({ runId: run, attemptId: leader });
      const [helper, other] = [await begin(leader), await begin(leader)];
      expect(await take(helper)).toHaveLength(5);
      expect(await claims.leave({ runId: run, attemptId: helper }, true)).toBe(false);
      clock.now += LEASE_MS + 1;
      expect(await claims.leave({ runId: run, attemptId: other }, true)).toBe(false);
      await ledger.calls.end(helper, clock.now);
      expect(await claims.leave({ runId: run, attemptId: other }, true)).toBe(true);
      expect(await claims.runs()).toEqual([]);
    }),
  );

  test(
    'use the leader’s limits: a worker with other limits begins nothing more, and starts over',
    onClaims(async ({ ledger, claims, run, begin, clock, lead, take }) => {
      const environmentId = await ledger.calls.environment('v1', 'https://provider.test');
      const ask = (attemptId: number, key: string) =>
        ledger.calls.intend(
          call({ attemptId, environmentId }, { runId: run, row: 1, requestKey: keyOf(key), startedAt: clock.now }),
          NO_LIMITS,
        );
      const first = await lead();
      const helper = await begin(first);
      expect(await take(helper)).toHaveLength(5);
      const sent = await ask(helper, 'before');
      if (sent.kind !== 'intent') throw new Error('not sent');
      clock.now += LEASE_MS + 1;
      await ledger.calls.renew(helper, clock.now + LEASE_MS);
      const next = await begin();
      // While it waits for the lead, the other budget is used.
      clock.now += 10;
      const meanwhile = await ask(helper, 'meanwhile');
      if (meanwhile.kind !== 'intent') throw new Error('not sent');
      await ledger.calls.settle(meanwhile.intent, settlement());
      clock.now += 10;
      await claims.lead({ runId: run, attemptId: next });
      expect(await ask(helper, 'after')).toEqual({ kind: 'led_anew' });
      // The answer of a call in flight arrives. It counts against the next attempt's limit.
      expect(await ledger.calls.settle(sent.intent, settlement())).toBe(true);
      expect((await ledger.reading.lastAttempt(run))?.unitsSpent).toBe(1);
      // The next attempt does not count it as its own.
      expect(await ledger.reading.spent(next)).toMatchObject({ units: 0 });
      const late = await begin(first);
      expect(await take(late)).toEqual([]);
      // This also holds if the earlier leader has left and a worker still has rows of it.
      const before = await begin(next);
      await claims.leave({ runId: run, attemptId: next }, false);
      await ledger.calls.end(next, clock.now);
      const last = await lead();
      expect(await ask(before, 'left')).toEqual({ kind: 'led_anew' });
      const anew = await begin(last);
      expect(await take(anew)).toHaveLength(5);
      expect(await ask(anew, 'anew')).toMatchObject({ kind: 'intent' });
    }),
  );

  test(
    'that are deferred stay when the leader has left, for any worker at their time',
    onClaims(async ({ ledger, claims, run, begin, clock, lead, take }) => {
      const leader = await lead();
      const helper = await begin(leader);
      const until = clock.now + 3_600_000;
      const ofHelper = { runId: run, attemptId: helper };
      const settle = (row: number, state: Parameters<typeof rowSettlement>[0], by: number) =>
        ledger.runs.settleRow(run, row, rowSettlement(state), by);
      expect(await take(leader, 4)).toEqual([1, 2, 3, 4]);
      await settle(3, { hold: 'parked', holdReason: 'allowance', nextAt: until }, leader);
      await settle(4, { hold: 'parked', holdReason: 'allowance', nextAt: until + 9000 }, leader);
      await settle(1, { hold: 'parked', holdReason: 'budget', nextAt: null }, leader);
      await settle(2, { outcome: 'complete' }, leader);
      expect(await claims.leave(ofHelper, true)).toBe(false);
      expect(await take(helper, 1)).toEqual([5]);
      expect(await claims.leave({ runId: run, attemptId: leader }, true)).toBe(true);
      await ledger.calls.end(leader, clock.now);
      expect(await take(helper)).toEqual([]);
      const deferred = { isReady: false, nextAt: until + 1000, leaderIsAlive: false, attemptId: leader };
      expect(await claims.runs()).toMatchObject([{ ...deferred, isElsewhere: true }]);
      // A row that waits for something else is taken at its own time.
      await settle(5, { hold: 'waiting', nextAt: clock.now + 60_000 }, helper);
      expect(await claims.runs()).toMatchObject([{ ...deferred, isElsewhere: false, nextAt: clock.now + 60_000 }]);
      clock.now += 60_000;
      await ledger.calls.renew(helper, until + 3_600_000);
      expect(await claims.claim(helper, 'waiting', 5)).toEqual([5]);
      await settle(5, { outcome: 'complete' }, helper);
      clock.now = until + 1000;
      expect(await claims.runs()).toMatchObject([{ isReady: true }]);
      expect(await take(helper)).toEqual([]);
      await claims.join(run);
      expect(await take(helper, 3)).toEqual([3, 6, 7]);
      for (const row of [3, 6, 7]) await settle(row, { outcome: 'complete' }, helper);
      // The next allowance.
      expect(await claims.leave(ofHelper, true)).toBe(true);
      expect(await claims.runs()).toMatchObject([{ isReady: false, nextAt: until + 10_000 }]);
      await ledger.runs.settleRow(run, 4, rowSettlement({ outcome: 'complete' }));
      // A limit does not reset with time.
      expect(await claims.leave(ofHelper, true)).toBe(true);
      expect(await claims.runs()).toEqual([]);
    }),
  );

  test(
    'are refused to a dead attempt, without an effect on other writes of its commit or later attempts',
    onClaims(async ({ ledger, run, begin, clock, lead, take }) => {
      const leader = await lead();
      const helper = await begin(leader);
      await ledger.calls.end(helper, clock.now);
      const [refused, renewed] = await Promise.allSettled([
        take(helper),
        ledger.calls.renew(leader, clock.now + LEASE_MS),
      ]);
      expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(TakenOverError) });
      // Neither writes in the same commit nor later ones are affected.
      expect(renewed).toMatchObject({ status: 'fulfilled', value: true });
      const anew = await begin(leader);
      expect(await take(anew)).toEqual([1, 2, 3, 4, 5]);
      const environmentId = await ledger.calls.environment('v1', 'https://provider.test');
      const wanted = call({ attemptId: anew, environmentId }, { runId: run, row: 1, startedAt: clock.now });
      expect(await ledger.calls.intend(wanted, NO_LIMITS)).toMatchObject({ kind: 'intent' });
    }),
  );

  long(
    'of more than 32 runs are claimed at once',
    onClaims(async ({ ledger, claims, clock }) => {
      for (let nth = 1; nth <= 40; nth++) {
        const runId = await openRun(ledger, 1, `run ${nth}`);
        const started = { runId, begunAt: clock.now, leaseUntil: clock.now + LEASE_MS };
        const leader = await ledger.calls.begin(started);
        await claims.lead({ runId, attemptId: leader });
        const helper = await ledger.calls.begin({ ...started, purse: leader });
        expect(await claims.claim(helper, 'new', 5)).toEqual([1]);
      }
      expect(await claims.runs()).toHaveLength(40);
    }),
  );
});

describe('an attempt', () => {
  test(
    'that waits for a lock is alive, and renews its lease',
    onClaims(async ({ url, ledger, run, begin, clock }) => {
      const start = await begin();
      const environmentId = await ledger.calls.environment('v1', 'https://provider.test');
      const wanted = call({ attemptId: start, environmentId }, { runId: run, row: 1, startedAt: clock.now });
      let isSent = false;
      await withClient(url, async (client) => {
        await client.query('BEGIN; LOCK TABLE kybatch.calls');
        const intended = ledger.calls.intend(wanted, NO_LIMITS).then((made) => {
          isSent = true;
          return made;
        });
        await vi.waitUntil(async () => {
          const { rows } = await client.query('SELECT 1 FROM pg_locks WHERE NOT granted');
          return rows.length > 0;
        });
        expect(await ledger.calls.renew(start, clock.now + 2 * LEASE_MS)).toBe(true);
        expect(isSent).toBe(false);
        await client.query('COMMIT');
        expect(await intended).toMatchObject({ kind: 'intent' });
      });
    }),
  );
});

describe('a run in progress', () => {
  test(
    'cannot be deleted until it rests, and then is deleted with its claims',
    onClaims(async ({ ledger, claims, run, lead, take, clock }) => {
      const start = await lead();
      await take(start);
      await expect(ledger.housekeeping.dropRun(run)).rejects.toMatchObject({
        exit: 75,
        code: 'LED_ELSEWHERE',
        message: expect.stringContaining(' a:1'),
      });
      await ledger.calls.end(start, clock.now);
      await ledger.housekeeping.dropRun(run);
      expect(await ledger.runs.find(run)).toBeUndefined();
      expect(await claims.runs()).toEqual([]);
      const next = await openRun(ledger, 2, 'just made', clock.now - 1);
      await expect(ledger.housekeeping.dropRun(next)).rejects.toThrow(LedElsewhereError);
    }),
  );
});

test(
  'a new leader waits until the old one’s lease has ended, and an old one that renews it keeps the lead',
  onClaims(async ({ ledger, claims, run: id, clock, lead }) => {
    const notes: string[] = [];
    const waits = (whileAsleep: () => Promise<unknown>) => {
      const sleep = async (ms: number) => {
        await whileAsleep();
        clock.now += ms;
      };
      const environment = {
        ...processEnvironment(),
        clock: { now: () => clock.now, sleep },
        onNote: ({ code }: Message) => notes.push(code),
      };
      const ofRun = { isMeant: (run: RunRecord) => run.id === id, called: 'this run' };
      return waitForLeader(ofRun, {}, { ...environment, ledger, dataDir: '' });
    };
    await waits(async () => expect.unreachable());
    await lead();
    const until = clock.now + LEASE_MS;
    await waits(async () => {});
    expect(clock.now).toBeGreaterThanOrEqual(until);
    const next = await lead();
    expect(await claims.runs()).toMatchObject([{ runId: id, attemptId: next }]);
    const third = waits(() => ledger.calls.renew(next, clock.now + 2 * LEASE_MS));
    await expect(third).rejects.toThrow(LedElsewhereError);
    expect(notes).toEqual(Array(2).fill('WAITING_FOR_LEADER'));
    await expect(lead()).rejects.toThrow(LedElsewhereError);
  }),
);

test(
  'a run whose attempts were deleted is led by the next one',
  onClaims(async ({ url, claims, lead, take }) => {
    expect(await take(await lead())).toEqual([1, 2, 3, 4, 5]);
    await withClient(url, (client) => client.query('TRUNCATE kybatch.starts'));
    const next = await lead();
    expect(await claims.runs()).toMatchObject([{ attemptId: next }]);
    expect(await take(next)).toEqual([1, 2, 3, 4, 5]);
  }),
);

test('a slow-down request to one process reaches the others at once', () =>
  withPostgres(async (ledgerUrl) => {
    const open = () => openLedger({ dataDir: 'nowhere', ledgerUrl, now: NOW, access: 'write' });
    const [one, other] = [await open(), await open()];
    try {
      const signal = { kind: 'slow_down', attemptId: 1, environmentId: 2, pauseMs: 300 } as const;
      await withClient(ledgerUrl, async (client) => {
        const sent = new Promise<string>((resolve) =>
          client.on('notification', ({ payload = '' }) => resolve(payload)),
        );
        await client.query('LISTEN kybatch');
        const heard = new Promise(
          (resolve) => void other.signals?.listen(resolve).then(() => one.signals?.tell(signal)),
        );
        expect(await heard).toEqual(signal);
        // Processes of other versions read these names.
        const names = { kind: 'slow_down', startId: 1, environmentId: 2, pauseMs: 300 };
        expect(JSON.parse(await sent)).toEqual(names);
      });
    } finally {
      await one.close();
      await other.close();
    }
  }));

long('a process that cannot listen at its beginning does so later: it is no reason to end', () =>
  withPostgres((direct) =>
    withWire(direct, async (wire) => {
      const open = (ledgerUrl: string) => openLedger({ dataDir: 'nowhere', ledgerUrl, now: NOW, access: 'write' });
      const [one, other] = [await open(direct), await open(wire.url)];
      try {
        await wire.refuse();
        const signal = { kind: 'slow_down', attemptId: 1, environmentId: 2, pauseMs: 300 } as const;
        let stop: (() => Promise<void>) | undefined;
        const heard = new Promise((resolve) => {
          void other.signals?.listen(resolve).then((end) => {
            stop = end;
          });
        });
        await wire.open();
        const telling = setInterval(() => void one.signals?.tell(signal), 50);
        expect(await heard).toEqual(signal);
        clearInterval(telling);
        await stop?.();
      } finally {
        await one.close();
        await other.close();
      }
    }),
  ),
);

test.each([-1, 1])('a process whose clock jumps (%i) renews no lease, and one that was only frozen does', (sign) =>
  onClaims(async ({ ledger: { calls }, begin, clock }) => {
    const start = await begin();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + sign * 9000 });
    try {
      await expect(calls.renew(start, clock.now + LEASE_MS)).rejects.toMatchObject({
        exit: 2,
        code: 'CLOCKS_APART',
        message: expect.stringMatching(/ [89] s /),
      });
      vi.useRealTimers();
      const asked = vi.spyOn(Date, 'now').mockReturnValueOnce(Date.now() - 60_000);
      expect(await calls.renew(start, clock.now + LEASE_MS)).toBe(true);
      expect(asked).toHaveBeenCalled();
    } finally {
      vi.restoreAllMocks();
      vi.useRealTimers();
    }
  })(),
);

test.each([-1, 1])('a process whose clock is off by more than leases allow (%i) may read, and write nothing', (sign) =>
  withPostgres(async (ledgerUrl) => {
    const open = (access: 'read' | 'write') => openLedger({ dataDir: 'nowhere', ledgerUrl, now: Date.now(), access });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + sign * 9000 });
    try {
      await expect(open('write')).rejects.toMatchObject({
        exit: 2,
        code: 'CLOCKS_APART',
        message: expect.stringMatching(/ [89] s /),
      });
      await (await open('read')).close();
    } finally {
      vi.useRealTimers();
    }
    await (await open('write')).close();
  }),
);
