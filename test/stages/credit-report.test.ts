import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import type { CallOutcome } from '../../src/calls/request.js';
import { creditReportStage } from '../../src/stages/credit-report.js';
import type { StageOutcome } from '../../src/stages/stage.js';
import { long } from '../helpers/long.js';
import { type Asked, answer, company, known, NOW, type Scene, scene } from './support.js';

const dutch = { name: 'Tulip Works B.V.', country: 'NL', registration_number: '12345678' };
const asked = company(dutch, { credit: known('S-1') });
const begun = company(dutch, { credit: known('S-1'), report: known('700001') });

/** Until the next attempt. */
const LEFT = { kind: 'parked', reason: 'unanswered' } as const;
const HELD = { kind: 'parked', reason: 'ask_provider' } as const;

const run = (world: Scene, who = asked): Promise<StageOutcome> => creditReportStage.run(who, world.context);
const countOf = (world: Scene, operation: string) => world.asked.filter((call) => call.operation === operation).length;

/** The provider's answers to generating, to the status check and to fetching. */
const provider =
  (answers: { readonly status?: unknown; readonly body?: unknown }) =>
  ({ operation }: Asked): CallOutcome => {
    if (operation === 'creditReportGenerate') return answer({ id: 700002, status: 'processing' });
    return answer(
      operation === 'creditReportStatus' ? (answers.status ?? true) : (answers.body ?? { summary: { turnover: 1 } }),
    );
  };

describe('V2-19 the status check', () => {
  const owned = answer({ id: 700001, status: 'processing' }, { owned: true });

  test.each([
    'true',
    ' true\n',
    '{"status":true}',
    '{"status":"finish"}',
    '{"ready":true}',
    '{"report_id":700001,"ready":true}',
    '{"status":"finish","expired":false}',
  ])('%s: the report can be fetched', async (status) => {
    expect(await run(scene({ answer: provider({ status }), owned }), begun)).toMatchObject({ kind: 'done' });
  });

  test.each([
    'false',
    '"true"',
    '1',
    'null',
    '[true]',
    '{}',
    '{"status":false}',
    '{"status":"processing","ready":true}',
    '{"status":"error","expired":true}',
    '{"expired":true}',
    '{"one":true,"two":true}',
    '{"ready":"true"}',
  ])('%s: the report is waited for, and given up after a while', async (status) => {
    const world = scene({ answer: provider({ status }), owned });
    world.now = NOW + 60_000;
    expect(await run(world, begun)).toMatchObject({ kind: 'waiting' });
    world.now = NOW + 600_001;
    expect(await run(world, begun)).toMatchObject({
      kind: 'parked',
      reason: 'ask_provider',
      error: { code: 'REPORT_NOT_READY' },
    });
    expect(countOf(world, 'creditReportFetch')).toBe(0);
  });
});

describe('V2-21 the format of a report', () => {
  test('is part of the request', async () => {
    const world = scene({ answer: provider({}) });
    await run(world);
    expect(world.asked[0]).toMatchObject({ operation: 'creditReportGenerate', params: { format: 'json' } });
  });

  test.each(['<html><body>Report</body></html>', '\n <!doctype html>', '"<html></html>"'])(
    '%s instead of JSON may be a maintenance page: it is fetched again, then the row is held with the next step',
    async (body) => {
      const world = scene({ answer: provider({ body }), owned: answer({ id: 9, status: 'finish' }) });
      world.now = NOW + 60_000;
      expect(await run(world)).toMatchObject({ kind: 'waiting', ids: { report: { id: '9' } } });
      world.now = NOW + 600_001;
      const outcome = await run(world);
      expect(outcome).toMatchObject({
        kind: 'parked',
        reason: 'ask_provider',
        error: { code: 'REPORT_IN_HTML' },
        ids: { report: { id: '9' } },
      });
      const message = outcome.kind === 'parked' ? outcome.message : '';
      expect(message).toContain('kybatch resume ');
      expect(message).toContain(
        `kybatch call v2 creditReportGenerate --rebuy --params '{"source_id":"S-1","country":"NL","format":"json"}'`,
      );
      expect(countOf(world, 'creditReportGenerate')).toBe(0);
    },
  );
});

