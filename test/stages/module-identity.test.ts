import { describe, expect, test } from 'vitest';
import { resolve } from '../../src/stages/identity/resolve.js';
import type { Identified, SeenCandidate, StageContext } from '../../src/stages/stage.js';
import { answer, company, policy, type SceneOptions, scene } from './support.js';

const dutch = { name: 'Tulip Works B.V.', country: 'NL', registration_number: '12345678' };
const hit = { id: '7', name: 'Tulip Works B.V.', country_code: 'NL', registration_number: '12345678' };
const page = (data: readonly object[], total = data.length) => ({
  total_results: total,
  total_pages: Math.ceil(total / 5),
  data,
});

/** The requests, the outcome, and the stored facts of each candidate. */
async function find(
  space: 'companies' | 'insights',
  fields: Parameters<typeof company>[0],
  options: SceneOptions,
  ids: Parameters<typeof company>[1] = {},
) {
  const { context, asked, errors } = scene(options);
  const kept: SeenCandidate[] = [];
  const keeping: StageContext = { ...context, keepCandidates: (_, seen) => kept.push(...seen) };
  const outcome = await resolve(space, company(fields, ids), policy, keeping);
  return { outcome, errors, asked: asked.map(({ params }) => params), verdicts: kept.map(({ decision }) => decision) };
}

const american = { name: 'Acme Inc.', country: 'US', registration_number: '4412345' };

describe('the companies module', () => {
  test('V2-18 is asked by country and number, and confirms by the number', async () => {
    const { outcome, asked } = await find('companies', dutch, { answer: () => answer(page([hit])) });
    expect(outcome).toMatchObject({ kind: 'done', ids: { companies: { id: '7', matchedOn: 'registration_number' } } });
    expect(asked).toEqual([{ country_code: 'NL', registration_number: '12345678', per_page: 5 }]);
  });

  test('takes a state, of two letters, for the US alone', async () => {
    const asked = async (fields: object) => (await find('companies', { ...american, ...fields }, {})).asked[0];
    expect(await asked({ state: 'California' })).toMatchObject({ country_code: 'US', state: 'CA' });
    expect(await asked({})).not.toHaveProperty('state');
    expect(await asked({ country: 'CA', state: 'Ontario' })).not.toHaveProperty('state');
  });

  test('is asked with the state in which the company was confirmed before', async () => {
    const candidate = { id: '1', name: 'Acme Inc.', registration_number: '4412345', country_code: 'US', state: 'DE' };
    const v1: Identified = {
      id: '1',
      grade: 'AAZAZ',
      matchedOn: 'registration_number',
      candidate: { ...candidate, vat_number: null, jurisdiction: null },
    };
    const { asked } = await find('companies', american, {}, { v1 });
    expect(asked[0]).toMatchObject({ country_code: 'US', state: 'DE' });
  });

  test('a hit has no state, so a US number needs a name that agrees', async () => {
    const named = { ...american, state: 'DE' };
    const found = (name: string | null) => ({
      answer: () => answer(page([{ ...hit, name, country_code: 'US', registration_number: '4412345' }])),
    });
    expect((await find('companies', named, found('Acme Inc.'))).outcome).toMatchObject({ kind: 'done' });
    expect((await find('companies', named, found(null))).outcome).toMatchObject({ code: 'NAME_NEEDED' });
  });

  test('V2-10 more than a page of hits for one number is a review question, even if one of them agrees', async () => {
    const { outcome, errors } = await find('companies', dutch, { answer: () => answer(page([hit], 7)) });
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'CANDIDATES_UNSEEN' });
    expect(errors).toMatchObject([{ code: 'CANDIDATES_UNSEEN' }]);
  });

  test('V2-10 unseen hits prevent no_match', async () => {
    const other = { ...hit, name: 'Somebody Else', registration_number: '87654321' };
    const { outcome } = await find('companies', dutch, { answer: () => answer(page([other], 7)) });
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'CANDIDATES_UNSEEN' });
  });

  test('a name has many hits, and unseen ones decide nothing', async () => {
    const other = { ...hit, name: 'Somebody Else', registration_number: '87654321' };
    const { outcome, errors } = await find('companies', dutch, {
      answer: ({ params }) => answer(params.name === undefined ? page([]) : page([other], 40)),
    });
    expect(outcome).toMatchObject({ kind: 'no_match', code: 'NO_CANDIDATE_WITH_NUMBER' });
    expect(errors).toMatchObject([{ code: 'CANDIDATES_UNSEEN' }]);
  });

  test('a name with unseen hits does not support a repaired number, but an exact number needs no support', async () => {
    const named = { ...hit, registration_number: '01234567' };
    const found = (registration_number: string) =>
      find(
        'companies',
        { ...dutch, registration_number },
        {
          answer: ({ params }) => answer(params.name === undefined ? page([]) : page([named], 40)),
        },
      );
    expect((await found('1234567')).outcome).toMatchObject({ kind: 'needs_review', code: 'CANDIDATES_UNSEEN' });
    expect((await found('01234567')).outcome).toMatchObject({ kind: 'done' });
  });

  test('a hit found by its VAT number does not show it, which means neither yes nor no', async () => {
    const fields = { name: 'Tulip Works B.V.', country: 'NL', vat_number: 'NL123456782B12' };
    const found = (name: string) => ({ answer: () => answer(page([{ ...hit, name }])) });
    expect((await find('companies', fields, found('Tulip Works B.V.'))).outcome).toMatchObject({ code: 'VAT_ONLY' });
    expect((await find('companies', fields, found('Quite Different'))).outcome).toMatchObject({ code: 'VAT_ONLY' });
  });

  test('an unreadable hit is noted and prevents no_match', async () => {
    const other = { ...hit, name: 'Somebody Else', registration_number: '87654321' };
    const { outcome, errors } = await find('companies', dutch, {
      answer: () => answer(page([other, { name: 'no ID' }])),
    });
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'UNREADABLE_CANDIDATE' });
    expect(errors).toMatchObject([{ code: 'UNREADABLE_CANDIDATE' }]);
  });

  test('a location ID gives no country', async () => {
    const { outcome, asked } = await find('companies', { ...dutch, country: '4_19' }, {});
    expect(outcome).toMatchObject({ kind: 'no_match', code: 'COUNTRY_NEEDED' });
    expect(asked).toEqual([]);
  });
});

