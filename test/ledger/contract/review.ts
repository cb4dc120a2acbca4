import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { NewDecision } from '../../../src/ledger/review/review.js';
import type { Checkpoint, NewQuestion, RowSettlement } from '../../../src/ledger/rows/runs.js';
import { candidate, NO_GROUNDS, NOW, openRun, rowSettlement } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const which = { space: 'v1', stage: null } as const;
const ofRecord = { space: 'v1', stage: 'record' } as const;

const question = (environmentId: number, more: Partial<NewQuestion> = {}): NewQuestion => ({
  ...which,
  environmentId,
  entityKey: 'GB|number:1',
  candidateId: null,
  code: 'NAME_ONLY',
  message: 'only the name is known',
  answered: false,
  askedAt: NOW,
  ...more,
});

const decision = (environmentId: number, more: Partial<NewDecision> = {}): NewDecision => ({
  ...which,
  environmentId,
  entityKey: 'GB|number:1',
  decision: 'confirm',
  candidateId: '5',
  decidedBy: 'ann',
  decidedAt: NOW,
  note: null,
  shown: ['5', '6'],
  summary: 'Acme → 5',
  ...more,
});

/** Ends a row with a question, or continues it with a remembered answer. */
async function ask(
  { runs }: Ledger,
  [run, row]: readonly [string, number],
  asked: NewQuestion,
  more: Partial<RowSettlement> & { readonly state?: Partial<Checkpoint> } = {},
): Promise<void> {
  const { code: errorCode, message: errorMessage } = asked;
  const state = asked.answered
    ? ({ outcome: 'complete', stage: 'record', stages: { record: 'done' } } as const)
    : ({ outcome: 'needs_review', stage: 'confirm', errorCode, errorMessage } as const);
  const seen = [candidate('5', { decision: 'needs_review' }), candidate('6', { decision: 'needs_review' })];
  const { state: other, ...rest } = more;
  const candidates = [{ space: 'v1' as const, seen }];
  await runs.settleRow(
    run,
    row,
    rowSettlement({ ...state, matchGrade: 'AAAAA', ...other }, { questions: [asked], candidates, ...rest }),
  );
}

const id = (space: 'v1' | 'v2', text: string, grade: string | null = null) =>
  ({ space, id: text, grade, matchedOn: null }) as const;

