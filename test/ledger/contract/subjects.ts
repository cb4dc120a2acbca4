import { describe, expect, test } from 'vitest';
import type { IdSpace } from '../../../src/domain/provider.js';
import type { SnapshotSubject } from '../../../src/ledger/answers/snapshot.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { NewCall } from '../../../src/ledger/money/intent.js';
import {
  begin,
  buy,
  call,
  candidate,
  collect,
  keyOf,
  NO_GROUNDS,
  NOW,
  openRun,
  rowSettlement,
  settlement,
  useOf,
  withSnapshot,
} from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

/** A run on v1 and v2 whose rows have these IDs. */
async function runWith(ledger: Ledger, rows: readonly Partial<Record<IdSpace, string>>[]) {
  const run = await openRun(ledger, rows.length);
  const { attemptId, environmentId } = await begin(ledger, run);
  const v1 = { attemptId, environmentId };
  const v2 = { attemptId, environmentId: await ledger.calls.environment('v2', 'live') };
  await ledger.runs.useEnvironments(run, [
    { api: 'v1', environmentId },
    { api: 'v2', environmentId: v2.environmentId },
  ]);
  for (const [index, ids] of rows.entries()) {
    const known = Object.entries(ids).map(([space, id]) => ({
      space: space as IdSpace,
      id,
      grade: null,
      matchedOn: null,
    }));
    await ledger.runs.settleRow(run, index + 1, rowSettlement({ stage: 'record' }, { ids: known }));
  }
  const about = (space: IdSpace, id: string, operation: string, more: Partial<NewCall> = {}): NewCall =>
    call(space === 'v1' ? v1 : v2, {
      runId: run,
      row: 1,
      stage: 'record',
      operation,
      meter: 'not_told',
      subject: { space, id },
      requestKey: keyOf(`${operation} ${id}`),
      ...more,
    });
  const answer = (wanted: NewCall, body: string, params = '{}', settledAt = NOW) =>
    buy(ledger, wanted, settlement({ body: Buffer.from(body), answer: { params }, settledAt }));
  return { run, v1, v2, about, answer };
}

const subjectsOf = (ledger: Ledger, run: string, space: IdSpace, operations: readonly string[]) =>
  withSnapshot(ledger, run, async (snapshot) => {
    const subjects: SnapshotSubject[] = [];
    for await (const subject of snapshot.subjects(space, operations)) subjects.push(subject);
    return subjects;
  });

const said = (subjects: readonly SnapshotSubject[]) =>
  subjects.map(({ id, answers }) => [id, ...answers.map(({ body }) => body.toString())]);

