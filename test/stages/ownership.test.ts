import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readNumberWithCountry } from '../../src/domain/numbers/compare.js';
import { identityInOwnership, ownershipMismatches, ownershipStage } from '../../src/stages/ownership.js';
import type { Identified, RecordedDecision, SeenCandidate } from '../../src/stages/stage.js';
import { expectGolden } from '../helpers/golden.js';
import { answer, company, known, scene } from './support.js';

const row = { name: 'Tulip Works B.V.', country: 'NL', registration_number: '12345678' };
const candidate = {
  id: '7',
  name: 'Tulip Works B.V.',
  registration_number: '12345678',
  vat_number: null,
  country_code: 'NL',
  state: null,
  jurisdiction: null,
};
const v2: Identified = { id: '7', candidate, matchedOn: 'registration_number', grade: 'AAZAZ' };
const holders = [{ id: 1, name: 'Ann', quantity: 1, share_value: '1' }];
const node = (registration_number: string | null, name: string | null, more: object = {}) => ({
  id: 9,
  registration_number,
  name,
  selected: true,
  children: [],
  ...more,
});
const own = node('NL-12345678', 'Tulip Works BV');
const whole = { shareholders: holders, group_structure: [own], registration_number: '12345678' };

const run = async (body: unknown, remembered?: RecordedDecision, identity: Identified = v2) => {
  const world = scene({ answer: () => answer(body), ...(remembered && { remembered }) });
  return { ...world, outcome: await ownershipStage.run(company(row, { v2: identity }), world.context) };
};

describe('V2-22 the request has no country', () => {
  test('an answer with the number and the confirmed company marked is accepted', async () => {
    const { outcome, asked, kept } = await run(whole);
    expect(outcome).toMatchObject({ kind: 'done', ids: { ownership: { id: '12345678' } } });
    expect(asked).toEqual([{ api: 'v2', operation: 'ownership', params: { registration_number: '12345678' } }]);
    expect(kept).toEqual([]);
  });

  const questions: readonly (readonly [string, object])[] = [
    ['another number', { ...whole, registration_number: '999' }],
    ['no number', { ...whole, registration_number: null }],
    ['the number of another country', { ...whole, registration_number: 'FI-12345678' }],
    ['no tree', { ...whole, group_structure: [] }],
    ['a tree that did not come', { shareholders: holders, registration_number: '12345678' }],
    ['a tree without a mark', { ...whole, group_structure: [{ ...own, selected: null }] }],
    ['two that are marked', { ...whole, group_structure: [own, { ...own, id: 10 }] }],
    ['a marked company of another country', { ...whole, group_structure: [node('FI-12345678', 'Tulip Works B.V.')] }],
    ['a marked company with another number', { ...whole, group_structure: [node('87654321', 'Tulip Works B.V.')] }],
    ['a marked company without a number', { ...whole, group_structure: [node(null, 'Tulip Works B.V.')] }],
    ['a marked company with another name', { ...whole, group_structure: [node('12345678', 'Suomen Laiva Oy')] }],
    ['a marked company without a name', { ...whole, group_structure: [node('12345678', null)] }],
  ];
  test('the words of its questions', async () => {
    const words = questions.map(async ([given, body]): Promise<[string, string]> => {
      const { outcome } = await run(body);
      return [given, outcome.kind === 'needs_review' ? outcome.message : outcome.kind];
    });
    await expectGolden('ownership-questions', await Promise.all(words));
  });

  test.each(questions)('%s is a review question', async (_, body) => {
    const { outcome, kept } = await run(body);
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
    expect(outcome.ids).toBeUndefined();
    expect(kept).toMatchObject([{ space: 'ownership', stage: 'ownership', candidateId: '12345678', answered: false }]);
  });

  test('a person accepts or refuses the answer, and the decision holds for this difference', async () => {
    const odd = { ...whole, group_structure: [node('12345678', 'Tulip Group')] };
    const decided = { candidateId: '12345678', shown: [] };
    expect((await run(odd, { decision: 'confirm', ...decided })).outcome).toMatchObject({
      kind: 'done',
      ids: { ownership: { id: '12345678', matchedOn: 'review' } },
    });
    expect((await run(odd, { decision: 'none_of_these', ...decided })).outcome).toMatchObject({
      kind: 'not_available',
      error: { code: 'REVIEWED' },
      ids: { ownership: null },
    });
    const [first, other] = await Promise.all([run(odd), run({ ...odd, registration_number: '5' })]);
    expect(first.kept[0]?.key).not.toBe(other.kept[0]?.key);
  });

  test('a withdrawn acceptance is undone, and an answer accepted without a person stays', async () => {
    const odd = { ...whole, group_structure: [node('12345678', 'Tulip Group')] };
    const again = async (matchedOn: string, withdrawn: boolean) => {
      const { context } = scene({ answer: () => answer(odd), ...(withdrawn && { wasWithdrawn: true as const }) });
      const ownership = { ...known('12345678'), matchedOn };
      return (await ownershipStage.run(company(row, { v2, ownership }), context)).ids?.ownership;
    };
    expect(await again('review', true)).toBeNull();
    // Another answer was accepted, and that was not withdrawn.
    expect(await again('review', false)).toMatchObject({ matchedOn: 'review' });
    expect(await again('registration_number', true)).toMatchObject({ matchedOn: 'registration_number' });
  });

  test.each([
    ['NL', '12345678', 'NL-12345678', 0],
    ['GB', '00445790', 'GB-00445790', 0],
    ['GB', '00445790', '00445790', 1],
    ['DE', 'HRB 123', 'DE-HRB 123', 1],
    ['US', '1234567', 'US-1234567', 1],
    ['CN', '123456789012345', 'CN-123456789012345', 1],
    ['VG', '1234567', 'VG-1234567', 1],
    ['GB', '4457', 'GB 4457 99', 2],
  ])('in %s another name beside %s is a new name only if %s can be no other company', (country, number, said, n) => {
    const renamed = { registrationNumber: number, selected: [{ name: 'Brand New', registrationNumber: said }] };
    expect(ownershipMismatches(renamed, { number, name: 'Old Mill', countryCode: country }, 85)).toHaveLength(n);
  });

  test('the evidence shows the facts of the answer', async () => {
    const kept: SeenCandidate[] = [];
    const nodes = [{ name: 'Root\u0007One', selected: null, children: [{ name: 'Child', children: null }] }, {}];
    const people = ['Ann', 'Ben', 'Cid', 'Dot'].map((name) => ({ name }));
    const { context } = scene({
      answer: () => answer({ registration_number: '12345678', shareholders: people, group_structure: nodes }),
    });
    await ownershipStage.run(company(row, { v2 }), { ...context, keepCandidates: (_, seen) => kept.push(...seen) });
    const shown = kept[0]?.evidence.at(-1) ?? '';
    expect(shown).toMatch(/ 12345678, 4 .*: Ann, Ben, Cid, …, 3 .* Root One, …$/);
    await expectGolden('ownership-evidence', [['three of four shareholders, and one of two trees', shown]]);
  });

  test.each([{}, { shareholders: [], group_structure: [], registration_number: '12345678' }, { shareholders: null }])(
    'V1-22 %j is nothing returned, and no question',
    async (body) => {
      expect((await run(body)).outcome).toMatchObject({ kind: 'not_available', error: { code: 'NO_OWNERSHIP' } });
    },
  );

  test('a company without a number is not asked for by its name', async () => {
    const unnumbered = { ...v2, candidate: { ...candidate, registration_number: null } };
    const { outcome, asked } = await run(whole, undefined, unnumbered);
    expect(outcome).toMatchObject({ kind: 'not_available', error: { code: 'NUMBER_NEEDED' } });
    expect(asked).toEqual([]);
  });

  test('a row without a name accepts only a number that names its country', () => {
    const nameless = { number: '12345678', name: null, countryCode: 'NL' };
    const said = (number: string) => ({
      registrationNumber: '12345678',
      selected: [{ name: 'Tulip', registrationNumber: number }],
    });
    expect(ownershipMismatches(said('NL-12345678'), nameless, 85)).toEqual([]);
    expect(ownershipMismatches(said('12345678'), nameless, 85)).toHaveLength(1);
  });

  test('a tree of 100,000 levels is walked to its end', () => {
    let tree: object = own;
    for (let level = 0; level < 100_000; level++) tree = { name: 'P', selected: false, children: [tree] };
    expect(identityInOwnership({ group_structure: [tree] }).selected).toEqual([
      { name: 'Tulip Works BV', registrationNumber: 'NL-12345678' },
    ]);
  });
});

