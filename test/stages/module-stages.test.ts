import { describe, expect, test } from 'vitest';
import { firmographicsStage } from '../../src/stages/firmographics.js';
import { insightsStage } from '../../src/stages/insights.js';
import type { Identified } from '../../src/stages/stage.js';
import { answer, company, known, scene } from './support.js';

const dutch = { name: 'Tulip Works B.V.', country: 'NL', registration_number: '12345678' };
const confirmed: Identified = {
  id: '7',
  grade: 'AAZAZ',
  matchedOn: 'registration_number',
  candidate: {
    id: '7',
    name: 'Tulip Works B.V.',
    registration_number: '12345678',
    vat_number: null,
    country_code: 'NL',
    state: null,
    jurisdiction: null,
  },
};
const profile = {
  id: '7',
  name: 'Tulip Works B.V.',
  registration_number: '1234 5678',
  country_code: 'NL',
  size: '1-10',
};

describe('firmographics', () => {
  const buy = (body: object, ids = {}, remembered?: 'confirm' | 'none_of_these') => {
    const answered = { candidateId: '7', shown: ['7'] };
    const options = remembered === undefined ? {} : { remembered: { decision: remembered, ...answered } };
    const world = scene({ answer: () => answer(body), ...options });
    const run = firmographicsStage.run(company(dutch, { companies: confirmed, ...ids }), world.context);
    return { run, world };
  };

  test('buys the profile of the confirmed ID', async () => {
    const { run, world } = buy(profile);
    expect(await run).toMatchObject({ kind: 'done' });
    expect(world.asked).toMatchObject([{ operation: 'companyProfile', params: { id: '7' } }]);
  });

  test.each([
    ['another number', { registration_number: '87654321' }],
    ['another country', { country_code: 'BE' }],
    ['no number', { registration_number: null }],
  ])('%s in the profile is a review question', async (_, said) => {
    const { run, world } = buy({ ...profile, ...said });
    expect(await run).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
    expect(world.kept).toMatchObject([{ space: 'companies', stage: 'firmographics', candidateId: '7' }]);
  });

  test("a person's decision about the difference holds", async () => {
    const other = { ...profile, registration_number: '87654321' };
    expect(await buy(other, {}, 'confirm').run).toMatchObject({
      kind: 'done',
      ids: { companies: { id: '7', matchedOn: 'review' } },
    });
    expect(await buy(other, {}, 'none_of_these').run).toMatchObject({ kind: 'no_match', ids: { companies: null } });
  });

  test('a refused profile leaves a company that is confirmed elsewhere unchanged', async () => {
    const other = { ...profile, registration_number: '87654321' };
    expect(await buy(other, { v1: known('1') }, 'none_of_these').run).toMatchObject({
      kind: 'not_available',
      error: { code: 'REVIEWED' },
      ids: { companies: null },
    });
  });

  test.each([{}, { id: '7' }, { id: '7', name: null, industry: [], company_phone: [] }])(
    'V1-22 %o is an empty profile',
    async (body) => {
      expect(await buy(body).run).toMatchObject({ kind: 'not_available', error: { code: 'EMPTY_PROFILE' } });
    },
  );
});

describe('insights', () => {
  const buy = async (body: object) =>
    await insightsStage.run(company(dutch, { insights: known('7') }), scene({ answer: () => answer(body) }).context);

  test.each([
    ['another number', { registration_number: '87654321' }],
    ['another country', { registration_number: '12345678', country_code: 'BE' }],
    ['another ID', { id: '9999' }],
  ])('V2-22 %s, if the profile has one, is a review question', async (_, said) => {
    for (const ids of [{ insights: confirmed }, { insights: known('7'), companies: confirmed }]) {
      const world = scene({ answer: () => answer({ domain: 'other.example', ...said }) });
      expect(await insightsStage.run(company(dutch, ids), world.context)).toMatchObject({
        kind: 'needs_review',
        code: 'IDENTITY_MISMATCH',
      });
      expect(world.kept).toMatchObject([{ space: 'insights', stage: 'insights', candidateId: '7' }]);
    }
  });

  test('confirmed or absent values are no question', async () => {
    const same = { id: 7, registration_number: '1234 5678', country_code: 'nl', domain: 'own.example' };
    for (const body of [same, { ...same, registration_number: null, country_code: '' }])
      expect(
        await insightsStage.run(company(dutch, { insights: confirmed }), scene({ answer: () => answer(body) }).context),
      ).toMatchObject({ kind: 'done' });
  });

  test('a refused profile leaves a company that is confirmed elsewhere unchanged', async () => {
    const remembered = { decision: 'none_of_these', candidateId: '7', shown: ['7'] } as const;
    const world = scene({ answer: () => answer({ domain: 'x', registration_number: '87654321' }), remembered });
    expect(
      await insightsStage.run(company(dutch, { insights: confirmed, v2: known('1') }), world.context),
    ).toMatchObject({ kind: 'not_available', error: { code: 'REVIEWED' }, ids: { insights: null } });
  });

  test('a profile without visitors is a profile', async () => {
    expect(await buy({ domain: null, engagement_total_visits: 0, technologies: [] })).toMatchObject({ kind: 'done' });
  });

  test('V1-22 an empty profile is not available', async () => {
    const empty = { domain: null, nameservers: [], technologies: [], registrar: {} };
    expect(await buy(empty)).toMatchObject({ kind: 'not_available', error: { code: 'EMPTY_PROFILE' } });
  });
});
