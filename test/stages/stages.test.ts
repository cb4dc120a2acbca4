import { describe, expect, test } from 'vitest';
import type { CallOutcome } from '../../src/calls/request.js';
import { creditReportStage } from '../../src/stages/credit-report.js';
import { financialsStage } from '../../src/stages/financials.js';
import { resolve } from '../../src/stages/identity/resolve.js';
import { recordStage } from '../../src/stages/record.js';
import type { Identified } from '../../src/stages/stage.js';
import { present } from '../engine/support.js';
import { answer, company, failure, known as knownAs, NOW, policy, scene } from './support.js';

const dutch = { name: 'Tulip Works B.V.', country: 'NL', registration_number: '12345678' };
const candidate = {
  id: 1,
  name: 'Tulip Works B.V.',
  registration_number: '12345678',
  vat_number: null,
  country_code: 'NL',
  state: null,
};
const confirmed: Identified = {
  id: '1',
  candidate: { ...candidate, id: '1', jurisdiction: null },
  matchedOn: 'registration_number',
  grade: 'AAZAZ',
};

const troubles: readonly (readonly [string, CallOutcome, object])[] = [
  [
    'parked',
    { kind: 'parked', reason: 'allowance', until: 5, message: '' },
    { kind: 'parked', reason: 'allowance', until: 5 },
  ],
  ['stopped', { kind: 'stopped', error: failure({}) }, { kind: 'stopped' }],
  [
    'failed',
    { kind: 'failed', error: failure({}), attempts: 3 },
    { kind: 'failed', error: { code: 'X', attempts: 3 } },
  ],
];

describe('resolve and confirm', () => {
  test('V1-21 a search returns candidates, and one whose number agrees is confirmed with one search', async () => {
    const { context, asked } = scene({ answer: () => answer([candidate]) });
    const outcome = await resolve('v1', company(dutch), policy, context);
    expect(outcome).toMatchObject({
      kind: 'done',
      ids: { v1: { id: '1', matchedOn: 'registration_number' } },
    });
    expect(asked).toMatchObject([
      { operation: 'searchKyb', params: { location: 'NL', registration_number: '12345678' } },
    ]);
  });

  test('V1-21 another number is never accepted, even with an equal name', async () => {
    const { context } = scene({ answer: () => answer([{ ...candidate, registration_number: '87654321' }]) });
    expect((await resolve('v1', company(dutch), policy, context)).kind).not.toBe('done');
  });

  test('V1-17 IDs beyond 2^53 stay as sent, and the list may be inside an object', async () => {
    const body = `{"data": [${JSON.stringify(candidate).replace('"id":1', '"id":9007199254740993123')}]}`;
    const { context } = scene({ answer: () => answer(body) });
    expect(await resolve('v1', company(dutch), policy, context)).toMatchObject({
      ids: { v1: { id: '9007199254740993123' } },
    });
  });

  test('no candidate after every allowed search is no match', async () => {
    const { context, asked } = scene({});
    expect(await resolve('v1', company(dutch), policy, context)).toMatchObject({
      kind: 'no_match',
      code: 'NO_CANDIDATES',
    });
    expect(asked).toHaveLength(2);
  });

  test('a candidate found by two searches is one candidate', async () => {
    const other = { ...candidate, registration_number: null };
    const kept: number[] = [];
    const { context } = scene({ answer: () => answer([other]) });
    await resolve('v1', company(dutch), policy, { ...context, keepCandidates: (_, seen) => kept.push(seen.length) });
    expect(kept).toEqual([1]);
  });

  test('X-1 a body in an unknown form leaves the row to the next attempt, and nothing else is asked', async () => {
    const { context, asked } = scene({ answer: () => answer('{"oops": 1}') });
    expect(await resolve('v1', company(dutch), policy, context)).toMatchObject({
      kind: 'parked',
      reason: 'unanswered',
      error: { code: 'UNEXPECTED_BODY' },
    });
    expect(asked).toHaveLength(1);
  });

  test.each(troubles)('%s', async (_, outcome, expected) => {
    expect(await resolve('v1', company(dutch), policy, scene({ answer: () => outcome }).context)).toMatchObject(
      expected,
    );
  });

  test('V2-4 v2 is resolved on its own, by the number that v1 confirmed', async () => {
    const { context, asked } = scene({ answer: () => answer([{ ...candidate, id: '77' }]) });
    const known = company({ ...dutch, registration_number: '1234 5678' }, { v1: confirmed });
    expect(await resolve('v2', known, policy, context)).toMatchObject({
      kind: 'done',
      ids: { v2: { id: '77' } },
    });
    expect(asked[0]).toMatchObject({ api: 'v2', operation: 'kybSearch', params: { registration_number: '12345678' } });
  });

  test('V2-7 the report search has its own parameters, and its VAT numbers are a list', async () => {
    const hit = {
      source_id: 'S-1',
      id: 'S-1',
      name: 'Tulip Works B.V.',
      registration_number: null,
      vat_number: ['NL123456789B01'],
    };
    const { context, asked } = scene({ answer: () => answer([hit]) });
    await resolve('credit', company({ name: 'Tulip Works B.V.', country: 'NL' }), policy, context);
    expect(asked[0]).toMatchObject({
      operation: 'creditReportSearch',
      params: { country: 'NL', company: 'Tulip Works B.V.' },
    });
    expect(Object.keys(asked[0]?.params ?? {}).sort()).toEqual(['company', 'country']);
  });
});