test.each(['[]', '7', 'null', 'true', ''])(
  'X-1 a report that is %j is no report: it is fetched again, then the row is held and a person is asked',
  async (body) => {
    const world = scene({ answer: provider({ body }), owned: answer({ id: 9, status: 'finish' }) });
    expect(await run(world)).toMatchObject({ kind: 'waiting' });
    world.now = NOW + 600_001;
    expect(await run(world)).toMatchObject({ ...HELD, error: { code: 'UNEXPECTED_BODY' } });
  },
);

test.each(['{}', ' { } ', '{"summary":null}', '{"summary":{},"company_profile":{"a":[null,""]}}'])(
  'V1-22 a report that comes as %s is empty, and the row shows that',
  async (body) => {
    const world = scene({ answer: provider({ body }), history: () => ({ id: '9' }) });
    expect(await run(world)).toMatchObject({
      kind: 'not_available',
      error: { code: 'REPORT_EMPTY', message: expect.stringMatching(/\b9\b/) },
    });
  },
);

describe('a paid report never fails its row while it may come', () => {
  const late = { owned: answer({ id: 700001, status: 'processing' }, { owned: true }) };
  const refusal = new ApiError({
    class: 'retry',
    code: 'UNEXPLAINED',
    message: 'no',
    hint: '',
    api: 'v2',
    operation: '',
    charge: 'free',
    attemptsAtMost: 3,
  });
  const unread = { kind: 'parked', reason: 'unanswered', until: null, message: 'page' } as const;
  const met: readonly [string, CallOutcome, object][] = [
    [
      'refused',
      { kind: 'failed', error: refusal, attempts: 3 },
      { kind: 'parked', reason: 'ask_provider', error: { code: 'UNEXPLAINED' } },
    ],
    ['not readable', { ...unread, met: { error: refusal, attempts: 3 } }, HELD],
  ];

  test.each(['creditReportStatus', 'creditReportFetch'].flatMap((name) => met.map((row) => [name, ...row] as const)))(
    '%s, %s: it is asked again for as long as a report is waited for',
    async (name, _, outcome, atLast) => {
      const replies = provider({});
      const world = scene({ answer: (call) => (call.operation === name ? outcome : replies(call)), ...late });
      world.now = NOW + 60_000;
      expect(await run(world, begun)).toMatchObject({ kind: 'waiting', ids: { report: { id: '700001' } } });
      world.now = NOW + 600_001;
      expect(await run(world, begun)).toMatchObject(atLast);
    },
  );

  test.each(met)('a history that is %s fails no row, and does not stop a report that was begun', async (_, outcome) => {
    const world = scene({ answer: provider({}) });
    const context: Scene['context'] = {
      ...world.context,
      call: async (operation, params, terms) =>
        operation === v2Operations.creditReportHistory ? outcome : await world.context.call(operation, params, terms),
    };
    expect(await creditReportStage.run(asked, context)).toMatchObject(LEFT);
    expect(await creditReportStage.run(begun, context)).toMatchObject({
      kind: 'done',
      ids: { report: { id: '700001' } },
    });
    expect(countOf(world, 'creditReportGenerate')).toBe(0);
  });
});

test('a report may begin with a byte order mark', async () => {
  const world = scene({
    answer: provider({ body: '\ufeff {"summary":{"turnover":1}}' }),
    history: () => ({ id: '9' }),
  });
  expect(await run(world)).toMatchObject({ kind: 'done' });
});

