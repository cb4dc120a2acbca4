import { describe, expect, test, vi } from 'vitest';
import { processEnvironment } from '../../src/app/environment.js';
import { waitForLeader } from '../../src/app/run/execute-run.js';
import { TakenOverError } from '../../src/domain/errors.js';
import { JobRows } from '../../src/engine/row-source.js';
import { QUEUES } from '../../src/ledger/db/postgres/migrate.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/open-ledger.js';
import type { RunRecord } from '../../src/ledger/rows/runs.js';
import { type JobStore, LedElsewhereError, type WaitingRow } from '../../src/ledger/rows/workers.js';
import type { Message } from '../../src/util/message-parts.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { call, keyOf, NO_LIMITS, NOW, openRun, settlement } from '../ledger/support.js';
import { withClient, withPostgres } from './server.js';
import { withWire } from './wire.js';

interface Shared {
  readonly url: string;
  readonly ledger: Ledger;
  readonly jobs: JobStore;
  readonly run: string;
  readonly clock: { now: number };
  readonly begin: (purse?: number) => Promise<number>;
  /** The start leads, and has laid this. */
  readonly lay: (attemptId: number, rows: readonly number[], waiting: readonly WaitingRow[]) => Promise<void>;
}

const LEASE_MS = 20_000;

/** A run of 12 rows, and a clock that stands still. */
const onJobs = (use: (shared: Shared) => Promise<void>) => () =>
  withPostgres(async (ledgerUrl) => {
    // Jobs with a time are ready by the clock of the server.
    const clock = { now: Date.now() };
    const ledger = await openLedger({
      dataDir: 'nowhere',
      ledgerUrl,
      now: clock.now,
      clock: () => clock.now,
      access: 'write',
    });
    const { jobs } = ledger;
    if (jobs === undefined) throw new Error('no jobs');
    try {
      const run = await openRun(ledger, 12);
      const begin = (purse?: number) =>
        ledger.calls.begin({ runId: run, begunAt: clock.now, leaseUntil: clock.now + LEASE_MS, purse, worker: 'a:1' });
      const lay: Shared['lay'] = async (attemptId, rows, waiting) => {
        await jobs.lead({ runId: run, attemptId });
        await jobs.enqueue({ runId: run, attemptId }, rows, waiting);
      };
      await use({ url: ledgerUrl, ledger, jobs, run, clock, begin, lay });
    } finally {
      await ledger.close();
    }
  });

const NOTHING = { waiting: [], givenUp: [] };

const ROWS = Array.from({ length: 12 }, (_, index) => index + 1);

