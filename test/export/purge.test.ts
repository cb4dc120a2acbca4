import { join } from 'node:path';
import { expect, test } from 'vitest';
import { itemIds } from '../../src/api/all-operations.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { dropPortfolios } from '../helpers/begin-run.js';
import { bytesOf, inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { candidate } from '../ledger/support.js';
import {
  type Bought,
  buy,
  contextOf,
  exportTo,
  fullRecord,
  NOW,
  type RunFixture,
  readTable,
  settleAgain,
  withRun,
} from './support.js';

/** Random enough not to be compressed, so it is found in the file while it is there. */
const canary = 'Zq7Canary-Person-X91';
const bystander = 'Wk3Bystander-Y44';

const search = (row: number, body: string) => ({
  row,
  api: 'v1' as const,
  operation: 'searchKyb',
  params: { row },
  body,
});

const fixture: RunFixture = {
  rows: [
    { values: [canary], ids: { v1: '9000001', v2: '555', report: '700001' } },
    { values: [bystander], ids: { v1: '9000002' } },
  ],
  bought: [
    {
      row: 1,
      api: 'v1',
      operation: 'fullKyb',
      params: { id: '9000001' },
      body: fullRecord(`"officers":[{"first_name":"${canary}"}]`),
    },
    { row: 1, api: 'v2', operation: 'financial', params: { id: '555' }, body: `{"2024":{"Note":"${canary}"}}` },
    search(2, `[{"id":9000001,"name":"${canary}"},{"id":9000002,"name":"${bystander}"}]`),
    {
      row: 2,
      api: 'v1',
      operation: 'fullKyb',
      params: { id: '9000002' },
      body: `{"lite":{"id":9000002,"name":"${bystander}"}}`,
    },
  ],
};

const countIn = async (dataDir: string, text: string) => (await bytesOf(dataDir)).split(text).length - 1;

async function rowsIn(dataDir: string, table: string): Promise<number> {
  return (await inLedger(dataDir, `SELECT 1 AS one FROM ${table}`)).length;
}

async function withCandidates(use: (dataDir: string, ledger: Ledger, id: string) => Promise<void>) {
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    const same = { registrationNumber: '1' };
    const seen = [candidate('9000001', { ...same, name: canary }), candidate('9000002', { ...same, name: bystander })];
    await settleAgain(ledger, id, 2, { candidates: [{ space: 'v1', seen }] });
    expect(await countIn(dataDir, canary)).toBeGreaterThan(3);
    await use(dataDir, ledger, id);
  });
}

long('an entity is gone from the table of its list, and its row still counts in the run', async () => {
  await withCandidates(async (dataDir, ledger, id) => {
    await ledger.housekeeping.erase({ kind: 'entity', id: '555' }, itemIds);
    const folder = join(dataDir, 'out');
    const { conservation } = await exportTo(folder, ledger, id);
    expect(conservation.holds).toBe(true);
    expect(readTable(folder, 'rows').map(({ v1_company_id }) => v1_company_id)).toEqual(['9000002']);
    const purged = { outcome: 'complete', errorCode: 'PURGED', values: [], fields: {}, ids: [] };
    expect(await ledger.runs.row(id, 1)).toMatchObject(purged);
    expect((await ledger.runs.progress(id)).byOutcome.complete).toBe(2);
  });
});

long(
  'of a run without a portfolio, an entity is gone from every page of the file, and its row still counts',
  async () => {
    await withCandidates(async (dataDir, ledger, id) => {
      await dropPortfolios(dataDir);
      const report = await ledger.housekeeping.erase({ kind: 'entity', id: '555' }, itemIds);
      expect(report).toMatchObject({ runs: [id], rows: 1, bodies: 3, answers: 3, candidates: 1 });
      expect(await countIn(dataDir, canary)).toBe(0);
      expect((await countIn(dataDir, '9000001')) + (await countIn(dataDir, '700001'))).toBe(0);
      expect(await countIn(dataDir, bystander)).toBeGreaterThan(0);
      const folder = join(dataDir, 'out');
      const { conservation } = await exportTo(folder, ledger, id);
      expect(conservation.holds).toBe(true);
      expect(readTable(folder, 'rows')[0]).toMatchObject({
        outcome: 'complete',
        error_code: 'PURGED',
        v1_company_id: null,
        input_name: null,
      });
      expect(readTable(folder, 'companies').map(({ v1_company_id }) => v1_company_id)).toEqual(['9000002']);
    });
  },
);