export function describeReview(open: OpenLedger): void {
  describe('review questions', () => {
    test(
      'come with their row and candidates, oldest run first',
      onLedger(open, async (ledger) => {
        const v1 = await ledger.calls.environment('v1', 'live');
        const newer = await openRun(ledger, 2, 'newer', NOW + 1);
        const older = await openRun(ledger, 2, 'older', NOW);
        await ask(ledger, [newer, 1], question(v1));
        await ask(ledger, [older, 2], question(v1, { ...ofRecord, entityKey: 'record|5', candidateId: '5' }));
        await ask(ledger, [older, 1], question(v1, { answered: true }));
        const all = await ledger.review.questions();
        expect(all.map(({ runId, row, open: isOpen }) => [runId, row, isOpen])).toEqual([
          ['older', 1, false],
          ['older', 2, true],
          ['newer', 1, true],
        ]);
        expect(all[1]).toMatchObject({
          ...question(v1, { ...ofRecord, entityKey: 'record|5', candidateId: '5' }),
          environment: 'live',
          line: 3,
          fields: {},
          // The only candidate that can be confirmed.
          candidates: [{ id: '5' }],
        });
        expect(all[2]?.candidates.map((one) => one.id)).toEqual(['5', '6']);
        expect((await ledger.review.questions([older])).map(({ row }) => row)).toEqual([1, 2]);
      }),
    );

    test(
      'are separate by topic, and a row has one open question',
      onLedger(open, async (ledger) => {
        const v1 = await ledger.calls.environment('v1', 'live');
        const v2 = await ledger.calls.environment('v2', 'live');
        const run = await openRun(ledger, 1);
        const topics = async () =>
          (await ledger.review.questions([run]))
            .map(({ space, stage, open: isOpen }) => `${space} ${stage} ${isOpen}`)
            .sort();
        await ask(ledger, [run, 1], question(v1));
        await ask(ledger, [run, 1], question(v1, { ...ofRecord, entityKey: 'record|5' }));
        expect(await topics()).toEqual(['v1 null false', 'v1 record true']);
        await ask(ledger, [run, 1], question(v1, { ...ofRecord, entityKey: 'record|5', answered: true }));
        await ask(ledger, [run, 1], question(v2, { space: 'credit', entityKey: 'credit|1' }));
        expect(await topics()).toEqual(['credit null true', 'v1 null false', 'v1 record false']);
      }),
    );
  });

  describe('decisions', () => {
    test(
      'a withdrawn confirmation is known for its own question alone',
      onLedger(open, async ({ calls, review }) => {
        const v1 = await calls.environment('v1', 'live');
        const { id } = await review.record(decision(v1));
        expect(await review.wasWithdrawn(v1, 'GB|number:1')).toBe(false);
        await review.withdraw(id, 'Ann', 5, NO_GROUNDS);
        expect(await review.wasWithdrawn(v1, 'GB|number:1')).toBe(true);
        expect(await review.wasWithdrawn(v1, 'GB|number:2')).toBe(false);
      }),
    );

    test(
      'the newest in force applies, for its own question in its own environment',
      onLedger(open, async ({ calls, review }) => {
        const v1 = await calls.environment('v1', 'live');
        const other = await calls.environment('v1', 'other');
        expect(await review.anyDecision()).toBe(false);
        expect(await review.decisionFor(v1, { key: 'GB|number:1' })).toBeUndefined();
        const first = await review.record(decision(v1, { note: 'rang them up' }));
        const { decidedBy, decidedAt } = decision(v1);
        const said = { entityKey: 'GB|number:1', decidedBy, decidedAt, shown: ['5', '6'] };
        const confirm = { decision: 'confirm', candidateId: '5', note: 'rang them up', ...said };
        expect(await review.anyDecision()).toBe(true);
        expect(await review.decisionFor(v1, { key: 'GB|number:1' })).toEqual(confirm);
        expect(await review.decisionFor(other, { key: 'GB|number:1' })).toBeUndefined();
        expect(await review.decisionFor(v1, { key: 'GB|number:2' })).toBeUndefined();
        const second = await review.record(decision(v1, { decision: 'none_of_these', candidateId: null }));
        expect(await review.decisionFor(v1, { key: 'GB|number:1' })).toMatchObject({ decision: 'none_of_these' });
        expect(await review.withdraw(second.id, 'bob', NOW + 5, NO_GROUNDS)).toEqual([]);
        expect(await review.withdraw(second.id, 'bob', NOW + 6, NO_GROUNDS)).toBeUndefined();
        expect(await review.withdraw(first.id + second.id, 'bob', NOW, NO_GROUNDS)).toBeUndefined();
        expect(await review.decisionFor(v1, { key: 'GB|number:1' })).toEqual(confirm);
        expect(await review.decisions()).toMatchObject([
          {
            ...decision(v1, { decision: 'none_of_these', candidateId: null }),
            id: second.id,
            withdrawnAt: NOW + 5,
            withdrawnBy: 'bob',
          },
          { ...decision(v1, { note: 'rang them up' }), id: first.id, withdrawnAt: null, withdrawnBy: null },
        ]);
      }),
    );

    test(
      'free the rows that wait for them in every run, and reopen these runs',
      onLedger(open, async (ledger) => {
        const { runs, review } = ledger;
        const v1 = await ledger.calls.environment('v1', 'live');
        const [first, second, third] = [
          await openRun(ledger, 4, 'first'),
          await openRun(ledger, 1, 'second'),
          await openRun(ledger, 1, 'third'),
        ];
        await ask(ledger, [first, 2], question(v1));
        await ask(ledger, [first, 3], question(v1, { entityKey: 'GB|number:2' }));
        await ask(ledger, [first, 4], question(v1, { answered: true }));
        await ask(ledger, [second, 1], question(v1));
        await ask(ledger, [third, 1], question(await ledger.calls.environment('v1', 'other')));
        for (const run of [first, second, third]) await runs.finish(run, NOW);
        expect((await review.record(decision(v1, { decision: 'not_sure', candidateId: null }))).released).toEqual([]);
        expect(await runs.find(first)).toMatchObject({ state: 'finished' });
        const { released } = await review.record(decision(v1));
        expect(released).toHaveLength(2);
        expect(released).toEqual(
          expect.arrayContaining([
            { runId: first, row: 2 },
            { runId: second, row: 1 },
          ]),
        );
        expect(await runs.row(first, 2)).toMatchObject({ outcome: 'pending', errorCode: null, errorMessage: null });
        expect(await runs.row(first, 3)).toMatchObject({ outcome: 'needs_review' });
        expect(await runs.row(first, 4)).toMatchObject({ outcome: 'complete' });
        expect(await runs.row(third, 1)).toMatchObject({ outcome: 'needs_review' });
        expect(await runs.pendingRows(first)).toEqual([1, 2]);
        for (const [run, state] of [
          [first, 'open'],
          [second, 'open'],
          [third, 'finished'],
        ] as const)
          expect(await runs.find(run)).toMatchObject({ state });
      }),
    );

    test(
      'leave matches in other spaces as they are',
      onLedger(open, async (ledger) => {
        const { runs, review } = ledger;
        const v1 = await ledger.calls.environment('v1', 'live');
        const v2 = await ledger.calls.environment('v2', 'live');
        const run = await openRun(ledger, 2);
        const both = { ids: [id('v1', '5', 'AAAAA'), id('v2', '9')], state: { matchedOn: 'vat_number' } };
        await ask(ledger, [run, 1], question(v1, { ...ofRecord, entityKey: 'record|5' }), both);
        await ask(ledger, [run, 2], question(v2, { space: 'v2' }), both);
        await review.record(decision(v1, { ...ofRecord, entityKey: 'record|5' }));
        await review.record(decision(v2, { space: 'v2' }));
        // The first was never asked which company it means.
        expect(await runs.row(run, 1)).toMatchObject({ ids: [id('v1', '5', 'AAAAA'), id('v2', '9')] });
        expect(await runs.row(run, 2)).toMatchObject({
          ids: [id('v1', '5', 'AAAAA')],
          matchGrade: 'AAAAA',
          matchedOn: 'vat_number',
        });
      }),
    );

    test(
      'when withdrawn, send rows back: rows based on them start over, rows not processed since ask again',
      onLedger(open, async (ledger) => {
        const { runs, review } = ledger;
        const v1 = await ledger.calls.environment('v1', 'live');
        const run = await openRun(ledger, 3);
        const done = await openRun(ledger, 1, 'done');
        await ask(ledger, [run, 1], question(v1));
        await ask(ledger, [run, 3], question(v1, { entityKey: 'GB|number:2' }));
        const made = await review.record(decision(v1));
        for (const place of [
          [run, 2],
          [done, 1],
        ] as const)
          await ask(ledger, place, question(v1, { answered: true }), { ids: [id('v1', '5'), id('v2', '9')] });
        await runs.finish(done, NOW);
        const back = await review.withdraw(made.id, 'bob', NOW, NO_GROUNDS);
        expect(back).toHaveLength(3);
        const places = [
          [run, 1],
          [run, 2],
          [done, 1],
        ] as const;
        expect(back).toEqual(expect.arrayContaining(places.map(([runId, row]) => ({ runId, row }))));
        expect(await runs.row(run, 1)).toMatchObject({ outcome: 'needs_review', errorCode: 'NAME_ONLY' });
        for (const [runId, row] of places.slice(1))
          expect(await runs.row(runId, row)).toMatchObject({
            outcome: 'pending',
            stage: null,
            stages: {},
            ids: [],
            matchGrade: null,
          });
        expect(await runs.row(run, 3)).toMatchObject({ outcome: 'needs_review' });
        expect(await runs.find(done)).toMatchObject({ state: 'open', finishedAt: null });
      }),
    );

    test(
      'when withdrawn while an older one is in force, leave its rows to that one',
      onLedger(open, async (ledger) => {
        const v1 = await ledger.calls.environment('v1', 'live');
        const run = await openRun(ledger, 1);
        await ask(ledger, [run, 1], question(v1));
        await ledger.review.record(decision(v1));
        const { id: newer } = await ledger.review.record(decision(v1, { decision: 'none_of_these' }));
        expect(await ledger.review.withdraw(newer, 'bob', NOW, NO_GROUNDS)).toEqual([]);
        expect(await ledger.runs.row(run, 1)).toMatchObject({ outcome: 'pending' });
      }),
    );
  });
}