describe('V2-22 digital insights takes no country', () => {
  const foreign = { ...hit, id: '8', country_code: 'DK' };

  test('only the hit in the right country with an equal number is confirmed, and others are rejected', async () => {
    const { outcome, asked, verdicts } = await find('insights', dutch, { answer: () => answer([foreign, hit]) });
    expect(outcome).toMatchObject({ kind: 'done', ids: { insights: { id: '7' } } });
    expect(asked).toEqual([{ registration_number: '12345678' }]);
    expect(verdicts).toEqual(['confirmed', 'rejected']);
  });

  test('an equal number in another country is no match and no question', async () => {
    const { outcome, verdicts } = await find('insights', dutch, { answer: () => answer([foreign]) });
    expect(outcome).toMatchObject({
      kind: 'no_match',
      message: expect.stringMatching(/: DK\b/),
    });
    expect(verdicts).toEqual(['rejected']);
  });

  test('a hit without a country is a review question', async () => {
    const { outcome } = await find('insights', dutch, { answer: () => answer([{ ...hit, country_code: null }]) });
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'COUNTRY_CONFLICT' });
  });

  test('two hits in the right country are a review question', async () => {
    const { outcome } = await find('insights', dutch, { answer: () => answer([hit, { ...hit, id: '9' }]) });
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'SEVERAL_CANDIDATES' });
  });

  test('a person may still choose a hit in another country', async () => {
    const remembered = { decision: 'confirm', candidateId: '8', shown: ['7', '8'] } as const;
    const unsure = { ...hit, country_code: null };
    const { outcome, verdicts } = await find('insights', dutch, {
      answer: () => answer([unsure, foreign]),
      remembered,
    });
    expect(outcome).toMatchObject({ kind: 'done', ids: { insights: { id: '8', matchedOn: 'review' } } });
    expect(verdicts).toEqual(['rejected', 'confirmed']);
  });

  test('a search is not sent without a key it accepts', async () => {
    const { outcome, asked } = await find('insights', { country: 'NL', vat_number: 'NL123456782B12' }, {});
    expect(asked).toEqual([]);
    expect(outcome).toMatchObject({
      kind: 'no_match',
      code: 'CANNOT_BE_ASKED',
      message: expect.stringContaining('(vat_number)'),
    });
  });
});
