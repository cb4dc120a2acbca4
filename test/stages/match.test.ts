import { beforeAll, describe, expect, test } from 'vitest';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { Random } from '../../src/sandbox/registry/random.js';
import { type SampleRow, writeSample } from '../../src/sandbox/sample.js';
import { hardRows } from '../bench/match/hard-rows.js';
import { isFalse, isRightlyAsked, type Judged } from '../bench/match/score.js';
import { travel } from '../bench/match/world.js';

/** The matching bench in small, on another seed: `npm run bench:match` takes 20,000 rows. */
const registry = createRegistry({ seed: 5 });
let rows: readonly SampleRow[];

beforeAll(() => {
  rows = [...writeSample({ registry, rows: 340, dirty: true }), ...hardRows(registry, new Random(5), 15)];
});

describe.each(['forgiving', 'exact'] as const)('a provider whose search is %s', (search) => {
  test('no false confirmation, no needless question, and people asked for the right reason', async () => {
    const judged: Judged[] = [];
    for (const row of rows) {
      const ending = await travel(row.input, { registry, search });
      judged.push({ row, country: '', ending, naive: { first: null, exact: null } });
    }
    expect(judged.filter(isFalse)).toEqual([]);
    const repairable = judged.filter(({ row: { answer } }) => answer.expected === 'confirmed');
    const asked = repairable.filter(({ ending }) => ending.kind !== 'confirmed');
    expect([...new Set(asked.map(({ ending }) => ending.code))]).toEqual(['NUMBER_ALONE']);
    const forPeople = judged.filter(({ row: { answer } }) => answer.expected === 'needs_review');
    expect(forPeople.filter((one) => !isRightlyAsked(one)).map(({ row, ending }) => ({ row, ending }))).toEqual([]);
  });
});