describe('a number with a country prefix', () => {
  test.each([
    ['GB-00045590', '00045590', 'GB', { isSame: true, country: 'GB' }],
    ['UK00045590', '00045590', 'GB', { isSame: true, country: 'GB' }],
    ['SC123456', 'SC123456', 'GB', { isSame: true, country: null }],
    ['GBSC123456', 'SC123456', 'GB', { isSame: true, country: 'GB' }],
    ['00045590', '00045590', 'GB', { isSame: true, country: null }],
    ['45590', '00045590', 'GB', { isSame: false, country: null }],
    ['FR-00045590', '00045590', 'GB', { isSame: false, country: 'FR' }],
    ['DE-HRB 123', 'HRB 123', 'DE', { isSame: true, country: 'DE' }],
    ['AT-HRB 123', 'HRB 123', 'DE', { isSame: false, country: 'AT' }],
    ['HRB 123', 'HRB 123', 'DE', { isSame: true, country: null }],
  ])('%s against %s of %s', (text, confirmed, country, expected) => {
    expect(readNumberWithCountry(text, confirmed, country)).toEqual(expected);
  });

  test('another number is never equal, with any prefix', () => {
    const digits = fc.stringMatching(/^[1-9]\d{6,9}$/);
    fc.assert(
      fc.property(digits, digits, fc.constantFrom('', 'NL-', 'FR ', 'xx'), (number, confirmed, before) => {
        fc.pre(number !== confirmed);
        return !readNumberWithCountry(`${before}${number}`, confirmed, 'NL').isSame;
      }),
    );
  });
});