describe('V2-4 a report that names another company than requested', () => {
  const facts = { id: 'S-1', name: 'Tulip Works', registration_number: '12345678', country_code: 'NL' };
  const candidate = { ...facts, vat_number: 'NL123456789B01', state: null, jurisdiction: null };
  const confirmed = company(dutch, { credit: { ...known('S-1'), grade: 'number', candidate } });
  const generating = (said: object) => (request: Asked) =>
    request.operation === 'creditReportGenerate'
      ? answer({ id: 700002, status: 'finish', ...said })
      : provider({})(request);

  test.each([
    ['of another source', { source_id: 'S-2' }, /\b700002\b.*\bS-2\b.*\bS-1\b/],
    [
      'with another number',
      { source_id: 'S-1', registration_number: '87654321' },
      /\b700002\b.*\b87654321\b.*\b12345678\b/,
    ],
  ])('%s: a person is asked, nothing of it is used, and it is not generated again', async (_, said, message) => {
    const world = scene({ answer: generating(said) });
    const outcome = await run(world, confirmed);
    expect(outcome).toEqual({
      kind: 'needs_review',
      code: 'IDENTITY_MISMATCH',
      message: expect.stringMatching(message),
      grade: 'number',
      ids: { report: null },
    });
    expect(world.kept).toMatchObject([
      { space: 'credit', stage: 'credit-report', candidateId: 'S-1', answered: false },
    ]);
    expect(world.asked.map(({ operation }) => operation)).toEqual(['creditReportGenerate']);
  });

  test.each([
    ['names no company', {}],
    ['has null instead of a company', { source_id: null, registration_number: null }],
    ['spells the number in another way', { source_id: 'S-1', registration_number: '12 34 56 78' }],
  ])('one that %s is used', async (_, said) => {
    expect(await run(scene({ answer: generating(said) }), confirmed)).toMatchObject({
      kind: expect.stringMatching(/^(done|waiting)$/),
      ids: { report: { id: '700002' } },
    });
  });

  test('V2-6 from the history is compared by name, because it has no number', async () => {
    const listed = (name: string) => scene({ answer: provider({}), history: () => ({ id: '9', name }) });
    expect(await run(listed('TULIP WORKS BV'), confirmed)).toMatchObject({
      kind: 'done',
      ids: { report: { id: '9' } },
    });
    const other = listed('Rose Gardens B.V.');
    expect(await run(other, confirmed)).toMatchObject({ code: 'IDENTITY_MISMATCH', ids: { report: null } });
    expect(other.asked).toEqual([]);
  });

  test('X-7 that already belongs to another company is a review question', async () => {
    const takenBy = { registration_number: '87654321', country_code: 'NL', state: null, jurisdiction: null };
    const world = scene({ answer: provider({}), history: () => ({ id: '9' }), takenBy });
    expect(await run(world, confirmed)).toMatchObject({ code: 'ID_TAKEN', ids: { report: null } });
  });

  describe.each<[string, (said: object) => Scene]>([
    ['its entry in the history', (said) => scene({ answer: provider({}), history: () => ({ id: '9', ...said }) })],
    [
      'the report',
      (said) => scene({ answer: provider({ body: { summary: {}, ...said } }), history: () => ({ id: '9' }) }),
    ],
    [
      'the profile in the report',
      (said) => scene({ answer: provider({ body: { company_profile: said } }), history: () => ({ id: '9' }) }),
    ],
  ])('as far as %s states', (_, listed) => {
    test.each([
      { registration_number: '99999999' },
      { vat_number: 'NL999999999B01' },
      { country_code: 'GB' },
      { country: 'United Kingdom' },
      { name: 'Rose Gardens B.V.' },
    ])('another company, in %j, is a review question', async (said) => {
      expect(await run(listed(said), confirmed)).toMatchObject({ code: 'IDENTITY_MISMATCH', ids: { report: null } });
    });

    test.each([
      { registration_number: '12 34 56 78', name: 'Formerly Rose Gardens B.V.' },
      { vat_number: '123456789B01' },
      { vat_number: ['999999999B01'] },
      { vat_number: 'not registered' },
      { country_code: 'nl' },
      { country: 'Netherlands' },
      { name: 'TULIP WORKS BV' },
      { registration_number: null, vat_number: '', name: ' ' },
      { registration_number: ['99999999'] },
    ])('nothing else, in %j, is used', async (said) => {
      expect(await run(listed(said), confirmed)).toMatchObject({ kind: 'done', ids: { report: { id: '9' } } });
    });
  });

  test.each([
    [{ id: 7 }, 'needs_review'],
    [{ source_id: 'S-2' }, 'needs_review'],
    [{ id: 9, source_id: 'S-1' }, 'done'],
    [{ id: 'S-1' }, 'done'],
  ])('that states the IDs %j in its body: %s', async (said, kind) => {
    const world = scene({ answer: provider({ body: { summary: {}, ...said } }), history: () => ({ id: '9' }) });
    expect(await run(world, confirmed)).toMatchObject({ kind });
  });

  describe.each([{ source_id: 'S-2', name: 'Rose Gardens B.V.' }, { source_id: 'S-2' }, { name: 'Rose Gardens B.V.' }])(
    'X-7 that the history lists for %j too',
    (other) => {
      const own = { id: '9', name: 'Tulip Works B.V.' };
      test.each([
        ['first', [{ ...own, ...other }, own]],
        ['last', [own, { ...own, ...other }]],
      ])('%s is a review question, and nothing is bought', async (_, past) => {
        const world = scene({ answer: provider({}), history: () => past });
        expect(await run(world, confirmed)).toMatchObject({ kind: 'needs_review', ids: { report: null } });
        expect(world.asked).toEqual([]);
      });
    },
  );

  test('X-7 that is stored, and listed for another company, is a review question', async () => {
    const owned = answer({ id: 9, status: 'finish', source_id: 'S-1' }, { owned: true });
    const world = scene({ answer: provider({}), owned, history: () => ({ id: '9', source_id: 'S-2' }) });
    expect(await run(world, confirmed)).toMatchObject({ code: 'ID_TAKEN', ids: { report: null } });
  });

  test('is used when a person accepts it, and left out when one refuses it', async () => {
    const owned = answer({ id: 700001, status: 'finish', source_id: 'S-2' }, { owned: true });
    const remembered = (decision: 'confirm' | 'none_of_these') => ({ decision, candidateId: 'S-1', shown: ['S-1'] });
    const accepted = scene({ answer: provider({}), owned, remembered: remembered('confirm') });
    expect(await run(accepted, confirmed)).toMatchObject({ kind: 'done', ids: { report: { id: '700001' } } });
    const refused = scene({ answer: provider({}), owned, remembered: remembered('none_of_these') });
    expect(await run(refused, confirmed)).toMatchObject({
      kind: 'not_available',
      error: { code: 'REVIEWED' },
      ids: { report: null },
    });
    expect(refused.asked).toEqual([]);
  });
});

