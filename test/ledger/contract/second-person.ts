import { describe, expect, test } from 'vitest';
import { itemIds } from '../../../src/api/all-operations.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import type { NewDecision } from '../../../src/ledger/review/review.js';
import { candidate, NO_GROUNDS, NOW, rowSettlement } from '../support.js';
import { type OpenLedger, onLedger } from './open.js';

const KEY = 'GB|number:1';
const ASKED = { code: 'NAME_ONLY', message: 'only the name is known' };

interface Desk {
  readonly run: string;
  readonly say: (by: string, more?: Partial<NewDecision>) => ReturnType<Ledger['review']['record']>;
  readonly row: () => ReturnType<Ledger['runs']['row']>;
  /** The remembered decision for a row of the list, with the policy or without. */
  readonly remembered: (secondPerson?: boolean) => ReturnType<Ledger['review']['decisionFor']>;
  readonly ask: () => Promise<void>;
  /** Runs the list again, with the policy or without. */
  readonly again: (secondPerson: boolean) => Promise<unknown>;
}

/** A list of one row that ended with a question. */
async function listAsking(ledger: Ledger, secondPerson: boolean, name = 'p', askedAt = NOW): Promise<Desk> {
  const environmentId = await ledger.calls.environment('v1', 'live');
  const run = {
    id: `run-${name}`,
    inputPath: '/in.csv',
    inputSha256: 'file',
    pipelineName: 'nightly',
    pipelineSha256: 'pipeline',
    settings: '{}',
    columns: ['name'],
  };
  const updatePortfolio = (wants: boolean, laid = false) =>
    ledger.portfolios.converge({
      name,
      providers: 'x',
      now: NOW,
      input: { key: 'key', path: '/in.csv', columns: run.columns },
      isLoaded: laid,
      limit: null,
      decideDue: () => ({ due: null, nextAt: null }),
      run,
      continuesIf: null,
      secondPerson: wants,
    });
  const line = { row: 1, line: 2, values: ['x'], fields: { name: 'x' }, problem: null, inputId: null };
  await ledger.portfolios.loadRows([{ ...line, company: 'x', says: '00', cells: '00' }], true);
  await updatePortfolio(secondPerson, true);
  const ask = async () => {
    const state = { outcome: 'needs_review', stage: 'confirm' } as const;
    const topic = { space: 'v1', stage: null, environmentId, entityKey: KEY, candidateId: null } as const;
    const questions = [{ ...topic, ...ASKED, answered: false, askedAt }];
    const candidates = [{ space: 'v1' as const, seen: [candidate('5'), candidate('6')] }];
    const told = { errorCode: ASKED.code, errorMessage: ASKED.message, matchGrade: 'ZAZAZ' };
    const asks = { stages: ['record'], spaces: ['v1'] as const, secondPerson };
    await ledger.runs.settleRow(run.id, 1, rowSettlement({ ...state, ...told }, { questions, candidates, asks }));
  };
  await ask();
  return {
    run: run.id,
    ask,
    say: (decidedBy, more = {}) =>
      ledger.review.record({
        space: 'v1',
        stage: null,
        environmentId,
        entityKey: KEY,
        decision: 'confirm',
        candidateId: more.decision === undefined ? '5' : null,
        decidedBy,
        decidedAt: NOW,
        note: null,
        shown: ['5', '6'],
        summary: 'x → 5',
        ...more,
      }),
    row: () => ledger.runs.row(run.id, 1),
    remembered: (wants = secondPerson) =>
      ledger.review.decisionFor(environmentId, { key: KEY }, { runId: run.id, secondPerson: wants }),
    again: updatePortfolio,
  };
}

const WAITING = { outcome: 'needs_review', errorCode: 'SECOND_PERSON' } as const;
const OPEN = { outcome: 'needs_review', errorCode: ASKED.code, errorMessage: ASKED.message } as const;
const none = { decision: 'none_of_these' } as const;

