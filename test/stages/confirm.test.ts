import { describe, expect, test } from 'vitest';
import { defaultMatchPolicy } from '../../src/domain/match-decision.js';
import { type IdentityPolicy, resolve } from '../../src/stages/identity/resolve.js';
import { recordStage } from '../../src/stages/record.js';
import type { Company, RecordedDecision } from '../../src/stages/stage.js';
import { answer, company, isRecord, scene as sceneOf } from './support.js';

interface Scene {
  /** The result of each search in order. Nothing after the last. */
  readonly finds?: readonly object[][];
  readonly remembered?: RecordedDecision;
  readonly record?: object;
  /** The result of any stored search. */
  readonly owned?: readonly object[];
}

function scene({ finds = [], remembered, record: bought = {}, owned }: Scene) {
  let searches = 0;
  const { context, asked, kept } = sceneOf({
    ...(remembered === undefined ? {} : { remembered }),
    ...(owned === undefined ? {} : { ownedSearch: answer(owned, { owned: true }) }),
    answer: (request) => {
      if (isRecord(request)) return answer({ lite: bought });
      searches += 1;
      return answer(finds[searches - 1] ?? []);
    },
  });
  return { context, sent: () => asked.map(({ params }) => params), kept };
}

const searching = (search: Partial<IdentityPolicy['search']> = {}): IdentityPolicy => ({
  match: defaultMatchPolicy,
  search: {
    attempts: 5,
    order: ['registration_number', 'vat_number', 'name'],
    furtherSpellings: true,
    fallback: [],
    ...search,
  },
});

const candidate = (id: string, change: object = {}) => ({
  id,
  name: 'Acme Widgets Ltd',
  registration_number: '01234567',
  vat_number: null,
  country_code: 'GB',
  ...change,
});

const acme = company({
  name: 'Acme Widgets Ltd',
  country: 'GB',
  registration_number: '01234567',
  vat_number: 'GB999999973',
});
const conflict = company({ name: 'Something Else plc', country: 'GB', registration_number: '01234567' });

describe('V1-21 searches', () => {
  test('stop as soon as a candidate can be confirmed', async () => {
    const { context, sent } = scene({ finds: [[candidate('1')]] });
    expect(await resolve('v1', acme, searching(), context)).toMatchObject({ kind: 'done' });
    expect(sent()).toEqual([{ location: 'GB', registration_number: '01234567' }]);
  });

  test('stop when a person has to choose anyway', async () => {
    const { context, sent } = scene({ finds: [[candidate('1'), candidate('2')]] });
    expect(await resolve('v1', acme, searching(), context)).toMatchObject({
      kind: 'needs_review',
      code: 'SEVERAL_CANDIDATES',
    });
    expect(sent()).toHaveLength(1);
  });

  test('go from the number to the VAT number to the name, in the order of the policy', async () => {
    const { context, sent } = scene({});
    expect(await resolve('v1', acme, searching(), context)).toMatchObject({ kind: 'no_match' });
    expect(sent().map((params) => Object.keys(params)[1])).toEqual(['registration_number', 'vat_number', 'name']);
    const other = scene({});
    await resolve('v1', acme, searching({ order: ['name', 'registration_number'] }), other.context);
    expect(other.sent().map((params) => Object.keys(params)[1])).toEqual(['name', 'registration_number']);
  });

  test('without a result show which fields were searched', async () => {
    const message = async (search: Partial<IdentityPolicy['search']>) => {
      const outcome = await resolve('v1', acme, searching(search), scene({}).context);
      return 'message' in outcome ? outcome.message : '';
    };
    expect(await message({ attempts: 1 })).toMatch(/search\.attempts .*\b1\b/);
    expect(await message({ order: ['registration_number', 'vat_number'] })).toContain('search.order');
    expect(await message({})).not.toContain('search.');
  });

  test('V1-1 never cost more than the policy allows', async () => {
    for (const attempts of [1, 2]) {
      const { context, sent } = scene({});
      await resolve('v1', acme, searching({ attempts }), context);
      expect(sent()).toHaveLength(attempts);
    }
  });

  test.each([1, 5])(
    'stored searches are used beyond %i attempts, even if a person has to choose anyway',
    async (attempts) => {
      const nobody = scene({ owned: [candidate('1')] });
      expect(await resolve('v1', acme, searching({ attempts: 1 }), nobody.context)).toMatchObject({ kind: 'done' });
      expect(nobody.sent()).toHaveLength(1);
      const remembered: RecordedDecision = { decision: 'confirm', candidateId: '9', shown: ['9'] };
      const chosen = scene({ finds: [[candidate('1'), candidate('2')]], owned: [candidate('9')], remembered });
      expect(await resolve('v1', acme, searching({ attempts }), chosen.context)).toMatchObject({
        kind: 'done',
        ids: { v1: { id: '9', matchedOn: 'review' } },
      });
      expect(chosen.sent()).toHaveLength(1);
    },
  );

  test('a further spelling of the number is a separate search, and only if allowed', async () => {
    const belgian = company({ country: 'BE', registration_number: '0403170701', name: 'Solvay' });
    const forms = async (furtherSpellings: boolean) => {
      const { context, sent } = scene({});
      await resolve('v1', belgian, searching({ furtherSpellings }), context);
      return sent().map((params) => Object.keys(params)[1]);
    };
    expect(await forms(false)).toEqual(['registration_number', 'name']);
    // The name also finds a company with a mistyped number, so it comes before another spelling.
    expect((await forms(true)).slice(0, 3)).toEqual(['registration_number', 'name', 'registration_number']);
  });
});