describe('jobs', () => {
  test(
    'of two workers that may begin no more rows do not deadlock, and their waiting rows are kept',
    onJobs(async ({ ledger, jobs, run, begin, clock, lay }) => {
      let mayStart = true;
      const leader = await begin();
      const starts = [leader, await begin(leader)];
      await lay(starts[0] ?? 0, ROWS, []);
      const common = { runId: run, jobs, runs: ledger.runs, clock: new JumpingClock(clock.now) };
      const [one, other] = starts.map(
        (attemptId) => new JobRows({ ...common, attemptId, canStart: async () => mayStart }),
      ) as [JobRows, JobRows];
      expect(await Promise.all([one.pending(), other.pending()])).toMatchObject([{ row: 1 }, { row: 6 }]);
      mayStart = false;
      one.rowDone(1, { outcome: 'pending', hold: 'waiting', nextAt: clock.now - 60_000 });
      other.rowDone(6, { outcome: 'complete', hold: null, nextAt: null });
      expect(await one.nextDue(clock.now)).toBe(clock.now + 1000);
      expect(await other.nextDue(clock.now)).toBe(clock.now + 1);
      expect((await jobs.take(starts[1] ?? 0, run, 'waits'))?.rows).toEqual([1]);
      expect(await jobs.left(run, -1)).toMatchObject({ ready: 3, elsewhere: 1 });
      expect(await other.nextDue(clock.now)).toBeUndefined();
      mayStart = true;
      expect(await one.pending()).toMatchObject({ row: 2 });
      expect(await one.pending()).toMatchObject({ row: 3 });
      // Broken off on its way.
      one.rowDone(2, { outcome: 'pending', hold: null, nextAt: null });
      await one.close();
      expect((await jobs.take(starts[1] ?? 0, run, 'rows'))?.rows).toEqual([7, 8, 9, 10]);
      expect((await jobs.take(starts[1] ?? 0, run, 'rows'))?.rows).toEqual([2, 3, 4, 5]);
    }),
  );

  test(
    'are taken in the order they were queued, by one attempt each, until none is ready',
    onJobs(async ({ jobs, run, begin, lay }) => {
      const one = await begin();
      const other = await begin(one);
      await lay(one, ROWS.toReversed(), []);
      const first = await jobs.take(one, run, 'rows');
      const second = await jobs.take(other, run, 'rows');
      const third = await jobs.take(one, run, 'rows');
      expect([first?.rows, second?.rows, third?.rows]).toEqual([
        [12, 11, 10, 9, 8],
        [7, 6, 5, 4, 3],
        [2, 1],
      ]);
      expect(await jobs.take(other, run, 'rows')).toBeUndefined();
      expect(await jobs.left(run, one)).toEqual({ ready: 0, elsewhere: 1, nextWaitAt: null, leader: one });
      for (const [start, job] of [
        [one, first],
        [other, second],
        [one, third],
      ] as const)
        if (job !== undefined) await jobs.finish(start, job, NOTHING);
      expect(await jobs.left(run, one)).toEqual({ ready: 0, elsewhere: 0, nextWaitAt: null, leader: one });
    }),
  );

  test(
    'whose rows wait come back at their time, as separate jobs',
    onJobs(async ({ jobs, run, begin, clock, lay }) => {
      const start = await begin();
      await lay(start, [1, 2, 3], [{ row: 9, nextAt: clock.now - 60_000 }]);
      expect((await jobs.take(start, run, 'waits'))?.rows).toEqual([9]);
      const job = await jobs.take(start, run, 'rows');
      if (job === undefined) throw new Error('no job');
      const later = clock.now + 3_600_000;
      const waiting = [
        { row: 2, nextAt: later },
        { row: 3, nextAt: clock.now - 60_000 },
      ];
      await jobs.finish(start, job, { waiting, givenUp: [] });
      expect((await jobs.take(start, run, 'waits'))?.rows).toEqual([3]);
      expect(await jobs.take(start, run, 'waits')).toBeUndefined();
      const { nextWaitAt } = await jobs.left(run, start);
      expect(nextWaitAt).toBeGreaterThanOrEqual(later);
      expect(nextWaitAt).toBeLessThan(later + 5001);
    }),
  );

  test(
    'of a dead attempt are free again after its lease, and it can finish none of them',
    onJobs(async ({ ledger, jobs, run, begin, clock, lay }) => {
      const dead = await begin();
      await lay(dead, ROWS, []);
      const held = await jobs.take(dead, run, 'rows');
      if (held === undefined) throw new Error('no job');
      clock.now += LEASE_MS - 1;
      const alive = await begin(dead);
      await ledger.calls.flagLost(clock.now);
      expect(await jobs.handBack()).toBe(0);
      clock.now += 2;
      await ledger.calls.flagLost(clock.now);
      expect(await jobs.handBack()).toBe(1);
      await expect(jobs.finish(dead, held, NOTHING)).rejects.toThrow(TakenOverError);
      await expect(jobs.take(dead, run, 'rows')).rejects.toThrow(TakenOverError);
      expect((await jobs.take(alive, run, 'rows'))?.rows).toEqual(held.rows);
    }),
  );

  test.each([
    ['as long as a call may take', undefined, 40_000],
    ['as long as its run says that a call may take', 120_000, 125_000],
  ])(
    'V1-5 of an attempt blocked beyond its lease are not sent again before they are lost: %s',
    async (_, deadlineMs, lostAfterMs) => {
      await onJobs(async ({ url, ledger, run, begin, clock }) => {
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
        // Its lease has run out, and its rows are free; its calls are under way.
        expect(await calls.flagLost(clock.now)).toBe(0);
        expect(await calls.renew(blocked, clock.now + LEASE_MS)).toBe(false);
        for (const request of ['home', 'gone']) expect(await ask(other, request)).toEqual({ kind: 'under_way' });
        // It wakes up: its paid answers are stored and not bought again. It begins nothing new.
        expect(await calls.settle(home.intent, settlement({ settledAt: clock.now }))).toBe(true);
        expect(await ask(other, 'home')).toEqual({ kind: 'answered' });
        expect(await ask(blocked, 'new')).toEqual({ kind: 'taken_over' });
        await calls.renew(other, sentAt + 10 * LEASE_MS);
        clock.now = sentAt + lostAfterMs;
        expect(await calls.flagLost(clock.now)).toBe(0);
        clock.now += 1;
        expect(await calls.flagLost(clock.now)).toBe(1);
        expect(await ask(other, 'gone')).toMatchObject({ kind: 'intent' });
        expect(await calls.settle(gone.intent, settlement({ settledAt: clock.now }))).toBe(false);
      })();
    },
  );

  test(
    'rows that were given up are free at once, and are taken first',
    onJobs(async ({ jobs, run, begin, lay }) => {
      const start = await begin();
      await lay(start, ROWS, []);
      const job = await jobs.take(start, run, 'rows');
      if (job === undefined) throw new Error('no job');
      await jobs.finish(start, job, { waiting: [], givenUp: [2, 4] });
      expect((await jobs.take(start, run, 'rows'))?.rows).toEqual([2, 4]);
      expect((await jobs.take(start, run, 'rows'))?.rows).toEqual([6, 7, 8, 9, 10]);
    }),
  );

  test(
    'have one leader: another is refused while it lives, and takes over all that no living attempt holds when it dies',
    onJobs(async ({ jobs, run, begin, clock, lay }) => {
      const leader = await begin();
      await lay(leader, ROWS, []);
      await expect(jobs.lead({ runId: run, attemptId: await begin() })).rejects.toThrow(LedElsewhereError);
      clock.now += LEASE_MS + 1;
      const helper = await begin(leader);
      const held = await jobs.take(helper, run, 'rows');
      const next = await begin();
      const elsewhere = await jobs.lead({ runId: run, attemptId: next });
      expect([...elsewhere]).toEqual([1, 2, 3, 4, 5]);
      expect(held?.rows).toEqual([1, 2, 3, 4, 5]);
      await expect(jobs.enqueue({ runId: run, attemptId: leader }, ROWS, [])).rejects.toThrow(TakenOverError);
      await jobs.enqueue({ runId: run, attemptId: next }, ROWS.slice(5), []);
      expect((await jobs.take(next, run, 'rows'))?.rows).toEqual([6, 7, 8, 9, 10]);
      // The one that has died is not the leader any more, should it wake up.
      await expect(jobs.take(leader, run, 'rows')).rejects.toThrow(TakenOverError);
      expect(await jobs.runs()).toEqual([{ runId: run, attemptId: next, leaderIsAlive: true, worker: 'a:1' }]);
    }),
  );

  test(
    'end when the leader leaves; without a leader the last worker closes the run',
    onJobs(async ({ jobs, run, begin, clock, lay }) => {
      const leader = await begin();
      await lay(leader, ROWS, []);
      await jobs.leave({ runId: run, attemptId: leader }, undefined);
      expect(await jobs.runs()).toEqual([]);
      expect(await jobs.take(leader, run, 'rows')).toBeUndefined();
      await lay(leader, [1], []);
      const job = await jobs.take(leader, run, 'rows');
      if (job === undefined) throw new Error('no job');
      await jobs.finish(leader, job, NOTHING);
      expect(await jobs.close(run)).toBe(false);
      clock.now += LEASE_MS + 1;
      expect(await jobs.close(run)).toBe(true);
      expect(await jobs.runs()).toEqual([]);
    }),
  );

  test(
    'use the leader’s limits: a worker with the limits of another begins nothing more, and starts over',
    onJobs(async ({ ledger, jobs, run, begin, clock, lay }) => {
      const environmentId = await ledger.calls.environment('v1', 'https://provider.test');
      const ask = (attemptId: number, key: string) =>
        ledger.calls.intend(
          call({ attemptId, environmentId }, { runId: run, row: 1, requestKey: keyOf(key), startedAt: clock.now }),
          NO_LIMITS,
        );
      const first = await begin();
      await lay(first, ROWS, []);
      const helper = await begin(first);
      expect(await jobs.take(helper, run, 'rows')).toBeDefined();
      const sent = await ask(helper, 'before');
      if (sent.kind !== 'intent') throw new Error('not sent');
      clock.now += LEASE_MS + 1;
      await ledger.calls.renew(helper, clock.now + LEASE_MS);
      const next = await begin();
      // While it waits for the lead the other purse is spent from.
      clock.now += 10;
      const meanwhile = await ask(helper, 'meanwhile');
      if (meanwhile.kind !== 'intent') throw new Error('not sent');
      await ledger.calls.settle(meanwhile.intent, settlement());
      clock.now += 10;
      await lay(next, ROWS.slice(5), []);
      expect(await ask(helper, 'after')).toEqual({ kind: 'led_anew' });
      // What is under way comes home, and counts against what the next one may spend.
      expect(await ledger.calls.settle(sent.intent, settlement())).toBe(true);
      expect((await ledger.reading.lastAttempt(run))?.unitsSpent).toBe(1);
      // It is not told as spent by the next one.
      expect(await ledger.reading.spent(next)).toMatchObject({ units: 0 });
      const late = await begin(first);
      expect(await jobs.take(late, run, 'rows')).toBeUndefined();
      // The same where the one before has left it, and somebody still has rows of it.
      const before = await begin(next);
      await jobs.leave({ runId: run, attemptId: next }, undefined);
      await ledger.calls.end(next, clock.now);
      const last = await begin();
      await lay(last, ROWS.slice(5), []);
      expect(await ask(before, 'left')).toEqual({ kind: 'led_anew' });
      const anew = await begin(last);
      expect(await jobs.take(anew, run, 'rows')).toBeDefined();
      expect(await ask(anew, 'anew')).toMatchObject({ kind: 'intent' });
    }),
  );

  test(
    'that are deferred stay when the leader has left, for any worker at their time',
    onJobs(async ({ ledger, jobs, run, begin, clock, lay }) => {
      const leader = await begin();
      const helper = await begin(leader);
      await lay(leader, ROWS, []);
      const until = clock.now + 3_600_000;
      const soonAfter = expect.closeTo(until, -5);
      await jobs.leave({ runId: run, attemptId: helper }, { rows: ROWS, until, waiting: [] });
      expect(await jobs.left(run, helper)).toMatchObject({ ready: 3, nextWaitAt: null });
      const held = await jobs.take(helper, run, 'rows');
      if (held === undefined) throw new Error('no job');
      await jobs.leave(
        { runId: run, attemptId: leader },
        { rows: [3, 1, 2, 4, 5, 6], until, waiting: [{ row: 9, nextAt: until + 9000 }] },
      );
      await ledger.calls.end(leader, clock.now);
      expect(await jobs.take(helper, run, 'rows')).toBeUndefined();
      expect(await jobs.left(run, -1)).toMatchObject({ ready: 0, elsewhere: 1, nextWaitAt: soonAfter });
      // While another holds a job, what becomes of its rows is not known.
      const other = await begin(leader);
      await jobs.leave({ runId: run, attemptId: other }, { rows: [7], until, waiting: [] });
      expect(await jobs.left(run, -1)).toMatchObject({ nextWaitAt: soonAfter });
      await jobs.finish(helper, held, NOTHING);
      await jobs.leave(
        { runId: run, attemptId: other },
        {
          rows: [3, 1, 2, 4, 5, 6],
          until: clock.now - 5000,
          waiting: [{ row: 9, nextAt: clock.now - 20_000 }],
        },
      );
      expect(await jobs.runs()).toMatchObject([{ runId: run, attemptId: leader, leaderIsAlive: false }]);
      expect((await jobs.take(other, run, 'rows'))?.rows).toEqual([3, 1, 2, 4, 5]);
      expect((await jobs.take(other, run, 'rows'))?.rows).toEqual([6]);
      expect((await jobs.take(other, run, 'waits'))?.rows).toEqual([9]);
      expect(await jobs.close(run)).toBe(false);
    }),
  );

  test(
    'return to their own run, also if its queue is another’s by then; a dead holder leaves nothing there',
    onJobs(async ({ ledger, jobs, run, begin, clock, lay }) => {
      const leader = await begin();
      const [slow, dead] = [await begin(leader), await begin(leader)];
      await lay(leader, ROWS, []);
      const held = await jobs.take(slow, run, 'rows');
      if (held === undefined || (await jobs.take(dead, run, 'rows')) === undefined) throw new Error('no job');
      await jobs.leave({ runId: run, attemptId: leader }, undefined);
      await ledger.calls.end(leader, clock.now);
      const next = await openRun(ledger, 12, 'next');
      const its = await ledger.calls.begin({ runId: next, begunAt: clock.now, leaseUntil: clock.now + LEASE_MS });
      expect(await jobs.lead({ runId: next, attemptId: its })).toEqual(new Set());
      await jobs.finish(slow, held, { waiting: [{ row: 1, nextAt: clock.now - 9000 }], givenUp: [2] });
      await ledger.calls.end(dead, clock.now);
      expect(await jobs.handBack()).toBe(1);
      expect(await jobs.left(next, its)).toMatchObject({ ready: 0, elsewhere: 0, nextWaitAt: null });
    }),
  );

  test(
    'are refused to a dead attempt; other writes of its commit and later attempts are not affected',
    onJobs(async ({ ledger, jobs, run, begin, clock, lay }) => {
      const leader = await begin();
      await lay(leader, ROWS, []);
      const helper = await begin(leader);
      await ledger.calls.end(helper, clock.now);
      const [refused, renewed] = await Promise.allSettled([
        jobs.take(helper, run, 'rows'),
        ledger.calls.renew(leader, clock.now + LEASE_MS),
      ]);
      expect(refused).toMatchObject({ status: 'rejected', reason: expect.any(TakenOverError) });
      // Nothing of it reaches those that share its commit, or come later.
      expect(renewed).toMatchObject({ status: 'fulfilled', value: true });
      const anew = await begin(leader);
      expect((await jobs.take(anew, run, 'rows'))?.rows).toEqual([1, 2, 3, 4, 5]);
      const environmentId = await ledger.calls.environment('v1', 'https://provider.test');
      const wanted = call({ attemptId: anew, environmentId }, { runId: run, row: 1, startedAt: clock.now });
      expect(await ledger.calls.intend(wanted, NO_LIMITS)).toMatchObject({ kind: 'intent' });
    }),
  );

  test(
    'that are deferred take no queue from a beginning run',
    onJobs(async ({ ledger, jobs, run, begin, clock, lay }) => {
      const first = await begin();
      await lay(first, ROWS, []);
      await jobs.leave({ runId: run, attemptId: first }, { rows: ROWS, until: clock.now + 3_600_000, waiting: [] });
      await ledger.calls.end(first, clock.now);
      const alive: string[] = [];
      const setOut = async (name: string) => {
        const runId = await openRun(ledger, 1, name);
        const attemptId = await ledger.calls.begin({
          runId,
          begunAt: clock.now,
          leaseUntil: clock.now + LEASE_MS,
          worker: 'a:1',
        });
        await jobs.lead({ runId, attemptId });
        alive.push(runId);
      };
      for (let nth = 1; nth < QUEUES; nth++) await setOut(`run ${nth}`);
      expect(await jobs.runs()).toHaveLength(QUEUES);
      await setOut('one more');
      expect((await jobs.runs()).map(({ runId }) => runId).toSorted()).toEqual(alive.toSorted());
      // They all have somebody who works on them.
      await expect(setOut('one too many')).rejects.toMatchObject({ code: 'NO_QUEUE' });
      // Its rows are in the ledger.
      expect(await ledger.runs.pendingRows(run)).toEqual(ROWS);
    }),
  );
});