long('data older than a date is removed with its runs, and newer data stays', async () => {
  await withCandidates(async (dataDir, ledger, id) => {
    expect(await ledger.housekeeping.erase({ kind: 'before', at: NOW - 1 }, itemIds)).toMatchObject({
      runsRemoved: [],
      rows: 0,
      bodies: 0,
    });
    expect(await ledger.housekeeping.erase({ kind: 'before', at: NOW + 1 }, itemIds)).toMatchObject({
      runsRemoved: [id],
      rows: 2,
      bodies: 4,
    });
    expect((await countIn(dataDir, canary)) + (await countIn(dataDir, bystander))).toBe(0);
    expect((await countIn(dataDir, '9000001')) + (await countIn(dataDir, '9000002'))).toBe(0);
    for (const table of ['rows', 'row_ids', 'run_environments', 'starts', 'candidates'])
      expect([table, await rowsIn(dataDir, table)]).toEqual([table, 0]);
    expect(await ledger.runs.find(id)).toBeUndefined();
    const { byRun } = await ledger.reading.usage();
    expect(byRun.find(({ key, api }) => key === id && api === 'v1')).toMatchObject({ unitsCharged: 3 });
  });
});

long('an ID of another space is another company', async () => {
  await withCandidates(async (dataDir, ledger) => {
    expect(await ledger.housekeeping.erase({ kind: 'entity', space: 'v1', id: '555' }, itemIds)).toMatchObject({
      rows: 0,
      bodies: 0,
    });
    expect(await countIn(dataDir, canary)).toBeGreaterThan(3);
  });
});

long('an answer that other rows use stays, and can be purged later', async () => {
  const about = { api: 'v1' as const, operation: 'fullKyb', params: { id: '9000002' } };
  const body = `{"lite":{"id":9000002,"name":"${bystander}"}}`;
  await withRun({ ...fixture, bought: [{ ...about, row: 1, body }] }, async ({ dataDir, ledger, id }) => {
    const context = await contextOf(ledger, id, { ...about, row: 2 });
    const owned = await ledger.calls.findAnswer(context.environmentId, context.requestKey, 0);
    const use = { ...context, attemptId: 1, at: NOW, rawSha256: owned?.rawSha256 ?? '' };
    await settleAgain(ledger, id, 2, { uses: [use] });
    await ledger.housekeeping.erase({ kind: 'entity', id: '9000001' }, itemIds);
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id);
    expect(readTable(folder, 'companies').map(({ v1_company_id }) => v1_company_id)).toEqual(['9000002']);
    expect(await ledger.housekeeping.erase({ kind: 'entity', id: '9000002' }, itemIds)).toMatchObject({
      rows: 1,
      bodies: 1,
      answers: 1,
    });
    expect(await countIn(dataDir, bystander)).toBe(0);
  });
});

test('a replaced answer is removed too', async () => {
  const about = { row: 2, api: 'v1' as const, operation: 'fullKyb', params: { id: '9000001' } };
  const bought = ['old', 'new'].map((age) => ({ ...about, body: `{"lite":{"name":"${canary} ${age}"}}` }));
  await withRun({ ...fixture, bought }, async ({ dataDir, ledger }) => {
    expect(await ledger.housekeeping.erase({ kind: 'entity', id: '9000001' }, itemIds)).toMatchObject({
      bodies: 2,
      answers: 1,
    });
    expect(await countIn(dataDir, canary)).toBe(0);
  });
});

long.each(['', ' ', '9', 'name', 'id', '.*', 'lite'])('an ID %j is no pattern, and nothing is removed', async (id) => {
  await withCandidates(async (dataDir, ledger) => {
    const nothing = { rows: 0, answers: 0, bodies: 0, candidates: 0, questions: 0, decisions: 0 };
    expect(await ledger.housekeeping.erase({ kind: 'entity', id }, itemIds)).toMatchObject(nothing);
    expect(
      await ledger.housekeeping.erase({ kind: 'number', countryCode: 'GB', registrationNumber: id }, itemIds),
    ).toMatchObject(nothing);
    expect(await countIn(dataDir, canary)).toBeGreaterThan(3);
  });
});

const byHand = (operation: string, id: string, body: string, more: Partial<Bought> = {}): Bought => ({
  row: null,
  api: 'v2',
  operation,
  params: { id },
  body,
  ...more,
});