describe('a stored report', () => {
  const owned = answer({ id: 700001, status: 'finish', expired: false }, { owned: true });

  test.each([
    ['does not list it', undefined],
    ['lists it as current', { id: '700001', expired: false }],
    ['has an older one that expired', { id: '600001', expired: true }],
  ])('is used if the history %s', async (_, past) => {
    const world = scene({ answer: provider({}), owned, history: () => past });
    expect(await run(world)).toMatchObject({ kind: 'done', ids: { report: { id: '700001' } } });
    expect(countOf(world, 'creditReportGenerate')).toBe(0);
    expect(world.looks).toHaveLength(1);
  });

  test('that the provider calls expired is generated again: reuse_expired is false', async () => {
    const world = scene({ answer: provider({}), owned, history: () => ({ id: '700001', expired: true }) });
    expect(await run(world)).toMatchObject({ kind: 'waiting', ids: { report: { id: '700002' } } });
    // The stored answer does not answer this request.
    expect(world.terms).toEqual([expect.objectContaining({ notBefore: NOW + 1 })]);
  });

  test('that expired is used if the pipeline allows it, and a row continues with its first report', async () => {
    const history = () => ({ id: '700001', expired: true });
    const reusing = scene({ answer: provider({}), owned, history });
    const options = { ...reusing.context.options, reuseExpired: true };
    expect(await creditReportStage.run(asked, { ...reusing.context, options })).toMatchObject({ kind: 'done' });
    const going = scene({ answer: provider({}), owned, history });
    expect(await run(going, begun)).toMatchObject({ kind: 'done', ids: { report: { id: '700001' } } });
  });

  test('that a row began with is not generated again if it is no longer listed', async () => {
    const world = scene({ answer: provider({}) });
    expect(await run(world, begun)).toMatchObject({ kind: 'done', ids: { report: { id: '700001' } } });
    expect(countOf(world, 'creditReportGenerate')).toBe(0);
  });
});

