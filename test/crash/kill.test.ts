import { describe, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import type { CallRow } from '../engine/support.js';
import { audit, isFlagged } from './audit.js';
import { BOUNDARIES, type Books, EVERY_STAGE, type Kill, withMortuary } from './support.js';

/** `npm run test:crash` uses many seeds. The default is none. */
const SEEDS = Number(process.env.KYBATCH_CRASH_SEEDS ?? 0);
const LATENCY = { latency: { medianMs: 2, p99Ms: 12 } };
/** A slow generate call, and a history that lists a finished report late. */
const LATE_REPORTS = { generateMs: 40, reportDelayMs: { min: 0, max: 120 }, historyLagMs: 200 };

/** The most expensive moments: an answer is charged but not yet on disk. */
const DEAREST: readonly Kill[] = [
  { boundary: 'after-answer', occurrence: 2, operation: 'creditReportGenerate' },
  { boundary: 'inside-settlement', occurrence: 1, operation: 'creditReportGenerate' },
  { boundary: 'before-checkpoint', occurrence: 2 },
];
const OTHERS: readonly Kill[] = [
  { boundary: 'after-answer', occurrence: 2, operation: 'fullKyb' },
  { boundary: 'before-intent', occurrence: 3 },
  { boundary: 'after-intent', occurrence: 1, operation: 'creditReportGenerate' },
  { boundary: 'after-settlement', occurrence: 8 },
  { boundary: 'after-checkpoint', occurrence: 2 },
];
/** In the middle of lists, of people searched one by one, of reveals, in the order of the stages. */
const IN_MODULES: readonly Kill[] = [
  { boundary: 'after-answer', occurrence: 3, operation: 'officersKyb' },
  { boundary: 'after-settlement', occurrence: 2, operation: 'kybOfficers' },
  { boundary: 'after-answer', occurrence: 1, operation: 'ownership' },
  { boundary: 'inside-settlement', occurrence: 1, operation: 'shareholdersSearchKyb' },
  { boundary: 'after-answer', occurrence: 2, operation: 'enrichPerson' },
  { boundary: 'before-checkpoint', occurrence: 1 },
];
const IN_TURN = SEEDS > 0 ? [...OTHERS, ...DEAREST] : DEAREST;

describe('kill -9', () => {
  test('at each boundary in turn, then to the end: every row finishes, every unit is accounted for (V1-5, V2-6)', {
    timeout: 120_000,
  }, async () => {
    const rows = 12;
    await withMortuary(rows, {}, async ({ sandbox, live, books }) => {
      let before = new Set<number>();
      for (const kill of IN_TURN) {
        expect(await live(kill)).toBe(false);
        const after = inFlight(books());
        const added = after.filter(({ id }) => !before.has(id));
        // A row waits for one call at a time: it is in flight, or its answer is being recorded.
        expect(new Set(added.map(({ row }) => row)).size, JSON.stringify([kill, added])).toBe(added.length);
        before = new Set(after.map(({ id }) => id));
      }
      expect(await live(null)).toBe(true);
      audit(books(), sandbox, rows);
    });
  });

  test('with every stage, in the middle of lists and people (V1-7, V2-11)', { timeout: 120_000 }, async () => {
    await withMortuary(
      6,
      {},
      async ({ sandbox, live, books }) => {
        for (const kill of IN_MODULES) expect(await live(kill), JSON.stringify(kill)).toBe(false);
        expect(await live(null)).toBe(true);
        audit(books(), sandbox, 6, true);
      },
      EVERY_STAGE,
    );
  });

  test.runIf(SEEDS > 0)('with every stage, at random times, from many seeds', { timeout: 3_600_000 }, async () => {
    for (let seed = 2; seed < 2 + SEEDS; seed++) {
      const faults = seed % 2 === 0 ? {} : { rate503: 0.03, lostAnswer: 0.03, resetBefore: 0.02 };
      await killAtRandom(seed, 8, faults, {}, EVERY_STAGE);
    }
  });

  test.runIf(SEEDS > 0)('at random times, from a seed', { timeout: 120_000 }, async () => {
    await killAtRandom(1, 2, {});
  });

  test('while reports are slow, listed late, lost, or fail after generation: none is bought twice (V2-17)', {
    timeout: 120_000,
  }, async () => {
    await withMortuary(8, LATE_REPORTS, async ({ sandbox, live, books }) => {
      sandbox.script('creditReportGenerate', ['lostAnswer', 'none', { failAfterWork: 503 }]);
      expect(await live({ boundary: 'after-intent', occurrence: 4, operation: 'creditReportGenerate' })).toBe(false);
      expect(await live({ boundary: 'after-answer', occurrence: 1, operation: 'creditReportGenerate' })).toBe(false);
      expect(await live(null)).toBe(true);
      audit(books(), sandbox, 8);
    });
  });

  test.runIf(SEEDS > 0)(
    'while reports are slow or lost, at random times, from many seeds',
    { timeout: 3_600_000 },
    async () => {
      for (let seed = 2; seed < 2 + SEEDS; seed++) {
        const faults = { failGenerate: 0.3, lostAnswer: 0.05, failAfterWork: 0.02 };
        await killAtRandom(seed, 8, faults, LATE_REPORTS);
      }
    },
  );

  test.runIf(SEEDS > 0).each(BOUNDARIES)(
    '%s, at each of its first occurrences',
    { timeout: 600_000 },
    async (boundary) => {
      for (const occurrence of [1, 2, 4, 7, 11, 16, 22, 29]) {
        await withMortuary(6, {}, async ({ sandbox, live, books }) => {
          // There are few row ends, so the run may finish before this many.
          if (!(await live({ boundary, occurrence }))) await live(null);
          audit(books(), sandbox, 6);
        });
      }
    },
  );

  test.runIf(SEEDS > 0)('many seeds', { timeout: 3_600_000 }, async () => {
    for (let seed = 2; seed < 2 + SEEDS; seed++) {
      const faults = seed % 2 === 0 ? {} : { rate503: 0.03, lostAnswer: 0.03, resetBefore: 0.02 };
      await killAtRandom(seed, 8, faults);
    }
  });
});

async function killAtRandom(
  seed: number,
  kills: number,
  faults: object,
  more: SandboxOptions = {},
  pipeline?: string,
): Promise<void> {
  const rows = 16;
  const random = lehmer(seed);
  await withMortuary(
    rows,
    { ...more, seed, faults: { ...LATENCY, ...faults } },
    async ({ sandbox, live, books }) => {
      let finished = false;
      for (let kill = 0; kill < kills && !finished; kill++) {
        const how: Kill =
          random() < 0.3
            ? {
                boundary: BOUNDARIES[Math.floor(random() * BOUNDARIES.length)] ?? 'after-answer',
                occurrence: 1 + Math.floor(random() * 12),
              }
            : { afterMs: Math.floor(random() * 120) };
        finished = await live(how);
      }
      if (!finished) await live(null);
      audit(books(), sandbox, rows, pipeline !== undefined);
    },
    pipeline,
  );
}

/** Calls in flight when a process died, including calls that no process has checked yet. */
const inFlight = ({ calls }: Books): readonly CallRow[] =>
  calls.filter((call) => isFlagged(call) || call.charge === null);

function lehmer(seed: number): () => number {
  let state = (seed * 7919 + 17) % 2147483647;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
