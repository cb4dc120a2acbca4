import { describe, expect, test } from 'vitest';
import type { AppEnvironment } from '../../src/app/environment.js';
import { recentChanges } from '../../src/app/portfolio/changes.js';
import { type CompanyView, company } from '../../src/app/portfolio/company.js';
import { rows } from '../../src/app/portfolio/rows.js';
import type { Company } from '../../src/sandbox/registry/types.js';
import { aRecord } from '../cli/here.js';
import { long } from '../helpers/long.js';
import { DAY, type Nights, withNights } from './nights.js';
import { refusal, withOffice } from './support.js';

const listOf = ({ lists }: CompanyView, name: string) => lists.find((list) => list.name === name);
const factOf = ({ facts }: CompanyView, name: string) => facts.find((fact) => fact.name === name)?.value;

describe('one company', () => {
  test('has all that is stored, with ages, prices and digests, for no call', () =>
    withOffice({}, async ({ sandbox, run, companies, environment }) => {
      const [first, second] = companies(2) as [Company, Company];
      await run([first, second], ['record', 'financials', 'credit-report']);
      const sent = sandbox.chargeLog.length;
      const view = await company({ space: 'v1', id: first.v1Id }, environment);
      expect(view).toMatchObject({
        name: first.name,
        registrationNumber: first.registrationNumber,
        countryCode: first.countryCode,
        ids: { v1: first.v1Id, v2: first.v2Id, credit: first.sourceId },
        rows: [{ row: 1, line: 2, outcome: 'complete', matchedOn: 'registration_number' }],
        damagedAnswers: 0,
      });
      expect(factOf(view, 'registration_number')).toBe(first.registrationNumber);
      // The full record has no website. The credit report may have one, and no bought answer has a ticker.
      expect(factOf(view, 'ticker')).toBeNull();
      const flat = view.figures.find(({ group }) => group === null);
      expect(flat?.operation).toBe('financial');
      expect(flat?.currencies.every((currency) => currency !== null)).toBe(true);
      expect(flat?.lines[0]?.isKey).toBe(true);
      expect(view.reports).toMatchObject([{ status: 'finish', rawSha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
      expect(view.reports[0]?.creditLimitCurrency).not.toBeNull();
      expect(view.graph.nodes[0]).toMatchObject({ kind: 'subject', name: first.name });
      const bought = view.answers.map(({ operation, charge, unitsCharged, shown }) => [
        operation,
        charge,
        unitsCharged,
        shown,
      ]);
      expect(bought).toContainEqual(['fullKyb', 'charged', 1, true]);
      expect(bought).toContainEqual(['searchKyb', 'charged', 1, false]);
      expect(view.answers.find(({ operation }) => operation === 'creditReportGenerate')).toMatchObject({
        meter: 'report',
        charge: 'charged',
      });
      expect(JSON.stringify(view)).not.toContain(second.v1Id);
      const { space: _, id: __, ...sameInV2 } = await company({ space: 'v2', id: first.v2Id }, environment);
      expect(sameInV2).toEqual({ ...view, space: undefined, id: undefined });
      expect(sandbox.chargeLog).toHaveLength(sent);
    }));

  test('a list that did not come is not returned, and one that came empty is', () =>
    withOffice({}, async ({ sandbox: { registry }, run, companies, environment }) => {
      const all = companies(200);
      const having = (state: string) => all.find((one) => registry.traits(one).officers === state) as Company;
      const [absent, empty, some] = [having('absent'), having('empty'), having('some')];
      await run([absent, empty, some]);
      const officers = async ({ v1Id }: Company) => {
        const list = listOf(await company({ space: 'v1', id: v1Id }, environment), 'officers');
        return [list?.state, (list?.items.length ?? 0) > 0];
      };
      expect(await officers(absent)).toEqual(['not_returned', false]);
      expect(await officers(empty)).toEqual(['returned', false]);
      expect(await officers(some)).toEqual(['returned', true]);
      const view = await company({ space: 'v1', id: some.v1Id }, environment);
      expect(listOf(view, 'people')?.state).toBe('not_bought');
      expect(view.figures.every(({ group }) => group !== null)).toBe(true);
    }));

  test('which no row has is refused, and so is a report', () =>
    withOffice({}, async ({ run, companies, environment }) => {
      await run(companies(1));
      for (const [space, id] of [
        ['v1', 'none'],
        ['nowhere', '1'],
        ['report', '1'],
      ] as const)
        expect((await refusal(company({ space, id }, environment))).code).toBe('COMPANY_NOT_FOUND');
    }));

  long('has its changes, newest first, and its replaced answers', () =>
    withNights(2, async (nights) => {
      const { environment, ids } = await changedTwice(nights);
      const view = await company({ space: 'v1', id: ids[0] as string }, environment);
      const told = view.changes.flatMap(({ items }) => items.flatMap(({ fields }) => fields));
      expect(told.map(({ column, newValue, important }) => [column, newValue, important])).toEqual([
        ['status', 'second', true],
        ['status', 'first', true],
      ]);
      expect(view.status).toBe('second');
      const records = view.answers.filter(({ operation }) => operation === 'fullKyb');
      expect(records.map(({ shown, replaced }) => [shown, replaced])).toEqual([
        [true, false],
        [false, true],
        [false, true],
      ]);
      const [newest, ...older] = (await recentChanges({ limit: 1 }, environment)).changes;
      expect(older).toEqual([]);
      expect(newest?.items[0]?.fields[0]?.newValue).toBe('second');
      const { nextBefore } = await recentChanges({ limit: 1 }, environment);
      const rest = await recentChanges({ before: nextBefore ?? 0 }, environment);
      expect(rest.changes.map(({ items }) => items[0]?.fields[0]?.newValue)).toEqual(['first']);
      expect(rest.nextBefore).toBeNull();
    }),
  );
});

/** The first company has two new statuses, one after the other. */
async function changedTwice({ night, sandbox, clock, table, cwd, env }: Nights) {
  await night();
  for (const status of ['first', 'second']) {
    sandbox.script(aRecord, [{ rewrite: (body) => body.replace(/"status":\s*"[^"]*"/, `"status":"${status}"`) }]);
    clock.advance(8 * DAY);
    await night('--concurrency', '1');
  }
  const environment: AppEnvironment = { env, cwd, clock };
  return { environment: environment, ids: table('rows').map((line) => line.v1_company_id) };
}

describe('rows', () => {
  test('are searched by name, number, own ID and provider’s ID', () =>
    withNights(6, async (nights) => {
      const { writeCsv, rows: given, night, cwd, env, clock, table } = nights;
      const listed = given.slice(0, 6).map((row, index) => ({ ...row, id: `own-${index + 1}` }));
      writeCsv('in.csv', listed);
      await night();
      const environment: AppEnvironment = { env, cwd, clock };
      const found = async (search: string) => (await rows({ search }, environment)).rows.map(({ row }) => row);
      const third = listed[2] as unknown as Record<string, string>;
      expect(await found('OWN-3')).toEqual([3]);
      const name = third.name ?? '';
      expect(await found(name.toUpperCase())).toContain(3);
      expect(await found(name.slice(2).toLowerCase())).toContain(3);
      const number = third.registration_number ?? '';
      expect(await found(`${number.slice(0, 3)} ${number.slice(3)}`)).toContain(3);
      expect(await found(table('rows')[2]?.v1_company_id ?? '')).toEqual([3]);
      // Names of fields are no content.
      expect(await found('registration_number')).toEqual([]);
      expect(await found("100%' OR '1'='1")).toEqual([]);
    }));

  test('are filtered, counted, sorted and shown page by page', () =>
    withNights(5, async ({ rows: given, writeCsv, night, cwd, env, clock }) => {
      writeCsv('in.csv', [
        ...given.slice(0, 3),
        { name: 'No country Ltd' },
        { name: 'Äußerst Unbekannt GmbH', country: 'GB', registration_number: '99999999' },
      ]);
      await night();
      const environment: AppEnvironment = { env, cwd, clock };
      const all = await rows({}, environment);
      expect(all).toMatchObject({ total: 5, page: 1, pages: 1 });
      expect(all.rows.map(({ row }) => row)).toEqual([1, 2, 3, 4, 5]);
      const counted = Object.fromEntries(all.facets.outcome.map(({ value, count }) => [value, count]));
      expect(counted).toMatchObject({ complete: 3, invalid: 1 });
      const invalid = await rows({ outcome: 'invalid' }, environment);
      expect(invalid).toMatchObject({ total: 1, rows: [{ row: 4, company: null, matchedName: null }] });
      // Other outcomes can still be chosen, other reasons cannot.
      expect(invalid.facets.outcome).toEqual(all.facets.outcome);
      expect(invalid.facets.reason).toEqual([{ value: invalid.rows[0]?.reasonCode, count: 1 }]);
      const [page2, beyond] = [
        await rows({ perPage: 2, page: 2 }, environment),
        await rows({ perPage: 2, page: 9 }, environment),
      ];
      expect(page2.rows.map(({ row }) => row)).toEqual([3, 4]);
      expect(beyond).toMatchObject({ page: 3, pages: 3, rows: [{ row: 5 }] });
      expect((await rows({ descending: true }, environment)).rows.map(({ row }) => row)).toEqual([5, 4, 3, 2, 1]);
      expect(await rows({ search: 'äUßERST unbe' }, environment)).toMatchObject({ total: 1, rows: [{ row: 5 }] });
      const names = (await rows({ sort: 'name', search: 'un' }, environment)).rows.map(({ name }) => name);
      expect(names).toEqual(names.toSorted());
      const { space, id } = all.rows[0]?.company ?? { space: '', id: '' };
      expect(await company({ space, id }, environment)).toMatchObject({ rows: [{ row: 1 }] });
      const runId = all.rows[0]?.runId ?? '';
      expect(await rows({ run: runId, outcome: 'complete' }, environment)).toMatchObject({ total: 3 });
      expect((await refusal(rows({ sort: 'colour' }, environment))).code).toBe('ROW_ORDER_UNKNOWN');
    }));
});
