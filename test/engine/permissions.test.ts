import { describe, expect, test } from 'vitest';
import { permissionReader } from '../../src/app/provider/permissions.js';
import { usageInWords } from '../../src/cli/commands/usage.js';
import type { Fault } from '../../src/sandbox/index.js';
import { long } from '../helpers/long.js';
import { inLines } from '../helpers/messages.js';
import { lineOf, present, type Workshop, type WorkshopOptions, wholeCompanies, withWorkshop } from './support.js';

const named = { stages: ['credit-report'], permissions: { credit_report: ['creditReportGenerate'] } } as const;

const readerOf = ({ v2, pipeline }: Workshop) => permissionReader(pipeline(named), { v2 });

async function withLimit(
  limits: WorkshopOptions['v2Limits'],
  use: (workshop: Workshop) => Promise<void>,
): Promise<void> {
  await withWorkshop({ v2Limits: limits, pipeline: named }, use);
}

/** A report that another user of the account generates. */
async function generateOne({ sandbox, v2 }: Workshop, index: number): Promise<void> {
  const { sourceId, countryCode } = present(wholeCompanies(sandbox, index + 1)[index]);
  await v2.call('creditReportGenerate', { source_id: sourceId, country: countryCode });
}

describe('V2-3 v2’s counts', () => {
  test('are read before and after a run, stored, and shown', async () => {
    await withLimit({ credit_report: { plan: 10 } }, async (workshop) => {
      const { sandbox, open, work, ledger } = workshop;
      await generateOne(workshop, 5);
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      await work(run, { permissions: readerOf(workshop) });
      expect(sandbox.requests.get('metrics')).toBe(2);
      const { permissions, ...usage } = await ledger.reading.usage();
      const kept = permissions.filter(({ permission }) => permission === 'credit_report');
      expect(kept).toMatchObject([
        { metric: 'credit_report.daily', usedAtStart: 1, used: 3 },
        { metric: 'credit_report.plan', usedAtStart: 1, used: 3, total: 10, environment: sandbox.v2BaseUrl },
      ]);
      const words = inLines(usageInWords({ ...usage, permissions: kept, unknownCalls: [], olderCopy: null }));
      expect(words).toMatch(/credit_report\.plan +3 +10 +7 +2 +2 +none$/m);
    });
  });

  test('that are used up park their operations before any of them is sent', async () => {
    await withLimit({ credit_report: { plan: 1 } }, async (workshop) => {
      const { sandbox, open, work, rows } = workshop;
      await generateOne(workshop, 5);
      const run = await open(wholeCompanies(sandbox, 2).map((company) => lineOf(company)));
      const end = await work(run, { permissions: readerOf(workshop) });
      expect(end.progress.parkedReasons).toEqual({ allowance: 2 });
      expect(sandbox.requests.get('creditReportGenerate')).toBe(1);
      expect((await rows(run)).map(({ outcome }) => outcome)).toEqual(['pending', 'pending']);
    });
  });

  test('park nothing if the pipeline names no operations: then the provider refuses itself', async () => {
    await withLimit({ credit_report: { plan: 1 } }, async (workshop) => {
      const { sandbox, open, work, pipeline } = workshop;
      await generateOne(workshop, 5);
      const unnamed = pipeline({ permissions: {} });
      const run = await open(
        wholeCompanies(sandbox, 1).map((company) => lineOf(company)),
        unnamed,
      );
      await work(run, { pipeline: unnamed, permissions: readerOf(workshop) });
      expect(sandbox.requests.get('creditReportGenerate')).toBe(2);
    });
  });

  const reply = (body: string, status = 200): Fault => ({ reply: { status, body } });
  const counted = (used: unknown, total: unknown) =>
    reply(JSON.stringify([{ codename: 'credit_report', metrics: [{ codename: 'c', used, total }] }]));

  long.each<[string, Fault]>([
    ['500', 500],
    ['401', 401],
    ['a reset', 'resetBefore'],
    ['a page', reply('<html>Maintenance</html>')],
    ['an object', reply('{"a":1}')],
    ['no metrics', reply('[{"codename":"credit_report"}]')],
    ['no names', reply('[{"metrics":[{"used":3,"total":3}]},{"metrics":[{"used":3,"total":3}]}]')],
    ['a total of nothing', counted(0, 0)],
    ['a total below nothing', counted(5, -1)],
    ['figures without end', reply('[{"codename":"credit_report","metrics":[{"used":1e400,"total":1e30}]}]')],
    ['fractions', counted(1.5, 1.5)],
    ['a name of the language', reply('[{"codename":"__proto__","metrics":[{"used":1,"total":1}]}]')],
  ])('are no reason to stop: %s', async (_, fault) => {
    await withLimit({}, async (workshop) => {
      const { sandbox, open, work } = workshop;
      const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
      sandbox.script('metrics', [fault, fault]);
      const end = await work(run, { permissions: readerOf(workshop) });
      expect(end.progress.byOutcome).toMatchObject({ complete: 1 });
    });
  });
});
