import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { countPeopleLeft } from '../../src/domain/outcomes.js';
import {
  holdersToScreen,
  officersToScreen,
  type ScreeningOptions,
  screeningOptions,
  screeningStage,
} from '../../src/stages/screening.js';
import { configureStage, type StageContext } from '../../src/stages/stage.js';
import { parseExact } from '../../src/util/exact-json.js';
import { loadWith, problemsWith, refusal } from '../config/with-pipeline.js';
import { expectGolden } from '../helpers/golden.js';
import { type Asked, answer, company, known, NOW, type SceneOptions, scene } from './support.js';

const row = { name: 'Tulip Works B.V.', country: 'NL', registration_number: '12345678' };
const items = (value: unknown) => parseExact(Buffer.from(JSON.stringify(value))) as readonly unknown[];

describe('people to search for', () => {
  test('officers by both names, each once, with a known year of birth', () => {
    const listed = items([
      { first_name: 'Ann', last_name: 'Lee', date_of_birth_year: 1970 },
      { first_name: ' ANN ', last_name: 'Lee', date_of_birth_year: '1970' },
      { first_name: 'Ann', last_name: 'Lee', date_of_birth_year: null },
      { first_name: null, last_name: 'Holding  Ltd' },
      { first_name: 'Bo', last_name: 'Old', resigned_at: '2020-01-01' },
      { first_name: '', last_name: 'X' },
      null,
      'nobody',
    ]);
    const current = [
      { name: 'Ann Lee', birthYear: 1970 },
      { name: 'Ann Lee', birthYear: null },
      { name: 'Holding Ltd', birthYear: null },
    ];
    expect(officersToScreen(listed, true)).toEqual({ people: current, unsearchable: 1 });
    expect(officersToScreen(listed, false).people).toEqual([...current, { name: 'Bo Old', birthYear: null }]);
  });

  test('V1-20 for any list, a search gets a name of 2 to 500 characters and a year of four digits', () => {
    const member = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.jsonValue());
    const people = fc.array(
      fc.oneof(fc.record({ first_name: member, last_name: member, date_of_birth_year: member, name: member }), member),
    );
    const { params } = v1Operations.officersSearchKyb;
    fc.assert(
      fc.property(people, (list) => {
        for (const { name, birthYear } of [officersToScreen(items(list), false), holdersToScreen(items(list))].flatMap(
          ({ people }) => people,
        )) {
          const asked = { name, ...(birthYear === null ? {} : { date_of_birth_year: birthYear }) };
          expect(params.safeParse(asked).success).toBe(true);
        }
      }),
    );
  });
});

const options = (file: object): ScreeningOptions => screeningOptions.schema.parse(file);

async function run(file: object, more: SceneOptions) {
  const world = scene(more);
  const context = { ...world.context, options: options(file) } as StageContext;
  return { ...world, outcome: await screeningStage.run(company(row, { v1: known('1') }), context) };
}

const listed = (request: Asked) => {
  if (request.operation === 'officersKyb')
    return answer({ data: [{ first_name: 'Ann', last_name: 'Lee' }], total_results: 1, total_pages: 1 });
  if (request.operation === 'shareholdersKyb')
    return answer({ data: [{ name: 'Ann Lee' }, { name: 'Big B.V.' }], total_results: 70, total_pages: 2 });
  return request.operation === 'officersSearchKyb'
    ? answer([])
    : answer({ data: [], total_results: 0, total_pages: 0 });
};

