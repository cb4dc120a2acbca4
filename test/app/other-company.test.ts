/** @module-tag long */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DAY, decideAll, withNights } from './nights.js';

const STRANGER = 'QQSTRANGER';
/** A field that no reader takes for a person or an amount, so that the tables show it. */
const MARK = { mark: STRANGER };
const YEAR = { 2020: { 'Consolidated-Accounts': STRANGER } };

type Body = Record<string, unknown>;
type Items = readonly Body[];
const eachOf = (items: unknown, more: Body): Items => (items as Items).map((item) => ({ ...item, ...more }));
const tree = [
  { id: 99, name: STRANGER, country: 'FR', registration_number: 'FR552100554', selected: true, children: [] },
];

/** Answers that are the company's in all but one place, which names another company. */
const PARTS: readonly (readonly [what: string, stages: string, operation: string, (body: Body) => Body])[] = [
  ['its ID and name', 'record, financials', 'financial', (body) => ({ ...body, ...YEAR, id: '99', name: STRANGER })],
  ['a number', 'record, financials', 'financial', (body) => ({ ...body, ...YEAR, registration_number: '1' })],
  [
    'the ID of its accounts',
    'record',
    'fullKyb',
    (body) => ({ ...body, ...MARK, financial: { ...(body.financial as Body), id: 99 } }),
  ],
  [
    'the name of its accounts',
    'record',
    'fullKyb',
    (body) => ({ ...body, financial: { ...(body.financial as Body), name: STRANGER } }),
  ],
  [
    'the company of its links',
    'record',
    'fullKyb',
    (body) => ({ ...body, ...MARK, group_structures_full: [{ company_id: 99, source: 'FR1', target: 'FR2' }] }),
  ],
  [
    'another spelling of its number',
    'record',
    'fullKyb',
    (body) => ({ ...body, ...MARK, lite: { ...(body.lite as Body), registrationNumber: '1' } }),
  ],
  ['its group tree', 'record\nrecord: {modules: [lite, group]}', 'groupFullKyb', () => ({ data: tree })],
  [
    'its officers',
    'record\nrecord: {modules: [lite, officers]}',
    'officersKyb',
    (body) => ({ ...body, data: eachOf(body.data, { company_id: 99, last_name: STRANGER }) }),
  ],
  [
    'its list',
    'record\nrecord: {modules: [lite, shareholders]}',
    'shareholdersKyb',
    (body) => ({ ...body, company_id: 99, data: eachOf(body.data, { name: STRANGER }) }),
  ],
  [
    'its statements',
    'record\nrecord: {modules: [lite, financial]}',
    'financialKyb',
    (body) => ({ ...body, ...MARK, companyId: '99' }),
  ],
  [
    'its officers of v2',
    'record, registry',
    'kybOfficers',
    (body) => ({ ...body, data: eachOf(body.data, { company_id: 99, last_name: STRANGER }) }),
  ],
  [
    'the ID that its shareholders of v2 share',
    'record, registry',
    'kybShareholders',
    (body) => ({ ...body, data: ['A', STRANGER].map((name) => ({ id: name, name, company_id: '99' })) }),
  ],
  [
    'the officers that are screened',
    'record, screening\nrecord: {modules: [lite]}',
    'officersKyb',
    (body) => ({ ...body, data: eachOf(body.data, { company_id: 99, last_name: STRANGER }) }),
  ],
  ['the country of its ownership', 'record, ownership', 'ownership', (body) => ({ ...body, ...MARK, country: 'FR' })],
  ['another number of its ownership', 'record, ownership', 'ownership', (body) => ({ ...body, ...MARK, regNo: '1' })],
  ['its ID', 'record, firmographics', 'companyProfile', (body) => ({ ...body, ...MARK, id: '99' })],
  [
    'a spelling of its number',
    'record, insights',
    'insightsProfile',
    (body) => ({ ...body, ...MARK, registrationNumber: '1' }),
  ],
  [
    'a section of the report',
    'record, credit-report',
    'creditReportFetch',
    (body) => ({ ...body, ...MARK, company_details: { registrationNumber: '1' } }),
  ],
];

describe.each(PARTS)('an answer that names another company by %s (%s: %s)', (_, stages, operation, strange) => {
  const [names = '', options = ''] = stages.split('\n');
  const pipeline = [`stages: [${names}]`, ...(options === '' ? [] : [options])];
  /** Without the check of the key, which names no company. */
  const real = ({ operation: asked, path }: { readonly operation: string | undefined; readonly path: string }) =>
    asked === operation && !path.includes('/kyb/0/');

  test('is in review, and in no table until a person accepts it', () =>
    withNights(
      2,
      async ({ night, sandbox, kybatch, cwd, clock }) => {
        const showing = () =>
          readdirSync(join(cwd, 'tables'))
            .filter((file) => file.endsWith('.csv') && !/^(?:candidates|errors|rows|results)\.csv$/.test(file))
            .filter((file) => readFileSync(join(cwd, 'tables', file), 'utf8').includes(STRANGER));
        sandbox.script(real, [{ rewrite: (body) => JSON.stringify(strange(JSON.parse(body) as Body)) }]);
        let { end, code } = await night();
        for (let again = 0; again < 5 && end.outcomes.pending !== undefined; again++) {
          clock.advance(60_000);
          ({ end, code } = await night());
        }
        expect({ code, outcomes: end.outcomes }).toMatchObject({ code: 3, outcomes: { needs_review: 1, complete: 1 } });
        expect(showing()).toEqual([]);
        await decideAll({ kybatch, cwd }, 'confirm');
        clock.advance(DAY);
        await night();
        expect(showing()).not.toEqual([]);
      },
      pipeline,
    ));
});
