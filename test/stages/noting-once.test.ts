import { expect, test } from 'vitest';
import type { Operation } from '../../src/api/operation.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { stage } from '../../src/stages/stage.js';
import { answer, company, NOW, scene } from './support.js';

const DAY = 86_400_000;
const { officersKyb: short, shareholdersKyb: long } = v1Operations;
const freshnessMs = (operation: Operation) => (operation === short ? 5 : 30) * DAY;

async function asOf(daysAgo: Readonly<Record<string, number>>): Promise<number> {
  const { context } = scene({
    answer: ({ operation }) => answer([], { fetchedAt: NOW - (daysAgo[operation] ?? 0) * DAY }),
  });
  const asking = stage({
    name: 'two-lists',
    summary: 'Two lists',
    space: 'v1',
    ages: [short, long],
    calls: [],
    run: async (_, { call }) => {
      for (const operation of [short, long]) if (operation.name in daysAgo) await call(operation, {});
      return { kind: 'done' };
    },
  });
  const outcome = await asking.run(company({ name: 'Tulip Works', country: 'NL' }), { ...context, freshnessMs });
  return outcome.kind === 'done' ? (NOW - (outcome.asOf ?? 0)) / DAY : Number.NaN;
}

test.each([
  [
    'an answer with a longer freshness makes a stage no older than the first one to expire',
    { officersKyb: 0, shareholdersKyb: 7 },
    0,
  ],
  ['the one that is over first counts', { officersKyb: 3, shareholdersKyb: 7 }, 3],
  ['also an answer with a long freshness', { officersKyb: 0, shareholdersKyb: 27 }, 2],
  ['without a short-lived answer, the stage is due as soon', { shareholdersKyb: 7 }, 0],
  ['without any answer it is as old as now', {}, 0],
])('%s', async (_, daysAgo, days) => {
  expect(await asOf(daysAgo)).toBe(days);
});
