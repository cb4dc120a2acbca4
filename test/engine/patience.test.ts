import { describe, expect, test } from 'vitest';
import type { RunEvent } from '../../src/engine/events.js';
import type { RunWork } from '../../src/engine/run.js';
import { SteppingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { type Passing, type Reply, withProxy } from '../helpers/proxy.js';
import { lineOf, present, turns, type Workshop, wholeCompanies, withWorkshop } from './support.js';

const MINUTE = 60_000;
const DOWN = { status: 503, body: '<html>' };
const patient = (patienceMs: number) => ({ stages: ['record'], patienceMs, breaker: { failures: 5 } });

interface Scene extends Workshop {
  readonly clock: SteppingClock;
  readonly events: RunEvent[];
  /** Requests that the provider refuses at the moment. */
  isDown: (request: Passing) => boolean;
  /** Its answer to these requests. */
  reply: Reply;
  /** Requests that arrived while it was down. */
  met: number;
  /** Starts the run. `pass` moves the clock. */
  begin(rows: number, more?: Partial<RunWork>): Promise<Working>;
}

interface Working {
  readonly end: ReturnType<Workshop['work']>;
  readonly ended: () => boolean;
  /** Moves the time step by step and lets all possible work finish. */
  pass(ms: number): Promise<void>;
}

const withScene = (patienceMs: number, use: (scene: Scene) => Promise<void>) => {
  const clock = new SteppingClock();
  return withWorkshop({ clock, pipeline: patient(patienceMs) }, async (workshop) => {
    const scene: Scene = {
      ...workshop,
      clock,
      events: [],
      isDown: () => true,
      reply: DOWN,
      met: 0,
      begin: async () => Promise.reject(new Error('not yet')),
    };
    const answer = (request: Passing) => {
      if (!scene.isDown(request)) return undefined;
      scene.met += 1;
      return scene.reply;
    };
    await withProxy(workshop, answer, async (sources) => {
      scene.begin = async (rows, more) => {
        const run = await workshop.open(wholeCompanies(workshop.sandbox, rows).map((company) => lineOf(company)));
        let over = false;
        const listen = (event: RunEvent) => void scene.events.push(event);
        const end = workshop.work(run, { sources, listen, ...more }).finally(() => {
          over = true;
        });
        const pass = async (ms: number) => {
          const step = ms > MINUTE ? 5_000 : 1_000;
          for (const end = clock.now() + ms; clock.now() < end && !over; ) {
            await settled(scene);
            clock.step(step);
          }
          await settled(scene);
        };
        return { end, ended: () => over, pass };
      };
      await use(scene);
    });
  });
};

/** Requests use real sockets: work follows while calls are in flight or have just ended, later on a busy machine. */
async function settled({ query }: Pick<Workshop, 'query'>): Promise<void> {
  for (let quiet = 0; quiet < 12; ) {
    await turns(4);
    const [open] = query<{ open: number }>('SELECT count(*) AS open FROM calls WHERE settled_at IS NULL');
    quiet = open?.open === 0 ? quiet + 1 : 0;
  }
}

const kinds = (events: readonly RunEvent[], kind: RunEvent['kind']) => events.filter((event) => event.kind === kind);

describe('patience: kybatch waits out an outage', () => {
  long('one call probes at growing intervals until all calls continue, and nothing is paid twice', async () => {
    await withScene(4 * 60 * MINUTE, async (scene) => {
      const { end, pass, ended } = await scene.begin(12);
      await pass(30_000);
      const before = scene.met;
      await pass(10 * MINUTE);
      expect(ended()).toBe(false);
      // 32, 64, 128, 256 and 300 seconds apart.
      expect(scene.met - before).toBeLessThanOrEqual(5);
      // No units are reserved meanwhile.
      expect(scene.query('SELECT id FROM calls WHERE settled_at IS NULL')).toEqual([]);
      const outage = present(kinds(scene.events, 'outage').at(-1));
      expect(outage).toMatchObject({ api: 'v1', operation: 'searchKyb', code: 'HTTP_503' });
      scene.isDown = () => false;
      await pass(6 * MINUTE);
      expect((await end).progress).toMatchObject({ byOutcome: { complete: 12, failed: 0 }, unitsCharged: 24 });
      expect(kinds(scene.events, 'recovered')).toHaveLength(1);
      expect(scene.sandbox.chargeLog.filter(({ api }) => api === 'v1')).toHaveLength(24);
    });
  });

  test('when the patience ends the run stops with 6, and every row is pending', async () => {
    await withScene(2 * MINUTE, async (scene) => {
      const begun = scene.clock.now();
      const { end, pass } = await scene.begin(1);
      await pass(3 * MINUTE);
      expect((await end).stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
      expect((await end).progress.byOutcome).toMatchObject({ pending: 1, failed: 0 });
      const waited = scene.clock.now() - begun;
      expect(waited).toBeGreaterThanOrEqual(2 * MINUTE);
      expect(waited).toBeLessThan(3 * MINUTE);
    });
  });

  long('a signal ends the wait at once', async () => {
    await withScene(4 * 60 * MINUTE, async (scene) => {
      const drain = new AbortController();
      const { end, pass } = await scene.begin(6, { drain: drain.signal });
      await pass(20_000);
      drain.abort();
      expect(await end).toMatchObject({ interrupted: true, stopped: undefined });
      expect((await end).progress.byOutcome).toMatchObject({ pending: 6, failed: 0 });
    });
  });

  long('a request that always fails does not block others: the call that waited longest probes next', async () => {
    await withScene(60 * MINUTE, async (scene) => {
      const { end, pass } = await scene.begin(6);
      await pass(10_000);
      const [odd] = wholeCompanies(scene.sandbox, 1);
      scene.isDown = ({ body }) => body.includes(`"${odd?.registrationNumber}"`);
      await pass(10 * MINUTE);
      expect((await end).progress).toMatchObject({
        byOutcome: { complete: 5, failed: 0 },
        parkedReasons: { unanswered: 1 },
      });
    });
  });
});

long('two companies that always fail while others are answered are no outage: they are held for a person', async () => {
  await withScene(60 * MINUTE, async (scene) => {
    const [, one, two] = wholeCompanies(scene.sandbox, 3);
    scene.reply = {
      status: 502,
      body: '{"error":{"code":"DATA_SERVICE_UNAVAILABLE","message":"no"},"request_id":"r"}',
    };
    scene.isDown = ({ path }) => [one, two].some((odd) => path.endsWith(`/${odd?.v1Id}/full`));
    const begun = scene.clock.now();
    // Their waits are longer than those of all other rows, so they are tried last and alone.
    const retry = { attempts: 4, baseMs: 10_000, capMs: 10_000 };
    const pipeline = { ...scene.pipeline(), retry };
    const { end, pass } = await scene.begin(6, { pipeline, concurrency: 2 });
    await pass(10 * MINUTE);
    expect((await end).stopped).toBeUndefined();
    expect((await end).progress).toMatchObject({
      byOutcome: { complete: 4, failed: 0 },
      parkedReasons: { ask_provider: 2 },
    });
    expect(scene.clock.now() - begun).toBeLessThan(2 * MINUTE);
    expect(kinds(scene.events, 'outage')).toEqual([]);
  });
});

long('X-1 unreadable answers do not use up the limit: one probe goes before the next call', async () => {
  await withScene(60 * MINUTE, async (scene) => {
    scene.reply = { status: 200, body: '<html>' };
    const { end, pass } = await scene.begin(12, { budgetUnits: 32 });
    await pass(10_000);
    // Calls that were sent together, and three probes: 1, 2 and 4 seconds apart.
    expect(scene.met).toBeLessThanOrEqual(5 + 3);
    scene.isDown = () => false;
    await pass(2 * MINUTE);
    expect((await end).progress).toMatchObject({ byOutcome: { complete: 12 }, unitsCharged: 24 });
  });
});

long.each([
  ['failures costs ten tries an attempt', 502, 10, { unanswered: 1 }, { code: 'PROVIDER_UNAVAILABLE', exit: 6 }],
  ['unreadable answers costs as much as with lost ones', 200, 3, { in_doubt: 1 }, undefined],
] as const)('X-1 a company alone in its file with %s, not the whole patience', async (...row) => {
  const [, status, met, parkedReasons, stopped] = row;
  await withScene(4 * 60 * MINUTE, async (scene) => {
    scene.reply = { status, body: '<html>' };
    scene.isDown = ({ path }) => path.endsWith('/full');
    const { end, pass } = await scene.begin(1);
    await pass(20 * MINUTE);
    expect(scene.met).toBe(met);
    expect((await end).progress).toMatchObject({ byOutcome: { pending: 1 }, parkedReasons });
    if (stopped === undefined) expect((await end).stopped).toBeUndefined();
    else expect((await end).stopped).toMatchObject(stopped);
  });
});

long('a pause longer than the patience is an outage: it is reported, and ends with the patience', async () => {
  await withScene(2 * MINUTE, async (scene) => {
    scene.reply = { status: 429, headers: { 'retry-after': '86400' }, body: '{}' };
    const { end, pass } = await scene.begin(3);
    await pass(3 * MINUTE);
    expect((await end).stopped).toMatchObject({ code: 'PROVIDER_UNAVAILABLE', exit: 6 });
    expect((await end).stopped?.message).toMatch(/^v1 searchKyb .* \d+ s /);
    expect(scene.events.find(({ kind }) => kind === 'outage')).toMatchObject({ api: 'v1', operation: 'searchKyb' });
    expect((await end).progress.byOutcome).toMatchObject({ pending: 3, failed: 0 });
  });
});

describe('V1-4 one delayed row, while others are answered', () => {
  const putOff = (retryAfter: string) => ({ status: 429, headers: { 'retry-after': retryAfter }, body: '{}' });
  const isOdd = (scene: Scene) => {
    const [, odd] = wholeCompanies(scene.sandbox, 2);
    return ({ path }: Passing) => path.endsWith(`/${odd?.v1Id}/full`);
  };

  long.each(['9'.repeat(30)])(
    'for %s s, beyond the patience: it is left to the next attempt at once, and no other row waits',
    async (after) => {
      await withScene(2 * MINUTE, async (scene) => {
        scene.reply = putOff(after);
        scene.isDown = isOdd(scene);
        const begun = scene.clock.now();
        const { end, pass } = await scene.begin(6);
        await pass(3 * MINUTE);
        expect((await end).stopped).toBeUndefined();
        expect((await end).progress).toMatchObject({
          byOutcome: { complete: 5, failed: 0 },
          parkedReasons: { unanswered: 1 },
        });
        // Sent again only if no row had an answer when it was delayed.
        expect(scene.met).toBeLessThanOrEqual(2);
        expect(scene.clock.now() - begun).toBeLessThan(MINUTE);
      });
    },
  );

  long('for half a minute, repeatedly: kybatch waits up to the patience, and shows it', async () => {
    await withScene(2 * MINUTE, async (scene) => {
      scene.reply = putOff('30');
      scene.isDown = isOdd(scene);
      const begun = scene.clock.now();
      const { end, pass } = await scene.begin(3, { concurrency: 1 });
      await pass(70_000);
      const [start] = scene.query<{ outages: string }>('SELECT outages FROM starts');
      expect(JSON.parse(present(start).outages)).toMatchObject([
        { row: 2, api: 'v1', operation: 'fullKyb', code: 'HTTP_429', givesUpAt: expect.any(Number) },
      ]);
      await pass(3 * MINUTE);
      expect((await end).progress).toMatchObject({ byOutcome: { complete: 2 }, parkedReasons: { unanswered: 1 } });
      expect(scene.clock.now() - begun).toBeLessThan(3 * MINUTE);
      expect(scene.met).toBeLessThanOrEqual(5);
    });
  });

  test('by a documented failure: it has not failed, and is requested later', async () => {
    await withScene(2 * MINUTE, async (scene) => {
      const body = '{"error":{"code":"DATA_SERVICE_UNAVAILABLE","message":"later"},"request_id":"r"}';
      scene.reply = { ...putOff('7200'), status: 503, body };
      scene.isDown = isOdd(scene);
      const { end, pass } = await scene.begin(4);
      await pass(3 * MINUTE);
      expect((await end).progress).toMatchObject({ byOutcome: { complete: 3 }, parkedReasons: { unanswered: 1 } });
    });
  });
});
