import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requestKey } from '../../src/calls/request-key.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { exportTo, fullRecord, NOW, type RunFixture, readTable, withRun } from './support.js';

/** Random enough not to shrink: found in the file as long as it is there. */
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
    { values: [canary], state: { v1CompanyId: '9000001', v2CompanyId: '555', creditReportId: '700001' } },
    { values: [bystander], state: { v1CompanyId: '9000002' } },
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

const candidate = (id: string, name: string) => ({
  id,
  name,
  registrationNumber: '1',
  vatNumber: null,
  countryCode: 'GB',
  state: null,
  matchGrade: 'A',
  decision: 'rejected',
  evidence: '',
});

const countIn = (dataDir: string, text: string) =>
  readdirSync(dataDir)
    .filter((file) => file.startsWith('kybatch.db'))
    .reduce((sum, file) => sum + readFileSync(join(dataDir, file)).toString('latin1').split(text).length - 1, 0);

async function withCandidates(use: (dataDir: string, ledger: Ledger, id: string) => Promise<void>) {
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    await ledger.saveCandidates(id, 2, 'v1', [candidate('9000001', canary), candidate('9000002', bystander)]);
    expect(countIn(dataDir, canary)).toBeGreaterThan(3);
    await use(dataDir, ledger, id);
  });
}

test('an entity is gone from every page of the file, and its row still counts', async () => {
  await withCandidates(async (dataDir, ledger, id) => {
    const report = await ledger.purge({ kind: 'entity', id: '555' });
    expect(report).toMatchObject({ runs: [id], rows: 1, bodies: 3, answers: 3, candidates: 1 });
    expect(countIn(dataDir, canary)).toBe(0);
    expect(countIn(dataDir, bystander)).toBeGreaterThan(0);
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
});

test('what is older than a date goes with its runs; what is newer stays', async () => {
  await withCandidates(async (dataDir, ledger, id) => {
    expect(await ledger.purge({ kind: 'before', at: NOW - 1 })).toMatchObject({ runsRemoved: [], rows: 0, bodies: 0 });
    expect(await ledger.purge({ kind: 'before', at: NOW + 1 })).toMatchObject({
      runsRemoved: [id],
      rows: 2,
      bodies: 4,
    });
    expect(countIn(dataDir, canary) + countIn(dataDir, bystander)).toBe(0);
    expect(await ledger.findRun(id)).toBeUndefined();
    expect(await ledger.unitsOfRun(id)).toBe(3);
  });
});

test('an ID of another space is another company', async () => {
  await withCandidates(async (dataDir, ledger) => {
    expect(await ledger.purge({ kind: 'entity', space: 'v1', id: '555' })).toMatchObject({ rows: 0, bodies: 0 });
    expect(countIn(dataDir, canary)).toBeGreaterThan(3);
  });
});

test('an answer that other rows own stays what it was about, and can be purged later', async () => {
  const about = { api: 'v1' as const, operation: 'fullKyb', params: { id: '9000002' } };
  const body = `{"lite":{"id":9000002,"name":"${bystander}"}}`;
  await withRun({ ...fixture, bought: [{ ...about, row: 1, body }] }, async ({ dataDir, ledger, id }) => {
    const environmentId = await ledger.environment('v1', 'test');
    const key = requestKey(about.operation, about.params);
    const owned = await ledger.findAnswer(environmentId, key, 0);
    const use = { environmentId, runId: id, row: 2, stage: 'record', operation: 'fullKyb', requestKey: key, at: NOW };
    await ledger.recordOwnedUse({ ...use, rawSha256: owned?.rawSha256 ?? '' });
    await ledger.purge({ kind: 'entity', id: '9000001' });
    const folder = join(dataDir, 'out');
    await exportTo(folder, ledger, id);
    expect(readTable(folder, 'companies').map(({ v1_company_id }) => v1_company_id)).toEqual(['9000002']);
    expect(await ledger.purge({ kind: 'entity', id: '9000002' })).toMatchObject({ rows: 1, bodies: 1, answers: 1 });
    expect(countIn(dataDir, bystander)).toBe(0);
  });
});

test('an answer that a newer one took the place of goes, too', async () => {
  const about = { row: 2, api: 'v1' as const, operation: 'fullKyb', params: { id: '9000001' } };
  const bought = ['old', 'new'].map((age) => ({ ...about, body: `{"lite":{"name":"${canary} ${age}"}}` }));
  await withRun({ ...fixture, bought }, async ({ dataDir, ledger }) => {
    expect(await ledger.purge({ kind: 'entity', id: '9000001' })).toMatchObject({ bodies: 2, answers: 1 });
    expect(countIn(dataDir, canary)).toBe(0);
  });
});

test.each(['', ' ', '9', 'name', 'id', '.*', 'lite'])('an ID %j is no pattern: nothing is removed', async (id) => {
  await withCandidates(async (dataDir, ledger) => {
    const nothing = { rows: 0, answers: 0, bodies: 0, candidates: 0, questions: 0, decisions: 0 };
    expect(await ledger.purge({ kind: 'entity', id })).toMatchObject(nothing);
    expect(await ledger.purge({ kind: 'number', countryCode: 'GB', registrationNumber: id })).toMatchObject(nothing);
    expect(countIn(dataDir, canary)).toBeGreaterThan(3);
  });
});