describe('the stage', () => {
  test('asks for the two lists, then for each name, and notes more than one page of a list', async () => {
    const { outcome, asked, errors } = await run({}, { answer: listed });
    expect(outcome).toEqual({ kind: 'done', asOf: NOW });
    expect(asked.map(({ operation, params }) => [operation, params.name ?? params.id])).toEqual([
      ['officersKyb', '1'],
      ['officersSearchKyb', 'Ann Lee'],
      ['shareholdersKyb', '1'],
      ['shareholdersSearchKyb', 'Ann Lee'],
      ['shareholdersSearchKyb', 'Big B.V.'],
    ]);
    expect(errors).toMatchObject([{ code: 'PEOPLE_LEFT', message: expect.stringContaining(' 68 ') }]);
  });

  test('X-7 a list of another company is in review, and no person in it is searched for', async () => {
    const stranger = { company_id: 99, first_name: 'Ann', last_name: 'Lee' };
    const { outcome, asked } = await run(
      { shareholders: false },
      { answer: () => answer({ data: [stranger], total_results: 1, total_pages: 1 }) },
    );
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
    expect(asked.map(({ operation }) => operation)).toEqual(['officersKyb']);
  });

  test('a person without a searchable name is noted with the reason', async () => {
    const data = [{ name: 'H' }, { name: 'Z'.repeat(501) }, { name: null }, { name: 'Big B.V.' }];
    const { errors } = await run(
      { officers: false },
      {
        answer: ({ operation }) =>
          operation === 'shareholdersKyb'
            ? answer({ data, total_results: 4, total_pages: 1 })
            : answer({ data: [], total_results: 0, total_pages: 0 }),
      },
    );
    expect(errors).toMatchObject([{ code: 'PEOPLE_LEFT', message: expect.stringMatching(/^1 .*\. 3 /) }]);
    expect(countPeopleLeft(errors[0]?.message ?? '', 'shareholders')).toBe(3);
    expect(countPeopleLeft(errors[0]?.message ?? '', 'officers')).toBe(0);
  });

  test('people beyond the first page are noted as existing, not as left out by the pipeline', async () => {
    const { errors } = await run({ people_at_most: 50 }, { answer: listed });
    expect(errors).toMatchObject([
      { code: 'PEOPLE_LEFT', message: expect.stringMatching(/^2 .*\. shareholdersKyb .* 68 /) },
    ]);
    expect(countPeopleLeft(errors[0]?.message ?? '', 'shareholders')).toBe(68);
    await expectGolden(
      'screening-people-left',
      errors.map(({ code, message }) => [code, message]),
    );
  });

  test.each([
    ['three pages, all stored', [1, 2, 3], 3, ['Ann P1', 'Ann P2', 'Ann P3'], 0],
    ['a page that is not stored ends it', [1, 3], 3, ['Ann P1'], 1],
    ['none is stored: the first is bought', [], 1, ['Ann Lee'], 0],
  ] as const)('the list has all stored pages: %s', async (_, pages, total, names, left) => {
    const world = scene({ answer: listed });
    const owned: StageContext['stored'] = async ({ name }, { page }) =>
      name === 'officersKyb' && pages.some((one) => one === page)
        ? answer({ data: [{ first_name: 'Ann', last_name: `P${page}` }], total_results: total, total_pages: total })
        : undefined;
    const context = { ...world.context, stored: owned, options: options({ shareholders: false }) } as StageContext;
    await screeningStage.run(company(row, { v1: known('1') }), context);
    const searched = world.asked.filter(({ operation }) => operation === 'officersSearchKyb');
    expect(searched.map(({ params }) => params.name)).toEqual(names);
    expect(world.asked.length - searched.length).toBe(pages.length === 0 ? 1 : 0);
    expect(world.errors).toHaveLength(left);
  });

  test('a list without people is not available, and no failure', async () => {
    const empty = () => answer({ data: [], total_results: 0, total_pages: 0 });
    expect((await run({}, { answer: empty })).outcome).toMatchObject({
      kind: 'not_available',
      error: { code: 'NOBODY_TO_SCREEN' },
    });
  });

  test('if the provider lacks one list, the other is used', async () => {
    const error = new ApiError({
      class: 'not_available',
      code: 'DATA_SERVICE_404',
      message: 'no record',
      hint: '',
      api: 'v1',
      operation: 'officersKyb',
      charge: 'free',
    });
    const { outcome, errors } = await run(
      {},
      {
        answer: (request) => (request.operation === 'officersKyb' ? { kind: 'not_available', error } : listed(request)),
      },
    );
    expect(outcome).toEqual({ kind: 'done', asOf: NOW });
    expect(errors.map(({ code }) => code)).toEqual(['DATA_SERVICE_404', 'PEOPLE_LEFT']);
  });

  test('the plan counts every possible search', () => {
    const { space, calls } = configureStage(screeningStage, options({ people_at_most: 3, pages_at_most: 2 }));
    expect(space).toBe('v1');
    expect(calls.map(({ operation, atMost }) => [operation.name, atMost])).toEqual([
      ['officersKyb', 1],
      ['officersSearchKyb', 3],
      ['shareholdersKyb', 1],
      ['shareholdersSearchKyb', 6],
    ]);
    const v2 = configureStage(screeningStage, options({ from: 'v2' }));
    expect([v2.space, v2.calls.map(({ operation }) => operation.name)]).toEqual([
      'v2',
      ['kybOfficers', 'kybOfficersSearch'],
    ]);
  });

  const REFUSED = [
    ['screening: {people_at_most: 0}', 'screening.people_at_most'],
    ['screening: {from: v3}', 'screening.from'],
    ['screening: {officers: false, shareholders: false}', 'screening.officers'],
    ['screening: {from: v2, officers: false}', 'screening.officers'],
  ] as const;

  test.each(REFUSED)('%s is refused', (text, key) => {
    expect(problemsWith(text)).toEqual([{ code: 'PIPELINE_INVALID', key }]);
  });

  test('each refusal shows the possible values', async () => {
    await expectGolden(
      'screening-options',
      REFUSED.map(([text]) => [text, refusal(() => loadWith(text)).message]),
    );
  });
});