test.each([
  ['texts', '"2026-01-05T08:00:00Z"', '"2026-01-04T08:00:00Z"'],
  ['numbers', '1767600000', '1767500000'],
  ['nothing that can be read', '"yesterday"', 'null'],
])('the newest of several reports in the history is used: timestamps as %s', async (_, newer, older) => {
  const item = (id: number, created: string) =>
    `{"id":${id},"source_id":"S-1","status":"finish","expired":false,"date_created":${created}}`;
  const world = scene({ answer: provider({}) });
  const context: Scene['context'] = {
    ...world.context,
    call: async (operation, params, terms) =>
      operation === v2Operations.creditReportHistory
        ? answer(`{"data":[${item(2, newer)},${item(1, older)}],"pages":1}`)
        : await world.context.call(operation, params, terms),
  };
  expect(await creditReportStage.run(asked, context)).toMatchObject({ kind: 'done', ids: { report: { id: '2' } } });
});

test('a report with an unreadable generate answer is found in the history and not generated again', async () => {
  const owned = answer({ report: 700001 }, { owned: true });
  const listed = scene({ answer: provider({}), owned, history: () => ({ id: '700001' }) });
  expect(await run(listed)).toMatchObject({ kind: 'done', ids: { report: { id: '700001' } } });
  const unlisted = scene({ answer: provider({}), owned });
  expect(await run(unlisted)).toMatchObject({ ...LEFT, error: { code: 'UNEXPECTED_BODY' } });
  for (const world of [listed, unlisted]) expect(countOf(world, 'creditReportGenerate')).toBe(0);
});

test("the provider's name of a company cannot break out of a suggested command", async () => {
  const hostile = company(dutch, { credit: known("S'; rm -rf ~; '") });
  const page = scene({ answer: provider({ body: '<html>' }), owned: answer({ id: 9, status: 'finish' }) });
  page.now = NOW + 600_001;
  const outcome = await run(page, hostile);
  const message = outcome.kind === 'parked' ? outcome.message : '';
  expect(message).toContain(`{"source_id":"S\\u0027; rm -rf ~; \\u0027",`);
});