describe('X-7 one ID with two numbers', () => {
  const right = candidate('1');
  const wrong = candidate('1', { name: 'Other plc', registration_number: '07654321' });

  test.each([
    ['in one answer', { finds: [[right, wrong]] }],
    ['in one answer, the wrong one first', { finds: [[wrong, right]] }],
    ['in two searches', { finds: [[wrong], [right]] }],
  ])("%s is a review question, and a person's answer to it counts", async (_, given) => {
    const first = scene(given);
    expect(await resolve('v1', acme, searching(), first.context)).toMatchObject({
      kind: 'needs_review',
      code: 'CONTRADICTORY_CANDIDATE',
    });
    const remembered: RecordedDecision = { decision: 'confirm', candidateId: '1', shown: ['1'] };
    expect(await resolve('v1', acme, searching(), scene({ ...given, remembered }).context)).toMatchObject({
      kind: 'done',
      ids: { v1: { id: '1', matchedOn: 'review', candidate: { registration_number: '01234567' } } },
    });
  });

  test('V2-22 also if the other number is of another country', async () => {
    const { context } = scene({ finds: [[right, candidate('1', { registration_number: '9', country_code: 'FR' })]] });
    expect(await resolve('insights', acme, searching(), context)).toMatchObject({ kind: 'needs_review' });
  });
});

test("X-7 an ID of another company is a review question, and a person's answer to it counts", async () => {
  const takenBy = { registration_number: '07654321', country_code: 'GB', state: null, jurisdiction: null };
  const taken = (remembered?: RecordedDecision) =>
    sceneOf({ takenBy, answer: () => answer([candidate('1')]), ...(remembered === undefined ? {} : { remembered }) });
  const open = taken();
  expect(await resolve('v1', acme, searching(), open.context)).toMatchObject({
    kind: 'needs_review',
    code: 'ID_TAKEN',
  });
  expect(open.kept).toMatchObject([{ code: 'ID_TAKEN', answered: false }]);
  const answered = taken({ decision: 'confirm', candidateId: '1', shown: ['1'] });
  expect(await resolve('v1', acme, searching(), answered.context)).toMatchObject({ kind: 'done' });
});