long('direct answers about it are removed in every ID space, also of a new operation', async () => {
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    await buy(ledger, id, byHand('liteKyb', '9000001', `{"name":"${canary} 1"}`, { api: 'v1' }));
    await buy(ledger, id, byHand('kybOfficers', '555', `{"data":["${canary} 2"]}`));
    const params = { report_id: '700001' };
    await buy(ledger, id, byHand('creditReportFetch', '', `{"name":"${canary} 3"}`, { params }));
    const subject = { space: 'v2', id: '555' } as const;
    await buy(ledger, id, byHand('licence', '555', `{"holder":"${canary} 4"}`, { subject }));
    await buy(ledger, id, byHand('companyProfile', '555', `{"name":"${bystander} 5"}`));
    const report = await ledger.housekeeping.erase({ kind: 'entity', space: 'v2', id: '555' }, itemIds);
    expect(report).toMatchObject({ rows: 1, answers: 7, bodies: 7 });
    expect(await countIn(dataDir, canary)).toBe(0);
    expect(await countIn(dataDir, `${bystander} 5`)).toBe(1);
    const profile = { kind: 'entity', space: 'companies', id: '555' } as const;
    expect(await ledger.housekeeping.erase(profile, itemIds)).toMatchObject({ rows: 0, answers: 1, bodies: 1 });
    expect(await countIn(dataDir, `${bystander} 5`)).toBe(0);
  });
});

test('the ID of a person is no ID of a company', async () => {
  await withRun({ rows: [] }, async ({ dataDir, ledger, id }) => {
    await buy(ledger, id, byHand('employeeProfile', '555', `{"id":"555","full_name":"${bystander}"}`));
    expect(await ledger.housekeeping.erase({ kind: 'entity', id: '555' }, itemIds)).toMatchObject({ answers: 0 });
    expect(await countIn(dataDir, bystander)).toBe(1);
  });
});

long('people of direct calls are removed with the company that the request or they name', async () => {
  const people = (name: string, of?: number) =>
    `{"total_results":1,"data":[{"id":1,"name":"${name}"${of === undefined ? '' : `,"company_id":${of}`}}]}`;
  const search = (params: object, body: string) => byHand('employeesSearch', '', body, { params: { ...params } });
  await withRun({ rows: [] }, async ({ dataDir, ledger, id }) => {
    await buy(ledger, id, search({ filters: { company_id: 70007000 } }, people(canary)));
    await buy(ledger, id, search({ filters: { full_name: 'x' } }, people(canary, 70007000)));
    await buy(ledger, id, search({ filters: { company_id: 70007001 } }, people(bystander, 70007001)));
    await buy(ledger, id, search({ filters: { company_id: 70007002 } }, '{"total_results":0,"data":[]}'));
    const person = (name: string, of: number) => `{"full_name":"${name}","company_id":${of}}`;
    await buy(ledger, id, byHand('enrichPerson', '', person(canary, 70007000), { params: { domain: 'a.example' } }));
    await buy(ledger, id, byHand('enrichPerson', '', person(bystander, 70007001), { params: { domain: 'b.example' } }));
    const gone = { kind: 'entity', space: 'employees', id: '70007000' } as const;
    expect(await ledger.housekeeping.erase(gone, itemIds)).toMatchObject({ answers: 3, bodies: 3 });
    expect([
      await countIn(dataDir, canary),
      await countIn(dataDir, '70007000'),
      await countIn(dataDir, bystander),
    ]).toEqual([0, 0, 2]);
    const empty = { kind: 'entity', space: 'employees', id: '70007002' } as const;
    expect(await ledger.housekeeping.erase(empty, itemIds)).toMatchObject({ answers: 1 });
    const person1 = { kind: 'entity', space: 'companies', id: '70007001' } as const;
    expect(await ledger.housekeeping.erase(person1, itemIds)).toMatchObject({ answers: 1 });
  });
});

long('a list that names it is removed, and one with the same digits in another space stays', async () => {
  const list = (operation: string, body: string) => byHand(operation, '', body, { params: { search: operation } });
  await withRun({ rows: [] }, async ({ dataDir, ledger, id }) => {
    await buy(ledger, id, list('creditReportHistory', `{"data":[{"id":71,"source_id":"S-55501","name":"${canary}"}]}`));
    await buy(ledger, id, list('creditReportSearch', `[{"id":"S-55501","name":"${canary}"}]`));
    await buy(ledger, id, list('kybSearch', `[{"id":"S-55501","name":"${bystander}"}]`));
    const credit = { kind: 'entity', space: 'credit', id: 'S-55501' } as const;
    expect(await ledger.housekeeping.erase(credit, itemIds)).toMatchObject({ answers: 2, bodies: 2 });
    expect([await countIn(dataDir, canary), await countIn(dataDir, bystander)]).toEqual([0, 1]);
  });
});
