import { describe, expect, test } from 'vitest';
import type { CallOutcome } from '../../src/calls/request.js';
import { profileStage } from '../../src/stages/profile.js';
import { recordStage } from '../../src/stages/record.js';
import { registryStage } from '../../src/stages/registry.js';
import { configureStage, type Identified, type RecordedDecision, type Stage } from '../../src/stages/stage.js';
import { answer, company, failure, type Scene, scene } from './support.js';

const dutch = { name: 'Acme BV', country: 'NL', registration_number: '12345678' };
const candidate = { id: '1', name: 'Acme BV', registration_number: '12345678', vat_number: null, country_code: 'NL' };
const confirmed = {
  id: '1',
  grade: 'AAZAZ',
  matchedOn: 'registration_number',
  candidate: { ...candidate, state: null, jurisdiction: null, extra: null },
} as const satisfies Identified;

const OWN = { name: 'Acme BV', registration_number: '12345678', country_code: 'NL' };
const BODIES: Readonly<Record<string, unknown>> = {
  fullKyb: { lite: OWN },
  liteKyb: { id: 1, ...OWN },
  kybLite: { id: '1', ...OWN },
  officersKyb: { data: [{ id: 1 }], total_pages: 1, total_results: 1 },
  kybOfficers: { data: [], total_pages: 0, total_results: 0 },
  shareholdersKyb: { data: [], total_pages: 0, total_results: 0 },
  kybShareholders: { data: [{ id: 1 }], total_pages: 1, total_results: 1 },
  groupFullKyb: { data: [] },
  financialKyb: { years: [], groups: [] },
  kybFinancial: { years: [], groups: [] },
};

interface Told {
  readonly options?: unknown;
  /** The replaced answer, by operation. */
  readonly instead?: Readonly<Record<string, CallOutcome | object>>;
  readonly remembered?: RecordedDecision;
  readonly ids?: Readonly<Record<string, Identified>>;
}

async function bought(stage: Stage, { options = {}, instead = {}, remembered, ids }: Told = {}) {
  const told = scene({
    answer: ({ operation }) => {
      const body = instead[operation] ?? BODIES[operation];
      return isOutcome(body) ? body : answer(body);
    },
    ...(remembered === undefined ? {} : { remembered }),
  });
  const context = { ...told.context, options: stage.options?.schema.parse(options) };
  const outcome = await stage.run(company(dutch, ids ?? { v1: confirmed, v2: confirmed }), context);
  return { outcome, asked: told.asked, errors: told.errors, kept: told.kept };
}

const isOutcome = (body: unknown): body is CallOutcome => typeof body === 'object' && body !== null && 'kind' in body;

const GONE: CallOutcome = { kind: 'not_available', error: failure({ class: 'not_available' }) };
const FAILED: CallOutcome = { kind: 'failed', error: failure({ class: 'fail_row' }), attempts: 1 };
const PARKED: CallOutcome = { kind: 'parked', reason: 'scope', until: null, message: 'the key lacks a scope' };
const LISTS = ['officers', 'shareholders', 'group', 'financial'];
const operationsOf = (asked: Scene['asked']) => asked.map(({ operation }) => operation);