describe('V2-7 the VAT numbers of a report hit', () => {
  const hitWith = (vat_number: unknown) => ({
    id: 'S-1',
    name: 'Tulip Works B.V.',
    registration_number: null,
    vat_number,
  });
  const dutchVat = company({ name: 'Tulip Works B.V.', country: 'NL', vat_number: 'NL004495445B01' });

  test.each([
    ['the only one', ['NL004495445B01']],
    ['the second of a list', ['NL123456782B90', 'NL004495445B01']],
    ['one of many, among blanks', ['', 'NL123456782B90', '004495445B01', 'NL123456782B90']],
    ['no list', 'NL004495445B01'],
  ])('all count: %s', async (_, vat) => {
    const { context } = scene({ answer: () => answer([hitWith(vat)]) });
    expect(await resolve('credit', dutchVat, policy, context)).toMatchObject({
      kind: 'done',
      ids: { credit: { id: 'S-1', matchedOn: 'vat_number' } },
    });
  });

  test.each([[['NL123456782B90', 'NL000099998B57']], [[]], [null]])('%j: none of them agrees', async (vat) => {
    const { context } = scene({ answer: () => answer([hitWith(vat)]) });
    expect((await resolve('credit', dutchVat, policy, context)).kind).not.toBe('done');
  });
});

