import { expect, test } from 'vitest';
import { needsDecision, unknownCharges } from '../../src/app/monitoring/figures.js';
import { withLedger } from '../ledger/sqlite-support.js';
import { begin, buy, call, lost, NOW, settlement } from '../ledger/support.js';

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
