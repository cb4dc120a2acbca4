import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { ReceivedEvent } from '../../../src/ledger/portfolio/watches.js';
import { collect, keyOf, NOW, rowSettlement, withSnapshot } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

/** A portfolio of these v2 companies (null: not confirmed), and the environment of the answers. */
async function watched(ledger: Ledger, companies: readonly (string | null)[], name = 'p', now = NOW) {
  const digest = hash('sha256', name).slice(0, 32);
  const rows = companies.map((company, index) => ({
    row: index + 1,
    line: index + 2,
    values: [`${company}`],
    fields: { id: `id-${company}` },
    problem: null,
    inputId: null,
    company: `${company}`,
    says: digest,
    cells: digest,
  }));
  await ledger.portfolios.loadRows(rows, true);
  const run = { id: `run-${name}-${now}`, inputPath: '/in', inputSha256: 'f', pipelineName: 'n', pipelineSha256: 'p' };
  const { portfolio } = await ledger.portfolios.converge({
    name,
    providers: 'x',
    now,
    input: { key: `${now}`, path: '/in', columns: ['id'] },
    isLoaded: true,
    limit: null,
    decideDue: () => ({ due: null, nextAt: null }),
    run: { ...run, settings: '{}', columns: ['id'] },
    continuesIf: null,
  });
  const environmentId = await ledger.calls.environment('v2', 'live');
  if ((await ledger.runs.find(run.id)) !== undefined) {
    await ledger.runs.useEnvironments(run.id, [{ api: 'v2', environmentId }]);
    for (const [index, id] of companies.entries()) {
      const ids = id === null ? [] : [{ space: 'v2' as const, id, grade: null, matchedOn: null }];
      await ledger.runs.settleRow(run.id, index + 1, rowSettlement({ outcome: 'complete', updatedAt: now }, { ids }));
    }
  }
  return { wish: { portfolioIds: [portfolio.id], fields: ['name'] }, environmentId, run: run.id };
}

const EVENT: ReceivedEvent = {
  eventType: 'company_name',
  status: 'UPDATED',
  message: 'changed',
  dateCreated: '2026-01-05T08:00:00Z',
  extra: null,
};
const RAW = keyOf('a body');
const ALL = { portfolioIds: null, hinted: false, notSince: Number.MAX_SAFE_INTEGER };

export function describeWatches(open: OpenLedger): void {
  describe('watches', () => {
    test(
      'matched companies that are not watched with these fields are to be registered, each once',
      onLedger(open, async (ledger) => {
        const { watches } = ledger;
        const { wish, environmentId } = await watched(ledger, ['1', '2', null, '2']);
        expect(await watches.members(wish.portfolioIds)).toEqual({ listed: 4, without: 1 });
        expect((await watches.toAdd(environmentId, wish)).map(({ companyId }) => companyId)).toEqual(['1', '2']);
        await watches.asked(environmentId, '1', ['name'], NOW);
        // Requested without an answer, so it is requested again, unless the list has it.
        expect(await watches.toAdd(environmentId, wish)).toHaveLength(2);
        await watches.reconcile(environmentId, ['1', '9'], wish, NOW);
        expect(await watches.toAdd(environmentId, wish)).toEqual([{ companyId: '2', registered: 0 }]);
        expect(await watches.toAdd(environmentId, { ...wish, fields: ['name', 'vat_number'] })).toEqual([
          { companyId: '1', registered: 1 },
          { companyId: '2', registered: 0 },
        ]);
        // The watch was removed elsewhere.
        await watches.reconcile(environmentId, [], wish, NOW);
        expect(await watches.toAdd(environmentId, wish)).toHaveLength(2);
        expect(await watches.watched(environmentId)).toBe(0);
      }),
    );

    test(
      'companies that left every list are to be removed, except companies that others registered',
      onLedger(open, async (ledger) => {
        const { watches } = ledger;
        const { wish, environmentId } = await watched(ledger, ['1', '2', '3']);
        await watches.reconcile(environmentId, ['3'], wish, NOW);
        for (const id of ['1', '2']) {
          await watches.asked(environmentId, id, null, NOW);
          await watches.registered(environmentId, id, NOW);
        }
        await watched(ledger, ['2'], 'another');
        expect(await watches.toRemove(environmentId)).toEqual([]);
        await watched(ledger, [], 'p', NOW + 1);
        expect(await watches.toRemove(environmentId)).toEqual([{ companyId: '1', registered: 1 }]);
        await watches.removed(environmentId, '1');
        expect((await watches.list()).map(({ companyId, ours }) => [companyId, ours])).toEqual([
          ['2', true],
          ['3', false],
        ]);
      }),
    );

    test(
      'an event is stored once and makes present companies due once, but not later ones',
      onLedger(open, async (ledger) => {
        const { watches } = ledger;
        const { environmentId, run } = await watched(ledger, ['1', '2']);
        const page = { environmentId, companyId: '1', heardAt: NOW + 10, rawSha256: RAW };
        expect(await watches.hear({ ...page, events: [EVENT, EVENT, { ...EVENT, extra: '{"a":1}' }] })).toBe(2);
        expect(await watches.hear({ ...page, events: [EVENT], heardAt: NOW + 20 })).toBe(0);
        expect([await watches.markChanged(), await watches.markChanged()]).toEqual([1, 0]);
        await watches.takenUp(run, NOW + 10);
        expect(await watches.lastEvents(1)).toMatchObject([{ companyId: '1', heardAt: NOW + 10, runId: run }]);
        const later = await watched(ledger, ['1'], 'later', NOW + 30);
        expect(await watches.markChanged()).toBe(0);
        const rows = await withSnapshot(ledger, later.run, async (snapshot) => await collect(snapshot.watchEvents()));
        expect(rows).toMatchObject([
          { portfolio: 'later', row: 1, inputId: 'id-1', extra: null, rawSha256: RAW },
          { portfolio: 'later', row: 1, inputId: 'id-1', extra: '{"a":1}' },
        ]);
      }),
    );

    test(
      'companies named by callbacks are read first, whenever they were read, and until they are',
      onLedger(open, async (ledger) => {
        const { watches } = ledger;
        const { environmentId, wish } = await watched(ledger, ['1', '2', '3']);
        await watches.reconcile(environmentId, ['1', '2', '3'], wish, NOW);
        await watches.read(environmentId, '1', NOW + 5);
        await watches.read(environmentId, '3', NOW + 6);
        const toRead = async (more = {}) =>
          (await watches.toRead(environmentId, { ...ALL, ...more })).map(({ companyId }) => companyId);
        expect(await toRead()).toEqual(['2', '1', '3']);
        expect(await toRead({ notSince: NOW + 5 })).toEqual(['2', '1']);
        expect(await watches.hint(['3', '8'], NOW + 7)).toBe(1);
        expect(await toRead({ notSince: 0 })).toEqual(['3', '2']);
        expect(await toRead({ hinted: true })).toEqual(['3']);
        // The history was requested before the callback came.
        await watches.read(environmentId, '3', NOW + 6);
        expect(await toRead({ hinted: true })).toEqual(['3']);
        await watches.read(environmentId, '3', NOW + 7);
        expect(await toRead({ hinted: true })).toEqual([]);
        expect(await toRead({ portfolioIds: [999] })).toEqual([]);
      }),
    );
  });
}
