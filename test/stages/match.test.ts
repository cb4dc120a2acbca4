import { beforeAll, describe, expect, test } from 'vitest';
import { defaultMatchPolicy, type MatchPolicy } from '../../src/domain/match-decision.js';
import { Random } from '../../src/sandbox/random.js';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import type { SearchKind } from '../../src/sandbox/registry/types.js';
import { type SampleRow, writeSample } from '../../src/sandbox/sample.js';
import { hardRows, isAlone } from '../bench/match/hard-rows.js';
import { isFalse, isRightlyAsked, isTakenForSomebody, type Judged } from '../bench/match/score.js';
import { travel } from '../bench/match/world.js';
import { long } from '../helpers/long.js';

/** A small version of the matching bench with another seed: `npm run bench:match` takes 20,000 rows. */
const registry = createRegistry({ seed: 5 });
let rows: readonly SampleRow[];
let alone: readonly SampleRow[];

beforeAll(() => {
  const hard = [...hardRows(registry, new Random(5), 15)];
  alone = hard.filter(isAlone);
  rows = [...writeSample({ registry, rows: 340, dirty: true }), ...hard.filter((row) => !isAlone(row))];
});

async function judge(some: readonly SampleRow[], search: SearchKind, policy: MatchPolicy): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const row of some) {
    const ending = await travel(row.input, { registry, search, policy });
    judged.push({ row, country: '', ending, naive: { first: null, exact: null } });
  }
  return judged;
}

const brief = (judged: readonly Judged[]) => judged.map(({ row, ending }) => ({ row, ending }));
const expecting = (judged: readonly Judged[], expected: string) =>
  judged.filter(({ row }) => row.answer.expected === expected);

test.each([
  ['CH', ' MWST'],
  ['NO', 'MVA'],
  ['DK', ''],
  ['BE', ''],
])(
  'V1-21 a VAT number of %s that contains the registration number finds it with one search',
  async (country, suffix) => {
    const sample = [...writeSample({ registry, rows: 8, dirty: false, country })];
    for (const { input, answer } of sample) {
      const vat = { ...input, registration_number: '', vat_number: `${input.registration_number}${suffix}` };
      const setting = { registry, search: 'exact' } as const;
      expect(await travel(vat, setting)).toMatchObject({ kind: 'confirmed', v1: answer.v1_company_id, searches: 1 });
      const another = await travel({ ...vat, name: 'Xqzw Vbnmk' }, setting);
      expect(another.kind).not.toBe('confirmed');
    }
  },
);

describe.each(['forgiving', 'exact'] as const)('a provider whose search is %s', (search) => {
  long('no false confirmation, no needless question, and questions with the right reason', async () => {
    const judged = await judge(rows, search, defaultMatchPolicy);
    expect(brief(judged.filter(isFalse))).toEqual([]);
    expect(brief(expecting(judged, 'confirmed').filter(({ ending }) => ending.kind !== 'confirmed'))).toEqual([]);
    expect(brief(expecting(judged, 'needs_review').filter((one) => !isRightlyAsked(one)))).toEqual([]);
    expect(brief(judged.filter(isTakenForSomebody))).toEqual([]);
  });

  long('rows without a country: every confirmed company is right and has the name', async () => {
    const usable = rows.filter(({ answer }) => answer.expected !== 'invalid');
    const nowhere = usable.map((row) => ({ ...row, input: { ...row.input, country: '' } }));
    const judged = await judge(nowhere, search, defaultMatchPolicy);
    const confirmed = judged.filter(({ ending }) => ending.kind === 'confirmed');
    expect(brief(judged.filter(isFalse))).toEqual([]);
    expect(brief(confirmed.filter(({ row }) => row.input.name === ''))).toEqual([]);
    expect(confirmed.length).toBeGreaterThan(50);
  });

  long('numbers after the name: every confirmed company is right', async () => {
    const joined = rows.map(({ input, answer }) => {
      const name = `${input.name} (${input.registration_number})`;
      return { input: { ...input, name, registration_number: '', vat_number: '' }, answer };
    });
    const judged = await judge(joined, search, defaultMatchPolicy);
    expect(brief(judged.filter(isFalse))).toEqual([]);
    expect(judged.filter(({ ending }) => ending.kind === 'confirmed').length).toBeGreaterThan(50);
  });

  test('a number alone is trusted by default', async () => {
    const judged = await judge(alone, search, defaultMatchPolicy);
    const right = expecting(judged, 'confirmed');
    expect(right).toHaveLength(15);
    expect(brief(right.filter((one) => one.ending.kind !== 'confirmed' || isFalse(one)))).toEqual([]);
  });

  long.each(['with_checksum', 'never'] as const)('%s confirms no wrong number without a name', async (stricter) => {
    const judged = await judge(alone, search, { ...defaultMatchPolicy, confirmNumberAlone: stricter });
    const wrong = expecting(judged, 'needs_review');
    expect(wrong).toHaveLength(30);
    expect(brief(wrong.filter((one) => !isRightlyAsked(one)))).toEqual([]);
    const asked = expecting(judged, 'confirmed').filter(({ ending }) => ending.kind !== 'confirmed');
    expect([...new Set(asked.map(({ ending }) => ending.code))]).toEqual(['NUMBER_ALONE']);
    if (stricter === 'never') expect(asked).toHaveLength(15);
    else expect(asked.length).toBeLessThan(15);
  });
});
