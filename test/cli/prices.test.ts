import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moneyOf } from '../../src/domain/prices.js';
import { long } from '../helpers/long.js';
import { chargesByOperation } from '../helpers/sandbox.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const PIPELINE = ['stages: [record, financials, credit-report]'];
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];
const PRICES = { currency: 'EUR', unit: '0.35', creditReport: '12.50', operations: { financial: '0.105' } };
const WRITTEN = '{currency: EUR, unit: 0.35, credit_report: 12.50, operations: {financial: 0.105}}';

interface Money {
  readonly amount: string;
  readonly currency: string;
  readonly without?: readonly string[];
}

/** The JSON of a plan, a run and all commands that show it afterwards. */
async function shown({ rows, writeCsv, kybatch }: Job, env: Readonly<Record<string, string>>) {
  writeCsv('in.csv', rows.slice(0, 3));
  const plan = jsonOf<object>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json'], { env }));
  const run = jsonOf<EndJson & { files: string }>(await kybatch(RUN, { env }));
  const status = jsonOf<object>(await kybatch(['status', '--json'], { env }));
  const usage = jsonOf<{ by_run: readonly object[] }>(await kybatch(['usage', '--json'], { env }));
  const summary = JSON.parse(readFileSync(join(run.files, 'summary.json'), 'utf8')) as object;
  return { plan, run, status, usage, summary };
}

test('without prices no view shows money', async () => {
  await withJob({ pipeline: PIPELINE }, async (job) => {
    expect(JSON.stringify(await shown(job, job.env))).not.toMatch(/"(?:money|prices|purchases)"/);
  });
});

async function showMoney(source: 'pipeline' | 'environment'): Promise<void> {
  const pipeline = source === 'pipeline' ? [...PIPELINE, `prices: ${WRITTEN}`] : PIPELINE;
  await withJob({ pipeline }, async (job) => {
    const other = '{currency: USD, unit: 99}';
    const env = { ...job.env, KYBATCH_PRICES: source === 'pipeline' ? other : WRITTEN };
    const { plan, run, status, usage, summary } = await shown(job, env);
    const charges = chargesByOperation(job.sandbox.chargeLog);
    const { searchKyb = 0, fullKyb = 0, creditReportGenerate = 0, ...calls } = charges;
    expect(charges).toMatchObject({ fullKyb: 3, financial: 3, creditReportGenerate: 3 });
    // No document says that this search is free, so the ledger counts it as charged.
    const asCounted = { ...calls, creditReportSearch: 3 };
    const bought = { units: searchKyb + fullKyb, reports: creditReportGenerate, calls: asCounted };
    const money = moneyOf(PRICES, bought);
    expect([run, status, summary]).toMatchObject([{ this_start: { money } }, { money }, { money }]);
    const { money: planned } = plan as { money: Record<'at_least' | 'likely' | 'at_most', Money> };
    const figure = ({ amount }: Money) => Number(amount);
    expect(figure(planned.at_least)).toBeLessThanOrEqual(figure(money));
    expect(figure(planned.likely)).toBe(figure(money));
    expect(figure(planned.at_most)).toBeGreaterThanOrEqual(figure(money));
    // The environment has the prices of all runs and replaces those of the pipelines.
    const ofAll = source === 'pipeline' ? moneyOf({ currency: 'USD', unit: '99', operations: {} }, bought) : money;
    expect(usage).toMatchObject({ money: ofAll });
    if (source === 'pipeline') {
      const ofRun = jsonOf<{ by_operation: readonly { key: string; money: Money }[]; money: Money }>(
        await job.kybatch(['usage', '--json']),
      );
      expect(ofRun.money).toEqual(money);
      expect(ofRun.by_operation.find(({ key }) => key === 'creditReportGenerate')?.money.amount).toBe('37.500');
    }
  });
}

test('with prices of the pipeline all views agree on the money', () => showMoney('pipeline'));
long('with prices of the environment all views agree on the money', () => showMoney('environment'));

test('wrong prices are refused before anything is spent', async () => {
  await withJob({}, async ({ rows, writeCsv, kybatch, env, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const { code, stderr } = await kybatch(RUN, { env: { ...env, KYBATCH_PRICES: '{currency: EUR, unit: 0,35}' } });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('KYBATCH_PRICES') });
    expect(sandbox.chargeLog).toEqual([]);
  });
});