describe('record', () => {
  const bought = (lite: object) => scene({ answer: () => answer({ lite }) });

  test('is done if the record has the confirmed number', async () => {
    const { context, asked } = bought({ registration_number: '12345678', country_code: 'NL' });
    expect(await recordStage.run(company(dutch, { v1: confirmed }), context)).toMatchObject({ kind: 'done' });
    expect(asked).toMatchObject([{ operation: 'fullKyb', params: { id: '1' } }]);
  });

  test.each([
    ['another number', { registration_number: '87654321', country_code: 'NL' }],
    ['no number', { registration_number: null, country_code: 'NL' }],
    ['another country', { registration_number: '12345678', country_code: 'BE' }],
    ['a list as number', { registration_number: ['12345678'], country_code: 'NL' }],
    ['an object as number', { registration_number: { value: '12345678' }, country_code: 'NL' }],
    ['a number of millions of blanks', { registration_number: `${' '.repeat(5e6)}12345678`, country_code: 'NL' }],
    ['X-7 another ID', { id: 2, registration_number: '12345678', country_code: 'NL' }],
  ])('V1-21 %s in the record is a review question', async (_, lite) => {
    expect(await recordStage.run(company(dutch, { v1: confirmed }), bought(lite).context)).toMatchObject({
      kind: 'needs_review',
      code: 'IDENTITY_MISMATCH',
    });
  });

  test.each([
    [{ id: 2, lite: {} }, 'needs_review'],
    [{ id: 1, lite: { id: 2 } }, 'needs_review'],
    [{ id: '1', lite: { id: 1 } }, 'done'],
    [{ id: null, lite: { id: '' } }, 'done'],
  ])('X-7 a record with the IDs %j: %s', async (body, kind) => {
    const lite = { registration_number: '12345678', country_code: 'NL', ...body.lite };
    const { context } = scene({ answer: () => answer({ ...body, lite }) });
    expect(await recordStage.run(company(dutch, { v1: confirmed }), context)).toMatchObject({ kind });
  });

  test('V1-11 a missing record is not available', async () => {
    const error = failure({ class: 'not_available' });
    const { context } = scene({ answer: () => ({ kind: 'not_available', error }) });
    expect(await recordStage.run(company(dutch, { v1: confirmed }), context)).toMatchObject({ kind: 'not_available' });
  });

  test('X-1 a truncated body leaves the row to the next attempt', async () => {
    const { context } = scene({ answer: () => answer('{"lite": {"registration_number": "123456') });
    expect(await recordStage.run(company(dutch, { v1: confirmed }), context)).toMatchObject({
      kind: 'parked',
      reason: 'unanswered',
    });
  });

  test.each([
    '{}',
    '{"lite":{}}',
    '{"lite":null,"officers":[],"shareholders":null,"financial":{"years":[],"groups":[]}}',
    '{"lite":{"id":1,"name":null,"registration_number":""},"officers":[]}',
  ])('V1-22 an empty record is not available, with a reason: %s', async (body) => {
    const nameless = { ...confirmed, candidate: { ...present(confirmed.candidate), registration_number: null } };
    for (const v1 of [confirmed, nameless])
      expect(
        await recordStage.run(company(dutch, { v1 }), scene({ answer: () => answer(body) }).context),
      ).toMatchObject({
        kind: 'not_available',
        error: { code: 'EMPTY_RECORD' },
      });
  });

  test('V1-22 a record without a profile is still a record', async () => {
    const nameless = { ...confirmed, candidate: { ...present(confirmed.candidate), registration_number: null } };
    const { context } = scene({ answer: () => answer('{"officers":[{"id":1}]}') });
    expect(await recordStage.run(company(dutch, { v1: nameless }), context)).toMatchObject({ kind: 'done' });
  });

  test.each(troubles)('%s', async (_, outcome, expected) => {
    const { context } = scene({ answer: () => outcome });
    expect(await recordStage.run(company(dutch, { v1: confirmed }), context)).toMatchObject(expected);
  });
});

describe('financials (V2-4)', () => {
  const known = company(dutch, { v2: { ...confirmed, id: '77' } });

  test('are asked for by the v2 ID', async () => {
    const { context, asked } = scene({ answer: () => answer({ 2024: { Turnover: 1 } }) });
    expect(await financialsStage.run(known, context)).toMatchObject({ kind: 'done' });
    expect(asked).toMatchObject([{ operation: 'financial', params: { id: '77' } }]);
  });

  test('V2-2 an object without years is an empty answer', async () => {
    for (const body of ['{}', ' { } ', `{${' '.repeat(100)}}`, '{"2024":null}', '{"2024":{},"2023":{"Turnover":null}}'])
      expect(await financialsStage.run(known, scene({ answer: () => answer(body) }).context)).toMatchObject({
        kind: 'not_available',
      });
  });

  test('are not bought for an unconfirmed company', async () => {
    await expect(financialsStage.run(company(dutch), scene({}).context)).rejects.toThrow(/confirmed/);
  });
});