describe('a question', () => {
  test('about one candidate has its grade, beside any other candidates', async () => {
    const outcomes = await Promise.all(
      [[], [candidate('2', { name: 'Somebody plc', registration_number: '07654321' })]].map((owned) =>
        resolve('v1', conflict, searching({ attempts: 1 }), scene({ finds: [[candidate('1')]], owned }).context),
      ),
    );
    const [alone] = outcomes;
    expect(alone).toMatchObject({ code: 'NAME_CONFLICT', grade: expect.stringMatching(/^AF/) });
    expect(outcomes).toEqual([alone, alone]);
  });

  test('is stored as asked, and again when an earlier answer is used', async () => {
    const first = scene({ finds: [[candidate('1')]] });
    expect(await resolve('v1', conflict, searching(), first.context)).toMatchObject({
      kind: 'needs_review',
      code: 'NAME_CONFLICT',
    });
    expect(first.kept).toMatchObject([{ space: 'v1', stage: null, answered: false, code: 'NAME_CONFLICT' }]);
    const remembered: RecordedDecision = { decision: 'confirm', candidateId: '1', shown: ['1'] };
    const second = scene({ finds: [[candidate('1')]], remembered });
    const outcome = await resolve('v1', conflict, searching(), second.context);
    expect(outcome).toMatchObject({ kind: 'done', ids: { v1: { id: '1', matchedOn: 'review' } } });
    expect(second.kept).toMatchObject([{ space: 'v1', stage: null, answered: true, key: first.kept[0]?.key }]);
  });

  test.each([
    ['none_of_these, the same candidates', { decision: 'none_of_these', candidateId: null, shown: ['1'] }, 'no_match'],
    [
      'none_of_these, but a new candidate',
      { decision: 'none_of_these', candidateId: null, shown: ['9'] },
      'needs_review',
    ],
    ['a confirmed candidate that is gone', { decision: 'confirm', candidateId: '9', shown: ['9'] }, 'needs_review'],
    ['not_sure', { decision: 'not_sure', candidateId: null, shown: ['1'] }, 'needs_review'],
  ] as const)('%s: %j → %s', async (_, remembered, kind) => {
    const { context } = scene({ finds: [[candidate('1')]], remembered });
    expect(await resolve('v1', conflict, searching(), context)).toMatchObject({ kind });
  });

  test('a refused candidate stays refused, even if it would be confirmed today', async () => {
    const remembered: RecordedDecision = { decision: 'none_of_these', candidateId: null, shown: ['1'] };
    const refused = scene({ finds: [[candidate('1')]], remembered });
    expect(await resolve('v1', acme, searching(), refused.context)).toMatchObject({
      kind: 'no_match',
      code: 'REVIEWED',
    });
    const another = scene({ finds: [[candidate('1'), candidate('2')]], remembered });
    expect(await resolve('v1', acme, searching(), another.context)).toMatchObject({ ids: { v1: { id: '2' } } });
  });

  test('V2-4 each ID space has its own question', async () => {
    const keys = [];
    for (const space of ['v1', 'v2', 'credit'] as const) {
      const { context, kept } = scene({ finds: [[candidate('1'), candidate('2')]] });
      await resolve(space, acme, searching(), context);
      keys.push(...kept.map(({ space: about, key }) => ({ about, key })));
    }
    expect(keys.map(({ about }) => about)).toEqual(['v1', 'v2', 'credit']);
    expect(keys[2]?.key).toBe(`credit|${keys[1]?.key}`);
  });
});

describe('the bought record', () => {
  const confirmed: Company = {
    ...acme,
    ids: {
      v1: {
        id: '1',
        candidate: { ...candidate('1'), state: null, jurisdiction: null },
        matchedOn: 'registration_number',
        grade: 'AAZAZ',
      },
    },
  };
  const same = { registration_number: '01234567', country_code: 'GB' };
  const differs = { registration_number: '07654321', country_code: 'GB' };

  test.each([
    ['an equal number', same, 'done'],
    ['another number', differs, 'needs_review'],
    ['another country', { ...same, country_code: 'IE' }, 'needs_review'],
    ['no number', { country_code: 'GB' }, 'needs_review'],
  ] as const)('%s: %j → %s', async (_, bought, kind) => {
    const { context } = scene({ record: bought });
    expect(await recordStage.run(confirmed, context)).toMatchObject({ kind });
  });

  test('a person accepts the difference or refuses the company, and another difference is another question', async () => {
    const asked = scene({ record: differs });
    expect(await recordStage.run(confirmed, asked.context)).toMatchObject({
      code: 'IDENTITY_MISMATCH',
      grade: 'AAZAZ',
    });
    expect(asked.kept).toMatchObject([{ space: 'v1', stage: 'record', candidateId: '1', answered: false }]);
    const accepted = scene({ record: differs, remembered: { decision: 'confirm', candidateId: '1', shown: ['1'] } });
    expect(await recordStage.run(confirmed, accepted.context)).toMatchObject({
      kind: 'done',
      ids: { v1: { matchedOn: 'review' } },
    });
    const refused = scene({
      record: differs,
      remembered: { decision: 'none_of_these', candidateId: null, shown: ['1'] },
    });
    expect(await recordStage.run(confirmed, refused.context)).toMatchObject({ kind: 'no_match', ids: { v1: null } });
    const other = scene({ record: { ...differs, registration_number: '07654322' } });
    await recordStage.run(confirmed, other.context);
    expect(other.kept[0]?.key).not.toBe(asked.kept[0]?.key);
  });
});
