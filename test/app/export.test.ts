import { describe, expect, test } from 'vitest';
import { call } from '../../src/app/provider/call.js';
import { exportTables } from '../../src/app/run/export.js';
import { present } from '../engine/support.js';
import { readTable } from '../export/support.js';
import { refusal, withOffice } from './support.js';

describe('answers of direct calls', { tags: 'long' }, () => {
  test('are in the tables of every run with the company', async () => {
    await withOffice({}, async ({ sandbox, environment, companies, run }) => {
      const [company, other] = companies(2);
      const { v1Id } = present(company);
      await run([present(company)], ['record']);
      const before = await exportTables({}, environment);
      expect(readTable(before.folder, 'officers').every(({ operation }) => operation === 'fullKyb')).toBe(true);
      const bought = await call({ api: 'v1', operation: 'officersKyb', params: { id: v1Id } }, environment);
      await call({ api: 'v1', operation: 'officersKyb', params: { id: present(other).v1Id } }, environment);
      const listed = (bought.body as unknown as { readonly data: readonly unknown[] }).data;
      expect(listed.length).toBeGreaterThan(0);
      const charged = sandbox.chargeLog.length;
      const { folder, summary } = await exportTables({}, environment);
      expect(folder).toBe(before.folder);
      // The list was read to its end, so it replaces the one in the record.
      expect(summary.tables.officers).toBe(listed.length);
      const officers = readTable(folder, 'officers').filter(({ operation }) => operation === 'officersKyb');
      expect(officers).toHaveLength(listed.length);
      // The answer about another company is not.
      expect(new Set(officers.map((officer) => officer.v1_company_id))).toEqual(new Set([v1Id]));
      expect(sandbox.chargeLog).toHaveLength(charged);
    });
  });

  test('count in the ID space of the request: a row without a v2 ID has no v2 company', async () => {
    await withOffice({}, async ({ environment, companies, run }) => {
      const company = present(companies(1)[0]);
      const { v2Id } = company;
      const withoutV2 = await run([company], ['record']);
      await call({ api: 'v2', operation: 'financial', params: { id: v2Id } }, environment);
      await call({ api: 'v2', operation: 'kybOfficers', params: { id: v2Id } }, environment);
      const first = await exportTables({ run: withoutV2.id }, environment);
      expect(readTable(first.folder, 'rows')).toMatchObject([{ outcome: 'complete', v2_company_id: null }]);
      expect(first.summary.tables.flat_financials).toBe(0);
      expect(readTable(first.folder, 'officers').map(({ operation }) => operation)).not.toContain('kybOfficers');
      const withV2 = await run([company], ['record', 'financials']);
      expect(withV2.id).not.toBe(withoutV2.id);
      const second = await exportTables({ run: withV2.id }, environment);
      expect(readTable(second.folder, 'rows')).toMatchObject([{ v2_company_id: v2Id, financials_status: 'done' }]);
      expect(second.summary.tables.flat_financials).toBeGreaterThan(0);
      // The stage reused the stored answer. The officers came only from a direct call.
      expect(readTable(second.folder, 'calls')).toContainEqual(
        expect.objectContaining({ operation: 'financial', charge: 'owned' }),
      );
      const officers = readTable(second.folder, 'officers').filter(({ operation }) => operation === 'kybOfficers');
      expect(officers.length).toBeGreaterThan(0);
      expect(officers.every((officer) => officer.v2_company_id === v2Id)).toBe(true);
    });
  });
});

test('an export without a run is an error', async () => {
  await withOffice({}, async ({ environment, ledger }) => {
    await ledger(async () => {});
    expect(await refusal(exportTables({}, environment))).toMatchObject({ code: 'NO_RUN_YET', exit: 2 });
  });
});
