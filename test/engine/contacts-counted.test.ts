import { describe, expect, test } from 'vitest';
import { permissionReader } from '../../src/app/provider/permissions.js';
import { noteContactsAtEnd } from '../../src/engine/permissions.js';
import type { Fault } from '../../src/sandbox/index.js';
import { long } from '../helpers/long.js';
import { buy, call, lost, NOW, settlement, useOf } from '../ledger/support.js';
import { lineOf, present, type Workshop, wholeCompanies, withWorkshop } from './support.js';

const counted = (body: string): Fault => ({ reply: { status: 200, body } });

/** The end of an attempt that sent one call of this operation, or reused a stored answer of it. */
async function endAfter(
  { sandbox, ledger, v2, open, pipeline }: Workshop,
  operation: string,
  became: 'answered' | 'lost' | 'owned',
  controller = new AbortController(),
): Promise<void> {
  const run = await open(wholeCompanies(sandbox, 1).map((company) => lineOf(company)));
  const environmentId = await ledger.calls.environment('v2', sandbox.v2BaseUrl);
  const attemptId = await ledger.calls.begin({ runId: run.id, begunAt: NOW, leaseUntil: NOW + 30_000 });
  const sent = call({ environmentId, attemptId }, { runId: run.id, row: 1, operation, meter: 'not_told' });
  if (became === 'owned') await ledger.calls.recordUse(useOf(sent));
  else await buy(ledger, sent, became === 'lost' ? lost() : settlement({ unitsCharged: null }));
  const reader = permissionReader(pipeline({ stages: ['financials'] }), { v2 }, controller.signal);
  const of = { calls: ledger.calls, clock: { now: () => NOW }, environmentId, reader };
  await noteContactsAtEnd(of, { runId: run.id, attemptId, begunAt: NOW }, ledger.reading);
}

const kept = async ({ ledger }: Workshop) => (await ledger.reading.toldByV2()).contacts;

describe('V2-14 revealed contacts at the end of an attempt', () => {
  test.each(['employeeProfile', 'enrichPerson'])('that requested %s are counted, in whole days', async (operation) => {
    await withWorkshop({}, async (workshop) => {
      const { sandbox } = workshop;
      sandbox.script('metricsContacts', [counted('{"email_count":3,"phone_count":null,"fax_count":1.10}')]);
      await endAfter(workshop, operation, 'answered');
      const range = { dateFrom: '2026-01-04 00:00:00', dateTo: '2026-01-06 23:59:59' };
      const counts = { emailCount: 3, phoneCount: null, extra: '{"fax_count":1.10}', observedAt: NOW };
      expect(await kept(workshop)).toMatchObject([{ ...range, ...counts }]);
      const asked = present(sandbox.requestLog.find((request) => request.operation === 'metricsContacts'));
      expect(new URLSearchParams(asked.query).get('date_from')).toBe(range.dateFrom);
    });
  });

  test('a lost call may have revealed some, but a reused answer and other modules have not', async () => {
    await withWorkshop({}, async (workshop) => {
      await endAfter(workshop, 'financial', 'answered');
      await endAfter(workshop, 'employeeProfile', 'owned');
      expect(workshop.sandbox.requests.get('metricsContacts')).toBeUndefined();
      await endAfter(workshop, 'employeeProfile', 'lost');
      expect(await kept(workshop)).toMatchObject([{ emailCount: 0, phoneCount: 0, extra: null }]);
    });
  });

  long.each<[string, Fault]>([
    ['500', 500],
    ['a page', counted('<html>')],
    ['a list', counted('[]')],
  ])('that are not reported (%s) stop nothing, and nothing is stored', async (_, fault) => {
    await withWorkshop({}, async (workshop) => {
      workshop.sandbox.script('metricsContacts', [fault]);
      await endAfter(workshop, 'employeeProfile', 'answered');
      expect(await kept(workshop)).toEqual([]);
    });
  });

  test('are not requested after an interrupt', async () => {
    await withWorkshop({}, async (workshop) => {
      const controller = new AbortController();
      controller.abort();
      await endAfter(workshop, 'employeeProfile', 'answered', controller);
      expect(workshop.sandbox.requests.get('metricsContacts')).toBeUndefined();
    });
  });
});
