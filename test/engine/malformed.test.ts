import { describe, expect, test } from 'vitest';
import { writeJson } from '../../src/sandbox/json.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { type Passing, withProxy } from '../helpers/proxy.js';
import { lineOf, present, type Workshop, wholeCompanies, withWorkshop } from './support.js';

interface Damaged {
  readonly stage: string;
  readonly operation: string;
  readonly isAsked: (request: Passing) => boolean;
  readonly body: (workshop: Workshop, company: Company) => string;
  readonly code?: string;
}

const record = { stage: 'record', operation: 'fullKyb', isAsked: ({ path }: Passing) => path.endsWith('/full') };
const financials = {
  stage: 'financials',
  operation: 'financial',
  isAsked: ({ path }: Passing) => path.includes('/financial/'),
};
const search = {
  stage: 'record',
  operation: 'searchKyb',
  isAsked: ({ path }: Passing) => path.endsWith('/kyb/search'),
};
const officers = {
  stage: 'registry',
  operation: 'kybOfficers',
  isAsked: ({ path }: Passing) => /\/officers\b/.test(path),
};

const recordOf = ({ sandbox }: Workshop, company: Company) => writeJson(sandbox.registry.v1.full(company, false));
const another = '{"id":"9","name":"Another Ltd","registration_number":"99999999"}';
const long = 'x'.repeat(20_000);

const CASES: (readonly [string, Damaged])[] = [
  ['a record with `lite` twice', { ...record, body: (...of) => recordOf(...of).replace(/}$/, `,"lite":${another}}`) }],
  [
    'the same, the first one another company’s',
    { ...record, body: (...of) => recordOf(...of).replace('{', `{"lite":${another},`) },
  ],
  [
    'the same with an escape in the key',
    { ...record, body: (...of) => recordOf(...of).replace(/}$/, `,"\\u006cite":${another}}`) },
  ],
  [
    'a record with a number twice within `lite`',
    { ...record, body: (...of) => recordOf(...of).replace('"lite":{', '"lite":{"registration_number":"1",') },
  ],
  [
    'a long record with garbage behind `lite`',
    { ...record, body: (...of) => recordOf(...of).replace(/}$/, `,"more":"${long}","odd":[1 2]}`) },
  ],
  [
    'X-6 a record with too many values',
    {
      ...record,
      code: 'ANSWER_TOO_LARGE',
      body: (...of) => recordOf(...of).replace(/}$/, `,"x":[${'1,'.repeat(110_000)}1]}`),
    },
  ],
  ['figures that are no JSON', { ...financials, body: () => '{"2020":{"Turnover":Infinity}}' }],
  [
    'many figures, and one that is no JSON',
    { ...financials, body: () => `{"2020":{"Turnover":1,"Note":"${long}"},"2021":{"Turnover":NaN}}` },
  ],
  ['a year twice', { ...financials, body: () => `{"2020":{"Turnover":1},"2020":{"Turnover":2}}` }],
  [
    'an indicator twice, far behind',
    { ...financials, body: () => `{"2019":{"Note":"${long}"},"2020":{"Turnover":1,"Turnover":2}}` },
  ],
  [
    'a candidate with its ID twice',
    { ...search, body: () => '[{"id":"1","id":"2","name":"A","registration_number":"1","country_code":"GB"}]' },
  ],
  [
    'a page of a list with a name twice, in an item that no stage reads',
    {
      ...officers,
      body: () =>
        `{"data":[${[...Array(40).keys()].map((id) => `{"id":${id},"last_name":"${id}"${id === 7 ? ',"last_name":"x"' : ''}}`).join(',')}],"total_pages":1}`,
    },
  ],
];

for (const [name, kind] of Object.entries({ record, financials, search }))
  for (const body of ['null', '"x"', '7', '{"message":"x"}', ...(name === 'record' ? ['[]'] : [])])
    CASES.push([`${name} answered with ${body}`, { ...kind, code: 'UNEXPECTED_FORM', body: () => body }]);

describe('X-5 an answer with a repeated member, or without valid JSON, is stored, not shown, and held for review', () => {
  test.each(CASES)('%s', async (_, { stage, operation, isAsked, body, code = 'MALFORMED_ANSWER' }) => {
    await withWorkshop({ pipeline: { stages: [stage] } }, async (workshop) => {
      const { ledger, open, work, rows, calls, query } = workshop;
      const company = present(wholeCompanies(workshop.sandbox, 1)[0]);
      const run = await open([lineOf(company)]);
      const damaged = body(workshop, company);
      const asked = () => calls().filter((call) => call.operation === operation);
      await withProxy(
        workshop,
        (request) => (isAsked(request) ? { status: 200, body: damaged } : undefined),
        async (sources) => {
          const end = await work(run, { sources });
          expect(end.progress).toMatchObject({ byOutcome: { pending: 1 }, parkedReasons: { in_doubt: 1 } });
          expect(await rows(run)).toMatchObject([{ outcome: 'pending', holdReason: 'in_doubt', errorCode: code }]);
          expect(asked()).toMatchObject([{ error_code: code, charge: 'unknown' }]);
          // The call is not sent again before a person decides.
          await work(run, { sources });
          expect(asked()).toHaveLength(1);
        },
      );
      expect(query('SELECT call_id FROM answers JOIN calls ON id = call_id WHERE error_code IS NOT NULL')).toEqual([]);
      expect(query(`SELECT raw_sha256 FROM calls WHERE error_code IS NOT NULL AND raw_sha256 IS NULL`)).toEqual([]);
      await ledger.unknownCharges.settle([present(asked()[0]).id], 'resend', 'asked the provider');
      expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 1 });
      expect(asked()).toHaveLength(2);
    });
  });
});

test('X-5 such an answer to a free call holds the row, and a later attempt asks again', async () => {
  const pipeline = { stages: ['credit-report'], report: { giveUpAfterMs: 20 } };
  await withWorkshop({ pipeline }, async (workshop) => {
    const { sandbox, open, work, rows } = workshop;
    const run = await open(wholeCompanies(sandbox, 3).map((company) => lineOf(company)));
    const odd = new Set<string>();
    const end = await withProxy(
      workshop,
      ({ path }) => {
        if (!path.includes('/credit-report/body')) return undefined;
        if (odd.size === 0) odd.add(path);
        return odd.has(path) ? { status: 200, body: '{"id":"1","name":"A","name":"B"}' } : undefined;
      },
      (sources) => work(run, { sources, concurrency: 1 }),
    );
    expect(end.stopped).toBeUndefined();
    const held = (await rows(run)).filter(({ outcome }) => outcome === 'pending');
    expect(held).toMatchObject([{ holdReason: 'ask_provider', errorCode: 'MALFORMED_ANSWER' }]);
    expect((await work(run)).progress.byOutcome).toMatchObject({ complete: 3 });
    expect(sandbox.reports).toHaveLength(3);
  });
});