describe('credit report (V2-6)', () => {
  const known = company(dutch, { credit: knownAs('S-1') });
  const replies = (status: string | boolean) => (request: { readonly operation: string }) => {
    if (request.operation === 'creditReportGenerate') return answer({ id: 700001, status: 'processing' });
    return answer(request.operation === 'creditReportStatus' ? String(status) : { summary: { turnover: 1 } });
  };
  const generated = (asked: readonly { readonly operation: string }[]) =>
    asked.filter(({ operation }) => operation === 'creditReportGenerate').length;

  test('the history is read before anything is generated, and a finished report is opened again', async () => {
    const past = { id: '9' };
    const { context, asked } = scene({ answer: replies(true), history: () => past });
    expect(await creditReportStage.run(known, context)).toMatchObject({ kind: 'done', ids: { report: { id: '9' } } });
    expect(asked.map(({ operation }) => operation)).toEqual(['creditReportFetch']);
  });

  test('an expired report is generated again', async () => {
    const past = { id: '9', expired: true };
    const { context, asked } = scene({ answer: replies(true), history: () => past });
    expect(await creditReportStage.run(known, context)).toMatchObject({
      kind: 'waiting',
      ids: { report: { id: '700001' } },
    });
    expect(generated(asked)).toBe(1);
  });

  test('a new report is waited for, and its ID is stored before the first poll', async () => {
    const { context, asked } = scene({ answer: replies(false) });
    expect(await creditReportStage.run(known, context)).toEqual({
      kind: 'waiting',
      until: NOW + 5000,
      ids: { report: knownAs('700001') },
    });
    expect(asked.map(({ operation }) => operation)).toEqual(['creditReportGenerate']);
  });

  test.each([
    ['ready', 10_000, true, { kind: 'done' }],
    ['not ready yet', 60_000, false, { kind: 'waiting', until: NOW + 60_000 + 15_000 }],
    ['not ready for long', 300_000, false, { kind: 'waiting', until: NOW + 300_000 + 30_000 }],
    ['never ready', 600_001, false, { kind: 'parked', reason: 'ask_provider', error: { code: 'REPORT_NOT_READY' } }],
    ['ready at last', 600_001, true, { kind: 'done' }],
  ] as const)('%s: nothing is generated again', async (_, waited, status, expected) => {
    const world = scene({
      answer: replies(status),
      owned: answer({ id: 700001, status: 'processing' }, { owned: true }),
    });
    world.now = NOW + waited;
    expect(
      await creditReportStage.run({ ...known, ids: { ...known.ids, report: knownAs('700001') } }, world.context),
    ).toMatchObject(expected);
    expect(generated(world.asked)).toBe(0);
  });

  test('a lost generate call waits, then looks in the history and uses the listed report', async () => {
    let lost = false;
    const past = { id: '9' };
    const world = scene({
      answer: (request) => {
        if (request.operation !== 'creditReportGenerate') return answer({ summary: { turnover: 1 } });
        lost = true;
        return { kind: 'in_doubt', endedAt: NOW };
      },
      history: () => (lost && world.now > NOW ? past : undefined),
    });
    expect(await creditReportStage.run(known, world.context)).toMatchObject({ kind: 'waiting', until: NOW + 5000 });
    world.now = NOW + 5000;
    expect(await creditReportStage.run(known, world.context)).toMatchObject({
      kind: 'done',
      ids: { report: { id: '9' } },
    });
    // The list read before the call says nothing about it.
    expect(world.looks).toEqual([NOW, NOW + 5000]);
    expect(world.settled).toEqual([expect.stringMatching(/^creditReportGenerate charged: .* 9$/)]);
  });

  test('V2-17 an entry of the history about another call settles no call that was never made', async () => {
    const world = scene({ answer: replies(true), history: () => ({ id: '9', expired: true }) });
    await creditReportStage.run(known, world.context);
    expect(world.settled).toEqual([]);
  });

  test('without a report for a company the search finds nothing, and nothing is generated', async () => {
    const { context, asked, looks } = scene({ answer: () => answer([]) });
    expect(await resolve('credit', company(dutch, { v1: confirmed }), policy, context)).toMatchObject({
      kind: 'no_match',
      code: 'NO_CANDIDATES',
    });
    expect(new Set(asked.map(({ operation }) => operation))).toEqual(new Set(['creditReportSearch']));
    expect(looks).toEqual([]);
  });

  test('no report is bought for an unconfirmed company', async () => {
    const { context, asked, looks } = scene({});
    await expect(creditReportStage.run(company(dutch, { v1: confirmed }), context)).rejects.toThrow(/confirmed/);
    expect([asked, looks]).toEqual([[], []]);
  });

  test('a missing report is not available, and nothing is waited for or fetched', async () => {
    const error = failure({ class: 'not_available' });
    const { context, asked } = scene({ answer: () => ({ kind: 'not_available', error }) });
    expect(await creditReportStage.run(known, context)).toMatchObject({ kind: 'not_available', message: 'no' });
    expect(asked.map(({ operation }) => operation)).toEqual(['creditReportGenerate']);
  });

  test.each(troubles)('generating is %s', async (_, outcome, expected) => {
    expect(await creditReportStage.run(known, scene({ answer: () => outcome }).context)).toMatchObject(expected);
  });
});