describe('an attempt', () => {
  test(
    'that waits for a lock is alive, and renews its lease',
    onJobs(async ({ url, ledger, run, begin, clock }) => {
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
    'cannot be deleted; at rest it is deleted with its jobs',
    onJobs(async ({ ledger, jobs, run, begin, lay, clock }) => {
      const start = await begin();
      await lay(start, ROWS, []);
      await jobs.take(start, run, 'rows');
      await expect(ledger.housekeeping.dropRun(run)).rejects.toMatchObject({
        exit: 75,
        code: 'LED_ELSEWHERE',
        message: expect.stringContaining(' a:1'),
      });
      await ledger.calls.end(start, clock.now);
      await ledger.housekeeping.dropRun(run);
      expect(await ledger.runs.find(run)).toBeUndefined();
      expect(await jobs.runs()).toEqual([]);
      const next = await openRun(ledger, 2, 'just made', clock.now - 1);
      await expect(ledger.housekeeping.dropRun(next)).rejects.toThrow(LedElsewhereError);
      const again = await ledger.calls.begin({ runId: next, begunAt: clock.now, leaseUntil: clock.now + LEASE_MS });
      await jobs.lead({ runId: next, attemptId: again });
      expect((await jobs.left(next, again)).ready).toBe(0);
    }),
  );
});

test(
  'a new leader waits until the old one is known to be dead: by its lease; one that renews it keeps the lead',
  onJobs(async ({ ledger, jobs, run: id, begin, clock, lay }) => {
    const notes: string[] = [];
    const waits = (whileAsleep: () => Promise<unknown>) => {
      const sleep = async (ms: number) => {
        await whileAsleep();
        clock.now += ms;
      };
      const around = {
        ...processEnvironment(),
        clock: { now: () => clock.now, sleep },
        onNote: ({ code }: Message) => notes.push(code),
      };
      const ofRun = { isMeant: (run: RunRecord) => run.id === id, called: 'this run' };
      return waitForLeader(ofRun, {}, ledger, around);
    };
    await waits(async () => expect.unreachable());
    const killed = await begin();
    await lay(killed, ROWS, []);
    const until = clock.now + LEASE_MS;
    await waits(async () => {});
    expect(clock.now).toBeGreaterThanOrEqual(until);
    const next = await begin();
    await lay(next, ROWS, []);
    expect(await jobs.left(id, next)).toMatchObject({ leader: next });
    const third = waits(() => ledger.calls.renew(next, clock.now + 2 * LEASE_MS));
    await expect(third).rejects.toThrow(LedElsewhereError);
    expect(notes).toEqual(Array(2).fill('WAITING_FOR_LEADER'));
    await expect(lay(await begin(), ROWS, [])).rejects.toThrow(LedElsewhereError);
  }),
);

test(
  'a run whose attempts were deleted is led by the next one',
  onJobs(async ({ url, jobs, run, begin, lay }) => {
    await lay(await begin(), ROWS, []);
    await withClient(url, (client) => client.query('TRUNCATE kybatch.starts'));
    const next = await begin();
    await lay(next, ROWS, []);
    expect(await jobs.left(run, next)).toMatchObject({ leader: next });
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

test.each([-1, 1])('a process whose clock goes wrong (%i) renews no lease; one that was only frozen does', (sign) =>
  onJobs(async ({ ledger: { calls }, begin, clock }) => {
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