export function describeSubjects(open: OpenLedger): void {
  describe('the subjects of a run', () => {
    test(
      'have no answer that proved to be another company’s, unless a decision in force accepts it',
      onLedger(open, async (ledger) => {
        const { run, v1, about, answer } = await runWith(ledger, [{ v1: '9' }]);
        const record = () => about('v1', '9', 'fullKyb');
        const shown = async () => said(await subjectsOf(ledger, run, 'v1', ['fullKyb']));
        const ids = [{ space: 'v1', id: '9', grade: null, matchedOn: null }] as const;
        const compare = (entityKey: string) => {
          const requestKey = keyOf('fullKyb 9');
          const verdict = { space: 'v1', id: '9', environmentId: v1.environmentId, requestKey, entityKey } as const;
          return ledger.runs.settleRow(run, 1, rowSettlement({ stage: 'record' }, { ids, verdicts: [verdict] }));
        };
        await answer(record(), 'before');
        expect(await shown()).toEqual([['9', 'before']]);
        await compare('');
        await answer(record(), 'not compared', '{}', NOW + 1);
        expect(await shown()).toEqual([['9', 'before']]);
        await compare('a question');
        expect(await shown()).toEqual([['9', 'before']]);
        const { id } = await ledger.review.record({
          space: 'v1',
          stage: 'record',
          environmentId: v1.environmentId,
          entityKey: 'a question',
          decision: 'confirm',
          candidateId: '9',
          decidedBy: 'ann',
          decidedAt: NOW,
          note: null,
          shown: [],
          summary: '',
        });
        expect(await shown()).toEqual([['9', 'not compared']]);
        await ledger.review.withdraw(id, 'ann', NOW, NO_GROUNDS);
        expect(await shown()).toEqual([['9', 'before']]);
      }),
    );

    test(
      'come in ID order, each once, with their first row, also without answers',
      onLedger(open, async (ledger) => {
        const rows = [{ v1: '9' }, { v1: '10', v2: 'b' }, {}, { v1: '9', v2: 'c' }, { v2: 'a' }];
        const { run, about, answer } = await runWith(ledger, rows);
        const seen = [candidate('10', { decision: 'confirmed', countryCode: 'FR' })];
        const ids = [
          { space: 'v1', id: '10', grade: null, matchedOn: null },
          { space: 'v2', id: 'b', grade: null, matchedOn: null },
        ] as const;
        await ledger.runs.settleRow(run, 2, rowSettlement({}, { ids, candidates: [{ space: 'v1', seen }] }));
        await answer(about('v1', '9', 'fullKyb', { stage: 'record' }), '9', '{"id":"9"}');
        const [ten, nine, ...others] = await subjectsOf(ledger, run, 'v1', ['fullKyb']);
        expect(others).toEqual([]);
        expect(ten).toEqual({
          id: '10',
          companyKey: 'v1-10',
          notes: [],
          row: 2,
          country: 'FR',
          name: 'Company 10',
          ids: { v1: '10', v2: 'b' },
          answers: [],
          withReplaced: expect.any(Function),
        });
        expect(nine).toMatchObject({ id: '9', row: 1, country: null, ids: { v1: '9' } });
        expect(nine?.answers).toMatchObject([
          { operation: 'fullKyb', params: { id: '9' }, fetchedAt: NOW, stage: 'record', body: Buffer.from('9') },
        ]);
        expect(said(await subjectsOf(ledger, run, 'v2', ['financial']))).toEqual([['a'], ['b'], ['c']]);
        expect(await subjectsOf(ledger, run, 'insights', ['insightsProfile'])).toEqual([]);
      }),
    );

    test(
      'have the newest answer to each request of the operations, from any buyer',
      onLedger(open, async (ledger) => {
        const { run, v2, about, answer } = await runWith(ledger, [{ v2: '5' }]);
        await openRun(ledger, 1, 'other');
        await answer(about('v2', '5', 'kybOfficers'), 'old', '{"page":1}');
        await answer(about('v2', '5', 'kybOfficers', { runId: null, row: null, stage: null }), 'by hand', '{"page":1}');
        const page2 = { requestKey: keyOf('page 2'), runId: 'other', row: 1 };
        await answer(about('v2', '5', 'kybOfficers', page2), 'of another run', '{"page":2}', NOW - 5);
        await answer(about('v2', '5', 'financial'), 'another operation');
        await answer(about('v2', '6', 'kybOfficers'), 'another company');
        await answer(about('v1', '5', 'kybOfficers', { requestKey: keyOf('v1') }), 'the same ID in another space');
        const elsewhere = { environmentId: await ledger.calls.environment('v2', 'elsewhere'), attemptId: v2.attemptId };
        await answer(about('v2', '5', 'kybOfficers', elsewhere), 'of another provider');
        const cut = settlement({ body: Buffer.from('not worth owning'), answer: null });
        await buy(ledger, about('v2', '5', 'kybOfficers', { requestKey: keyOf('cut') }), cut);
        await ledger.calls.recordUse(useOf(about('v2', '5', 'kybOfficers'), 'by hand'));
        const [five, ...others] = await subjectsOf(ledger, run, 'v2', ['kybOfficers', 'kybShareholders']);
        expect(others).toEqual([]);
        expect(five?.answers.map(({ body, stage, fetchedAt }) => [body.toString(), stage, fetchedAt])).toEqual([
          ['by hand', null, NOW],
          ['of another run', 'record', NOW - 5],
        ]);
      }),
    );

    test(
      'also have replaced answers, until the stage that asked again has finished',
      onLedger(open, async (ledger) => {
        const { run, about, answer } = await runWith(ledger, [{ v1: '5' }]);
        const buyPage = (page: number, body: string, settledAt: number, stage: string | null = 'record') =>
          answer(
            about('v1', '5', 'officersKyb', { requestKey: keyOf(`page ${page}`), stage }),
            body,
            `{"page":${page}}`,
            settledAt,
          );
        const replaced = () =>
          withSnapshot(ledger, run, async (snapshot) => {
            const all: string[] = [];
            for await (const { withReplaced } of snapshot.subjects('v1', ['officersKyb']))
              all.push(...(await withReplaced('officersKyb')).map(({ body }) => body.toString()));
            return all;
          });
        const settle = (status: 'done' | 'pending', updatedAt: number) =>
          ledger.runs.settleRow(
            run,
            1,
            rowSettlement({ stage: 'record', stages: { record: status }, updatedAt }, { ids }),
          );
        const ids = [{ space: 'v1', id: '5', grade: null, matchedOn: null }] as const;
        await buyPage(1, 'old 1', NOW);
        await buyPage(2, 'old 2', NOW + 1);
        await settle('done', NOW + 2);
        expect(await replaced()).toEqual([]);
        await buyPage(1, 'new 1', NOW + 10);
        expect(await replaced()).toEqual(['old 1', 'old 2', 'new 1']);
        await settle('pending', NOW + 11);
        expect(await replaced()).toEqual(['old 1', 'old 2', 'new 1']);
        await buyPage(2, 'new 2', NOW + 20);
        await settle('done', NOW + 21);
        expect(await replaced()).toEqual([]);
        await buyPage(1, 'by hand', NOW + 20, null);
        expect(await replaced()).toEqual(['old 1', 'old 2', 'new 1', 'new 2', 'by hand']);
      }),
    );

    test(
      'V2-4 a report is listed under its own ID, and under the company’s in the space of credit reports',
      onLedger(open, async (ledger) => {
        const rows = [
          { v1: '1', credit: 'GB-7', report: '700001' },
          { v1: '2', credit: 'GB-8' },
        ];
        const { run, about, answer } = await runWith(ledger, rows);
        await answer(about('credit', 'GB-7', 'creditReportGenerate'), 'generated');
        await answer(about('report', '700001', 'creditReportFetch'), 'fetched');
        await answer(about('credit', 'GB-8', 'creditReportGenerate'), 'of a company without a report ID');
        const subjects = await subjectsOf(ledger, run, 'report', ['creditReportFetch', 'creditReportGenerate']);
        expect(said(subjects)).toEqual([['700001', 'fetched', 'generated']]);
      }),
    );

    test(
      'answers without a company are the newest of each request that the run made for all rows',
      onLedger(open, async (ledger) => {
        const { run, v2, answer } = await runWith(ledger, [{}]);
        const page = (request: string, more: Partial<NewCall> = {}) =>
          call(v2, {
            runId: run,
            row: null,
            operation: 'creditReportHistory',
            meter: 'free',
            requestKey: keyOf(request),
            ...more,
          });
        await answer(page('1'), 'page 1, before');
        await buy(ledger, page('2'), settlement({ body: Buffer.from('page 2'), answer: null, settledAt: NOW + 1 }));
        await answer(page('1'), 'page 1');
        await buy(
          ledger,
          page('1'),
          settlement({ errorCode: 'UNEXPECTED_BODY', body: Buffer.from('<'), answer: null }),
        );
        await answer(page('3', { row: 1 }), 'of a row');
        await answer(page('4', { runId: null }), 'by hand');
        await answer(page('5', { operation: 'watchHistory' }), 'another operation');
        const lists = await withSnapshot(ledger, run, (snapshot) => collect(snapshot.lists(['creditReportHistory'])));
        expect(lists.map(({ body, fetchedAt }) => [body.toString(), fetchedAt])).toEqual([
          ['page 2', NOW + 1],
          ['page 1', NOW],
        ]);
      }),
    );
  });
}