describe('V2-12 a history', () => {
  const pagesOf = (page: (number: number, size: unknown) => unknown) => {
    const world = scene({ answer: provider({}) });
    const pages: number[] = [];
    const { call } = world.context;
    const context: Scene['context'] = {
      ...world.context,
      call: async (operation, params, terms) => {
        if (operation !== v2Operations.creditReportHistory) return await call(operation, params, terms);
        pages.push(Number(params.page));
        const said = page(Number(params.page), params.per_page);
        return said instanceof ApiError ? { kind: 'failed', error: said, attempts: 1 } : answer(said);
      },
    };
    return { outcome: () => creditReportStage.run(asked, context), pages };
  };
  const item = (id: number) => ({ id, source_id: `other ${id}`, status: 'finish', expired: false });

  test.each([
    ['a repeated page', () => ({ data: [item(1)], pages: 1e9 }), 4],
    ['pages without anything', (page: number) => ({ data: page < 3 ? [item(page)] : [], pages: 1e9 }), 3],
    ['no page at all', () => ({ data: [], pages: 1e9 }), 1],
    ['no entry of its total', () => ({ data: [], total_results: 5 }), 1],
    ['no entry of its total and pages', () => ({ data: [], total_results: 5, pages: 3 }), 1],
    ['fewer entries than its total', (page: number) => ({ data: page < 2 ? [item(1)] : [], total_results: 5 }), 2],
    ['a total only at first', (page: number) => (page < 2 ? { data: [item(1)], total_results: 5 } : { data: [] }), 2],
    ['one entry five times', () => ({ data: [1, 1, 1, 1, 1].map(item), total_results: 5, pages: 1 }), 1],
  ])(
    'that claims more than it lists, and has %s, is read to its end, and nothing is generated',
    async (_, page, calls) => {
      const { outcome, pages } = pagesOf(page);
      expect(await outcome()).toMatchObject({ ...LEFT, error: { code: 'HISTORY_INCOMPLETE' } });
      expect(pages).toHaveLength(calls);
    },
  );

  test.each([
    ['an empty one', () => ({ data: [], total_results: 0, pages: 1 })],
    ['one without pages', () => ({ data: [], total_results: 0, pages: 0 })],
    [
      'pages counted as if they were smaller',
      (page: number) => ({ data: page < 2 ? [1, 2].map(item) : [], total_results: 2, pages: 2 }),
    ],
    [
      'entries that move down meanwhile',
      (page: number) => ({ data: page < 2 ? [2, 3].map(item) : [3, 4].map(item), total_results: page + 2, pages: 2 }),
    ],
  ])('that lists as many as it claims, %s, is complete', async (_, page) => {
    expect(await pagesOf(page).outcome()).toMatchObject({ kind: 'waiting' });
  });

  const listed = (source: string) => ({ id: 9, source_id: source, status: 'finish', expired: false });
  const refused = new ApiError({
    class: 'fail_row',
    code: 'VALIDATION',
    message: 'per_page: at most 20',
    hint: '',
    api: 'v2',
    operation: 'creditReportHistory',
    charge: 'unknown',
  });

  test.each([
    ['refuses large pages', (page: number, size: unknown) => (size === undefined ? of3(page) : refused), [1, 1, 2, 3]],
    ['does not count its pages', (page: number) => ({ ...of3(page), pages: undefined, total_results: 3 }), [1, 2, 3]],
    [
      'counts its pages as if they were larger',
      (page: number) => ({ ...of3(page), pages: 1, total_results: 3 }),
      [1, 2, 3],
    ],
  ])('of a provider that %s is read to its end, and no listed report is generated again', async (_, page, calls) => {
    const { outcome, pages } = pagesOf(page);
    expect(await outcome()).toMatchObject({ kind: 'done', ids: { report: { id: '9' } } });
    expect(pages).toEqual(calls);
  });

  test('with a total above its entries ends with its pages', async () => {
    const page = (number: number) => (number > 3 ? refused : { ...of3(number), total_results: 30 });
    const { outcome, pages } = pagesOf(page);
    expect(await outcome()).toMatchObject({ kind: 'done', ids: { report: { id: '9' } } });
    expect(pages).toEqual([1, 2, 3, 4]);
  });

  const of3 = (page: number) => ({ data: [page === 3 ? listed('S-1') : item(page)], pages: 3 });

  long('without end is abandoned once per attempt, and nothing is generated', async () => {
    const { outcome, pages } = pagesOf((page) => ({ data: [item(page)], pages: 1e9 }));
    expect(await outcome()).toMatchObject({ ...LEFT, error: { code: 'HISTORY_INCOMPLETE' } });
    await outcome();
    expect(pages).toHaveLength(5_000);
  });
});