describe('record', () => {
  test('is one call by default', async () => {
    expect(operationsOf((await bought(recordStage)).asked)).toEqual(['fullKyb']);
  });

  test('V1-7 a list of modules is one call each, the identity first, lists with 50 a page', async () => {
    const { asked, outcome } = await bought(recordStage, { options: { modules: [...LISTS, 'lite'] } });
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(asked.map(({ operation, params }) => [operation, params])).toEqual([
      ['liteKyb', { id: '1' }],
      ['officersKyb', { id: '1', per_page: 50, page: 1 }],
      ['shareholdersKyb', { id: '1', per_page: 50, page: 1 }],
      ['groupFullKyb', { id: '1' }],
      ['financialKyb', { id: '1' }],
    ]);
  });

  test('V1-26 `full` with all pages buys the two lists, which state their totals', async () => {
    const { asked } = await bought(recordStage, { options: { all_pages: true } });
    expect(operationsOf(asked)).toEqual(['fullKyb', 'officersKyb', 'shareholdersKyb']);
  });

  test('the maximum number of calls follows from the options', () => {
    const calls = (options: object) =>
      configureStage(recordStage, recordStage.options?.schema.parse(options)).calls.map(({ operation, atMost }) => [
        operation.name,
        atMost,
      ]);
    expect(calls({})).toEqual([['fullKyb', 1]]);
    expect(calls({ modules: ['officers', 'lite'], pages_at_most: 7 })).toEqual([
      ['liteKyb', 1],
      ['officersKyb', 7],
    ]);
    expect(calls({ modules: ['officers'], all_pages: false })).toEqual([['officersKyb', 1]]);
  });

  test('options equal to the former behaviour make no other run', () => {
    const decisive = (options: object) => recordStage.options?.decisive(recordStage.options.schema.parse(options));
    expect(decisive({})).toBeUndefined();
    expect(decisive({ modules: 'full', all_pages: false, pages_at_most: 3 })).toBeUndefined();
    expect(decisive({ all_pages: true })).toEqual({ modules: 'full', pages: 10 });
    expect(decisive({ modules: ['group', 'lite'] })).toEqual(decisive({ modules: ['lite', 'group'] }));
  });

  test('a module that the provider lacks is noted, and the stage is done', async () => {
    const { outcome, errors } = await bought(recordStage, {
      options: { modules: LISTS },
      instead: { groupFullKyb: GONE },
    });
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(errors).toMatchObject([{ class: 'not_available', message: expect.stringMatching(/^groupFullKyb: /) }]);
  });

  test.each([{ data: null, total_results: 0, total_pages: 0 }, { total_results: 0, total_pages: 0 }, {}])(
    'V1-22 a list that came as %j is an answer, asked for once, without entries',
    async (nothing) => {
      const instead = { officersKyb: nothing, shareholdersKyb: nothing, groupFullKyb: { data: null } };
      const { outcome, asked, errors } = await bought(recordStage, { options: { modules: LISTS }, instead });
      expect(outcome).toMatchObject({ kind: 'done' });
      expect(asked).toHaveLength(LISTS.length);
      expect(errors).toMatchObject(
        ['officersKyb', 'shareholdersKyb', 'groupFullKyb'].map((name) => ({
          class: 'not_available',
          code: 'NOTHING_RETURNED',
          message: expect.stringMatching(new RegExp(`^${name}: `)),
        })),
      );
      const alone = await bought(recordStage, { options: { modules: ['officers'] }, instead });
      expect(alone.outcome).toMatchObject({ kind: 'not_available', error: { code: 'NOTHING_RETURNED' } });
    },
  );

  test('without any module the stage is not available', async () => {
    const instead = { officersKyb: GONE, financialKyb: GONE };
    const { outcome, errors } = await bought(recordStage, { options: { modules: ['officers', 'financial'] }, instead });
    expect(outcome).toMatchObject({ kind: 'not_available' });
    expect(errors).toHaveLength(1);
  });

  test('a failed module fails the stage, and the others are still bought', async () => {
    const instead = { officersKyb: FAILED, shareholdersKyb: PARKED };
    const { outcome, asked } = await bought(recordStage, { options: { modules: LISTS }, instead });
    expect(outcome).toMatchObject({ kind: 'failed' });
    expect(asked).toHaveLength(4);
  });

  test('V1-10 a parked module parks the stage, and the others are still bought', async () => {
    const { outcome, asked } = await bought(recordStage, {
      options: { modules: LISTS },
      instead: { officersKyb: PARKED },
    });
    expect(outcome).toMatchObject({ kind: 'parked', reason: 'scope' });
    expect(asked).toHaveLength(4);
  });

  test.each([
    ['parked', PARKED],
    ['failed', FAILED],
  ])('nothing is bought for a company whose profile is %s', async (kind, liteKyb) => {
    const { outcome, asked } = await bought(recordStage, {
      options: { modules: ['lite', ...LISTS] },
      instead: { liteKyb },
    });
    expect(outcome).toMatchObject({ kind });
    expect(operationsOf(asked)).toEqual(['liteKyb']);
  });

  test.each([
    ['financialKyb', { years: null }],
    ['financialKyb', {}],
    ['liteKyb', { id: 1, name: null, status: '' }],
  ])('V1-22 an empty %s counts as not returned: %j', async (operation, body) => {
    const { outcome, errors } = await bought(recordStage, {
      options: { modules: ['lite', ...LISTS] },
      instead: { [operation]: body },
    });
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(errors).toMatchObject([{ code: 'NOTHING_RETURNED', message: expect.stringContaining(operation) }]);
  });

  test('V1-22 empty lists count as returned', async () => {
    const instead = { officersKyb: BODIES.shareholdersKyb as object };
    const { outcome, errors } = await bought(recordStage, { options: { modules: LISTS }, instead });
    expect([outcome, errors]).toMatchObject([{ kind: 'done' }, []]);
  });

  test('V1-25 the profile is compared in either form', async () => {
    const modules = { options: { modules: ['lite'] } };
    const grouped = (number: string) => ({
      id: 1,
      basic: { name: 'Acme BV', registration_number: number },
      address: { country_code: 'NL' },
    });
    const same = await bought(recordStage, { ...modules, instead: { liteKyb: grouped('12345678') } });
    expect(same.outcome).toMatchObject({ kind: 'done' });
    const other = await bought(recordStage, { ...modules, instead: { liteKyb: grouped('87654321') } });
    expect(other.outcome).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
  });

  test.each([recordStage, registryStage])(
    'X-7 a profile with another ID is a review question: $name',
    async (stage) => {
      const instead = { liteKyb: { ...OWN, id: 2 }, kybLite: { ...OWN, id: '2' } };
      const { outcome } = await bought(stage, { options: stage === recordStage ? { modules: ['lite'] } : {}, instead });
      expect(outcome).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
    },
  );

  test('V1-27 a group with country-qualified numbers is not compared with the local number', async () => {
    const tree = { data: [{ id: 1, registration_number: 'NL-12345678', selected: true, children: [] }] };
    const { outcome } = await bought(recordStage, { options: { modules: ['group'] }, instead: { groupFullKyb: tree } });
    expect(outcome).toMatchObject({ kind: 'done' });
  });
});

