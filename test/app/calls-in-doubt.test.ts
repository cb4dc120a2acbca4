import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { unknownCharges } from '../../src/app/monitoring/figures.js';
import { countRequests } from '../../src/app/review/unknown-charges.js';
import { storeSettings } from '../../src/app/run/stored-settings.js';
import { loadPipeline } from '../../src/config/pipeline.js';
import { contradicts } from '../../src/ledger/money/provider-count.js';
import { here } from '../cli/here.js';
import { beginRun } from '../helpers/begin-run.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { openAt, withDataDir, withLedger } from '../ledger/sqlite-support.js';
import { begin, buy, call, keyOf, lost, NOW, remaining, settlement } from '../ledger/support.js';

const inDoubt = async (ledger: Parameters<typeof unknownCharges>[0]) =>
  (await unknownCharges(ledger, NOW)).filter(({ waitsFor }) => waitsFor !== 'nothing');

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

test('a key check that an older version recorded as unknown is neither listed nor counted', async () => {
  await withLedger(async (ledger) => {
    await buy(ledger, call(await begin(ledger), { stage: 'key_check' }), lost({ inDoubt: false }));
    expect(await unknownCharges(ledger, NOW)).toEqual([]);
    expect(await ledger.reading.unknownCharges(9)).toEqual([]);
    expect((await ledger.reading.usage()).byDay).toMatchObject([{ calls: 1, unknown: 0 }]);
  });
});

test('several lost tries of one request count as one', async () => {
  await withLedger(async (ledger) => {
    const place = await begin(ledger);
    for (const request of ['a', 'a', 'b']) await buy(ledger, call(place, { requestKey: keyOf(request) }), lost());
    expect(countRequests(await unknownCharges(ledger, NOW))).toBe(2);
  });
});

test('V1-5 an entry is compared with a counter that comes late enough, also if an earlier one came soon', async () => {
  await withLedger(async (ledger) => {
    const place = await begin(ledger);
    const told = (request: string, units: number, settledAt: number) =>
      buy(
        ledger,
        call(place, { requestKey: keyOf(request) }),
        settlement({ settledAt, remainingUnits: units, allowance: remaining(units) }),
      );
    await told('before', 100, NOW);
    const first = await buy(ledger, call(place, { requestKey: keyOf('a') }), lost());
    const second = await buy(ledger, call(place, { requestKey: keyOf('b') }), lost());
    await told('soon', 98, NOW + 1000);
    await told('later', 97, NOW + 60_000);
    const calls = [first.id, second.id];
    const [units] = await ledger.unknownCharges.unitsTold(calls);
    expect(units).toMatchObject({ calls, from: 100, to: 97, known: 2 });
    expect(units && contradicts(units, 'charged')).toBe(true);
  });
});

test('a call that holds a row waits for a person, also if v1 may still count it', async () => {
  await withLedger(async (ledger) => {
    const run = { id: '2026-01-05-49383a', now: NOW, settings: storeSettings(SETTINGS) };
    const lines = ['A', 'B'].map((name) => ({ values: [name], fields: { name } }));
    const place = await begin(ledger, await beginRun(ledger, run, lines));
    const told = (request: string, units: number) =>
      buy(
        ledger,
        call(place, { requestKey: keyOf(request) }),
        settlement({ settledAt: NOW, remainingUnits: units, allowance: remaining(units) }),
      );
    const lose = async () => {
      const wanted = call(place, { runId: run.id, row: 1, requestKey: keyOf('lost') });
      for (let tries = 0; tries < 3; tries += 1) await buy(ledger, wanted, lost());
    };
    const waits = async () => (await inDoubt(ledger)).map(({ waitsFor }) => waitsFor);
    await lose();
    // v1 has never reported its units.
    expect(await waits()).toEqual(['person', 'person', 'person']);
    await told('anchor', 100);
    await lose();
    expect((await waits()).slice(3)).toEqual(['person', 'person', 'person']);
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

  test('work as printed without a terminal', () =>
    withLostCalls(2, async (dataDir) => {
      const at = { cwd: dirname(dataDir) };
      const { textOf } = await here(['charges', '--data-dir', dataDir], at);
      const [, command = ''] = /kybatch (charges charged .*?)(?: {2}|$)/m.exec(textOf('CHARGES_NEXT')) ?? [];
      expect((await here(command.split(' '), at)).code).toBe(0);
    }));

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
