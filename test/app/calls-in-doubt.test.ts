import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needsDecision, unknownCharges } from '../../src/app/monitoring/figures.js';
import { storeSettings } from '../../src/app/run/stored-settings.js';
import { loadPipeline } from '../../src/config/pipeline.js';
import { here } from '../cli/here.js';
import { beginRun } from '../helpers/begin-run.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { openAt, withDataDir, withLedger } from '../ledger/sqlite-support.js';
import { begin, buy, call, keyOf, lost, NOW, settlement } from '../ledger/support.js';

const inDoubt = async (ledger: Parameters<typeof unknownCharges>[0]) =>
  (await unknownCharges(ledger, NOW)).filter(needsDecision);

test('a report that was bought again may have been paid for twice, so a person has to decide', async () => {
  await withLedger(async (ledger) => {
    const report = call(await begin(ledger), { meter: 'report', operation: 'creditReportGenerate' });
    await buy(ledger, report, lost());
    expect(await inDoubt(ledger)).toHaveLength(1);
    await buy(ledger, report, settlement({ unitsCharged: null }));
    const [doubtful] = await inDoubt(ledger);
    expect(doubtful).toMatchObject({ answered: true, charge: 'unknown' });
    await ledger.unknownCharges.settle([doubtful?.id ?? 0], 'resend', 'asked the provider');
    expect(await inDoubt(ledger)).toEqual([]);
  });
});

test('a call that v2 refused for good is not listed as an unknown charge', async () => {
  await withLedger(async (ledger) => {
    const asked = call(await begin(ledger), { meter: 'not_told', operation: 'financial' });
    await buy(ledger, asked, lost({ httpStatus: 403, inDoubt: false }));
    expect(await ledger.unknownCharges.list({ calls: [], runs: [] }, NOW)).toHaveLength(1);
    expect(await inDoubt(ledger)).toEqual([]);
  });
});

const SETTINGS = { pipeline: loadPipeline('analyst', process.cwd()), fresh: false, limit: null, providers: [] };

// Its ledger is a file.
describe.skipIf(isOnPostgres)('the commands that `charges` suggests', () => {
  const suggested = async (dataDir: string, ...words: string[]) => {
    const { textOf } = await here(['charges', 'list', ...words, '--data-dir', dataDir], { cwd: dirname(dataDir) });
    return [...textOf('CHARGES_NEXT').matchAll(/kybatch charges (\w+(?: \d+)*)(?= )/g)].map(([, command]) => command);
  };
  const withLostCalls = (calls: number, use: (dataDir: string) => Promise<void>) =>
    withDataDir(async (dataDir) => {
      const ledger = await openAt(dataDir);
      // A short ID without a letter.
      const run = { id: '2026-01-05-493832', now: NOW, settings: storeSettings(SETTINGS) };
      const place = await begin(ledger, await beginRun(ledger, run, [{ values: ['A'], fields: { name: 'A' } }]));
      for (let lostCall = 0; lostCall < calls; lostCall += 1)
        await buy(ledger, call(place, { runId: run.id, row: 1, requestKey: keyOf(`${lostCall}`) }), lost());
      await ledger.close();
      await use(dataDir);
    });

  test('name every call that is listed', () =>
    withLostCalls(5, async (dataDir) => {
      const all = ['charged 1 2 3 4 5', 'free 1 2 3 4 5', 'resend 1 2 3 4 5'];
      expect(await suggested(dataDir)).toEqual(all);
      expect(await suggested(dataDir, '493832')).toEqual(all);
      expect(await suggested(dataDir, '2', '4')).toEqual(['charged 2 4', 'free 2 4', 'resend 2 4']);
    }));

  test('select a long list as it was asked for', () =>
    withLostCalls(21, async (dataDir) => {
      expect(await suggested(dataDir)).toEqual(['charged', 'free', 'resend']);
      expect(await suggested(dataDir, '493832')).toEqual(['charged 493832', 'free 493832', 'resend 493832']);
    }));
});