describe('profile and registry', () => {
  test('each is bought from the configured API', async () => {
    expect(operationsOf((await bought(profileStage)).asked)).toEqual(['liteKyb']);
    expect(operationsOf((await bought(profileStage, { options: { from: 'v2' } })).asked)).toEqual(['kybLite']);
    expect(configureStage(profileStage, { from: 'v2' })).toMatchObject({ space: 'v2' });
  });

  test('V2-12 the page size of v2 is left to the provider unless configured', async () => {
    const { asked, outcome } = await bought(registryStage);
    expect(outcome).toMatchObject({ kind: 'done' });
    expect(asked.map(({ operation, params }) => [operation, params])).toEqual([
      ['kybLite', { id: '1' }],
      ['kybOfficers', { id: '1', page: 1 }],
      ['kybShareholders', { id: '1', page: 1 }],
      ['kybFinancial', { id: '1' }],
    ]);
    const said = await bought(registryStage, { options: { modules: ['officers'], per_page: 100 } });
    expect(said.asked).toMatchObject([{ params: { page: 1, per_page: 100 } }]);
  });

  const OTHER = { instead: { kybLite: { id: '1', ...OWN, registration_number: '87654321' } } };
  const decision = (said: RecordedDecision['decision']) => ({
    ...OTHER,
    remembered: { decision: said, candidateId: '1', shown: ['1'] },
  });

  test('V2-4 a v2 profile with another number is a review question, and nothing more is bought', async () => {
    const { outcome, asked, kept } = await bought(registryStage, OTHER);
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
    expect(operationsOf(asked)).toEqual(['kybLite']);
    expect(kept).toMatchObject([{ space: 'v2', stage: 'registry', candidateId: '1', answered: false }]);
  });

  test('after a person accepts it the rest is bought', async () => {
    const { outcome, asked } = await bought(registryStage, decision('confirm'));
    expect(outcome).toMatchObject({ kind: 'done', ids: { v2: { id: '1', matchedOn: 'review' } } });
    expect(asked).toHaveLength(4);
  });

  test('after a person refuses it the company loses its v2 match, and every match if v1 has none', async () => {
    expect((await bought(registryStage, decision('none_of_these'))).outcome).toMatchObject({
      kind: 'not_available',
      error: { code: 'REVIEWED' },
      ids: { v2: null },
    });
    const alone = { ...decision('none_of_these'), ids: { v2: confirmed } };
    expect((await bought(registryStage, alone)).outcome).toMatchObject({ kind: 'no_match', code: 'REVIEWED' });
  });
});

describe('a group tree', () => {
  const node = (said: object, children: readonly object[] = []) => ({ name: 'x', selected: false, children, ...said });
  const buy = (tree: readonly object[], modules = ['lite', 'group']) =>
    bought(recordStage, { options: { modules }, instead: { groupFullKyb: { data: tree } } });
  const another = [node({ id: 8 }, [node({ id: 99, name: 'Wrong', registration_number: 'FR1', selected: true })])];

  test('X-7 that marks another company is a review question, and a refused one is only this module', async () => {
    const { outcome, kept } = await buy(another);
    expect(outcome).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
    expect(kept).toMatchObject([{ compared: { operation: { name: 'groupFullKyb' } }, answered: false }]);
    expect(kept[0]?.message).toMatch(/^groupFullKyb .*FR1 \(Wrong\).*12345678$/);
    const refused = await bought(recordStage, {
      options: { modules: ['lite', 'group'] },
      instead: { groupFullKyb: { data: another } },
      remembered: { decision: 'none_of_these', candidateId: null, shown: ['1'] },
    });
    expect(refused).toMatchObject({ outcome: { kind: 'done' }, errors: [{ code: 'REVIEWED' }] });
  });

  test.each([
    ['marks one without a number but with another name', node({ id: 99, name: 'Wrong', selected: true })],
    ['lists only others', node({ id: 99, registration_number: 'FR1' })],
  ])('X-7 that %s is a review question', async (_, said) => {
    expect((await buy([said])).outcome).toMatchObject({ kind: 'needs_review', code: 'IDENTITY_MISMATCH' });
  });

  test.each([
    ['its number', { id: 99, registration_number: 'NL-12345678', selected: true }],
    ['its ID', { id: 1, registration_number: 'NL1', selected: true }],
    ['no number but its name', { id: 99, name: 'Acme BV', registration_number: null, selected: true }],
    ['nobody', { id: 99, registration_number: 'FR1' }],
  ])('that marks %s belongs to the company', async (_, said) => {
    const { outcome, errors } = await buy([node({ id: 8 }, [node(said)])]);
    expect({ outcome, errors }).toMatchObject({ outcome: { kind: 'done' }, errors: [] });
  });
});