export function describeSecondPerson(open: OpenLedger): void {
  describe('a second person', () => {
    test(
      'frees the first person’s confirmation, and until then nothing is decided',
      onLedger(open, async (ledger) => {
        const { say, row, remembered, run } = await listAsking(ledger, true);
        expect(await say('anna', { note: 'rang them up' })).toMatchObject({ kind: 'held', released: [], against: [] });
        expect(await row()).toMatchObject({
          ...WAITING,
          errorMessage: 'waits for a second person: anna answered confirm',
        });
        expect(await ledger.review.anyDecision()).toBe(false);
        expect(await remembered()).toBeUndefined();
        expect(await ledger.review.questions([run])).toMatchObject([{ open: true, needsTwo: true }]);
        expect(await say(' Anna')).toMatchObject({ kind: 'said_before', released: [] });
        expect(await say('bob', { note: 'seen' })).toMatchObject({
          kind: 'in_force',
          with: 'anna',
          released: [{ runId: run, row: 1 }],
        });
        expect(await row()).toMatchObject({ outcome: 'pending' });
        expect(await remembered()).toMatchObject({ candidateId: '5', decidedBy: 'anna', note: 'rang them up / seen' });
        expect(await ledger.review.decisions()).toMatchObject([
          { decidedBy: 'anna', secondBy: 'bob', held: false, withdrawnAt: null },
        ]);
      }),
    );

    test(
      'with another answer leaves the question open until a third agrees with one of them',
      onLedger(open, async (ledger) => {
        const { say, row, remembered } = await listAsking(ledger, true);
        await say('anna');
        expect(await say('bob', none)).toMatchObject({ kind: 'held', against: [{ decidedBy: 'anna' }] });
        expect(await row()).toMatchObject({ ...WAITING, errorMessage: expect.stringMatching(/ anna .* bob /) });
        expect(await remembered()).toBeUndefined();
        expect(await say('carla', none)).toMatchObject({ kind: 'in_force', with: 'bob' });
        expect(await remembered()).toMatchObject({ decision: 'none_of_these', decidedBy: 'bob' });
        expect((await ledger.review.decisions()).filter(({ held }) => held)).toEqual([]);
      }),
    );

    test(
      'is shown with the batch and time of the first, and an earlier different answer is listed as withdrawn',
      onLedger(open, async (ledger) => {
        const { say } = await listAsking(ledger, true);
        await say('anna', { candidateId: '6' });
        await say('bob', { batch: 'R-1', decidedAt: NOW + 1 });
        await say('anna', { batch: 'R-2', decidedAt: NOW + 2 });
        expect(await ledger.review.decisions()).toMatchObject([
          { decidedBy: 'bob', secondBy: 'anna', firstBatch: 'R-1', firstAt: NOW + 1, batch: 'R-2', decidedAt: NOW + 2 },
          { decidedBy: 'anna', candidateId: '6', held: true, withdrawnBy: 'anna' },
        ]);
      }),
    );

    test(
      'is not needed for none_of_these and not_sure',
      onLedger(open, async (ledger) => {
        const { say, row } = await listAsking(ledger, true);
        expect(await say('anna', { decision: 'not_sure' })).toMatchObject({ kind: 'in_force', released: [] });
        expect(await row()).toMatchObject(OPEN);
        expect(await say('anna', none)).toMatchObject({ kind: 'in_force', with: null });
        expect(await row()).toMatchObject({ outcome: 'pending' });
      }),
    );

    test(
      'does not find a withdrawn first answer, whose number belongs to the decisions',
      onLedger(open, async (ledger) => {
        const { say, row } = await listAsking(ledger, true);
        const doubt = await say('anna', { decision: 'not_sure' });
        const first = await say('anna');
        expect(first.id).toBe(doubt.id + 1);
        expect(await ledger.review.withdraw(first.id, 'anna', NOW, NO_GROUNDS)).toEqual([]);
        expect(await ledger.review.withdraw(first.id, 'anna', NOW, NO_GROUNDS)).toBeUndefined();
        expect(await row()).toMatchObject(OPEN);
        expect(await say('bob')).toMatchObject({ kind: 'held', against: [] });
      }),
    );

    test(
      'withdrawn by that person leaves the first waiting, and withdrawn by anyone else ends both',
      onLedger(open, async (ledger) => {
        const { say, row, remembered } = await listAsking(ledger, true);
        await say('anna');
        const second = await say('bob');
        await ledger.review.withdraw(second.id, 'bob', NOW, NO_GROUNDS);
        expect(await remembered()).toBeUndefined();
        expect(await row()).toMatchObject(WAITING);
        const third = await say('carla');
        expect(third).toMatchObject({ kind: 'in_force', with: 'anna' });
        await ledger.review.withdraw(third.id, 'dora', NOW, NO_GROUNDS);
        expect(await row()).toMatchObject(OPEN);
        expect(await say('bob')).toMatchObject({ kind: 'held', against: [] });
      }),
    );

    test(
      'is still needed when the row has asked again',
      onLedger(open, async (ledger) => {
        const { say, row, ask } = await listAsking(ledger, true);
        await say('anna');
        await ask();
        expect(await row()).toMatchObject(WAITING);
      }),
    );

    test.each([
      ['the company that was confirmed', { kind: 'entity', id: '5' }],
      ['what is older', { kind: 'before', at: NOW + 1 }],
    ] as const)('is no longer needed when %s is erased', (_, request) =>
      onLedger(open, async (ledger) => {
        const { say, row } = await listAsking(ledger, true);
        await say('anna');
        expect(await ledger.housekeeping.erase(request, itemIds)).toMatchObject({ decisions: 1 });
        expect(await ledger.review.decisions()).toEqual([]);
        if (request.kind === 'entity') expect(await row()).toMatchObject(OPEN);
      })(),
    );

    test(
      'is needed while the list runs with the policy, and decisions in force stay',
      onLedger(open, async (ledger) => {
        const { say, again, remembered } = await listAsking(ledger, false);
        const alone = await say('anna');
        expect(alone).toMatchObject({ kind: 'in_force', with: null });
        await again(true);
        expect(await remembered(true)).toMatchObject({ candidateId: '5' });
        await ledger.review.withdraw(alone.id, 'anna', NOW, NO_GROUNDS);
        const held = await say('anna');
        expect(held).toMatchObject({ kind: 'held' });
        await again(false);
        expect(await say('anna')).toMatchObject({ kind: 'said_before' });
        await ledger.review.withdraw(held.id, 'anna', NOW, NO_GROUNDS);
        expect(await say('anna')).toMatchObject({ kind: 'in_force', with: null });
        expect(
          (await ledger.review.decisions()).filter(({ held, withdrawnAt }) => held && withdrawnAt === null),
        ).toEqual([]);
      }),
    );

    test(
      'is needed for questions of a run with the policy, also after a run without it in which nothing was due',
      onLedger(open, async (ledger) => {
        const { say, again, remembered, run } = await listAsking(ledger, true);
        await again(false);
        expect(await ledger.review.questions([run])).toMatchObject([{ open: true, needsTwo: true }]);
        expect(await say('anna')).toMatchObject({ kind: 'held' });
        await again(true);
        expect(await remembered()).toBeUndefined();
        expect(await say('bob')).toMatchObject({ kind: 'in_force', with: 'anna' });
      }),
    );

    test(
      'is still needed when the list that required one is gone: the first person cannot complete it for another list',
      onLedger(open, async (ledger) => {
        const { say, run } = await listAsking(ledger, true);
        const other = await listAsking(ledger, false, 'other');
        await say('anna');
        await ledger.housekeeping.dropRun(run);
        expect(await ledger.review.questions()).toMatchObject([{ runId: other.run, needsTwo: false }]);
        expect(await say('ANNA')).toMatchObject({ kind: 'said_before', released: [] });
        expect(await say('anna', { candidateId: '6' })).toMatchObject({ kind: 'held' });
        expect(await other.remembered()).toBeUndefined();
        expect(await say('bob', { candidateId: '6' })).toMatchObject({ kind: 'in_force', with: 'anna' });
      }),
    );

    test(
      'is needed in a list that requires one, also after one person confirmed it in another list',
      onLedger(open, async (ledger) => {
        const free = await listAsking(ledger, false, 'free', NOW - 1);
        expect(await free.say('anna')).toMatchObject({ kind: 'in_force', with: null });
        const { say, row, remembered, run } = await listAsking(ledger, true, 'p', NOW + 1);
        expect(await remembered()).toBeUndefined();
        expect(await free.remembered()).toMatchObject({ candidateId: '5' });
        expect(await row()).toMatchObject(WAITING);
        expect(await say('Anna')).toMatchObject({ kind: 'said_before' });
        const both = await say('bob');
        expect(both).toMatchObject({ kind: 'in_force', with: 'anna', released: [{ runId: run, row: 1 }] });
        expect(await remembered()).toMatchObject({ candidateId: '5', decidedBy: 'anna' });
        await ledger.review.withdraw(both.id, 'bob', NOW, NO_GROUNDS);
        expect(await remembered()).toBeUndefined();
        expect(await free.remembered()).toMatchObject({ candidateId: '5' });
      }),
    );

    test(
      'leaves the row its grade when the question is open again',
      onLedger(open, async (ledger) => {
        const { say, row } = await listAsking(ledger, true);
        await say('anna');
        const { id } = await say('bob');
        await ledger.review.withdraw(id, 'bob', NOW, NO_GROUNDS);
        expect(await row()).toMatchObject({ ...WAITING, matchGrade: 'ZAZAZ' });
      }),
    );
  });
}
