import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AppEnvironment, dataDirOf } from '../../src/app/environment.js';
import {
  answerQuestion,
  dismissRefusedAnswer,
  type OneAnswerOptions,
  ownAnswers,
  recordNotedAnswers,
  refusedAnswers,
  undoAnswer,
  withNotedAnswers,
} from '../../src/app/review/answer-question.js';
import { questionPage } from '../../src/app/review/question-pages.js';
import { AnswerInbox, type NotedAnswer, recordEntry, recordWaiting } from '../../src/review/answer-inbox.js';
import { openQuestions, type Question } from '../../src/review/questions.js';
import { ManualClock } from '../../src/util/clock.js';
import { isOnPostgres, ledgerEnvironment } from '../helpers/ledger-place.js';
import { NO_GROUNDS } from '../ledger/support.js';
import { type Desk, withDesk } from './with-ledger.js';

interface Page {
  readonly environment: AppEnvironment;
  readonly clock: ManualClock;
  readonly inbox: AnswerInbox;
  answer(question: Question, more?: Partial<OneAnswerOptions>): ReturnType<typeof answerQuestion>;
  /** Records as the process that has the ledger. */
  record(): ReturnType<typeof recordWaiting>;
}

/** Three questions, each with the candidates a and b. The desk has the ledger, as a run would. */
const onPage = (
  use: (page: Page, desk: Desk, questions: readonly [Question, Question, Question]) => Promise<void>,
  secondPerson = false,
) =>
  withDesk(
    async (desk) => {
      for (const row of [1, 2, 3]) await desk.ask({ row, key: `k${row}` });
      const [first, second, third] = await openQuestions(desk.review);
      if (!first || !second || !third) throw new Error('there are too few questions');
      const clock = new ManualClock(1_000);
      const env = { ...(await ledgerEnvironment(desk.folder)), KYBATCH_DATA_DIR: desk.folder, USER: 'anna' };
      const environment = { env, cwd: desk.folder, clock };
      const inbox = new AnswerInbox(desk.folder);
      const answer = (question: Question, more: Partial<OneAnswerOptions> = {}) =>
        answerQuestion(
          {
            question: question.id,
            basis: question.basis,
            shown: question.candidates.map(({ key }) => key),
            decision: 'confirm',
            candidate: more.decision === undefined ? (question.candidates[0]?.key ?? '') : '',
            ...more,
          },
          environment,
        );
      const record = () => recordWaiting(inbox, desk.review, NO_GROUNDS);
      await use({ environment, clock, inbox, answer, record }, desk, [first, second, third]);
    },
    { secondPerson },
  );

const onFile = test.skipIf(isOnPostgres);

onFile('an answer given while a run has the ledger waits, and its question is not asked again', () =>
  onPage(async ({ environment, answer, record }, desk, [first]) => {
    expect(await answer(first, { note: 'same board' })).toMatchObject({ state: 'noted', refusal: null });
    expect(await recordNotedAnswers({}, environment)).toBeNull();
    expect(await questionPage({ by: 'Anna' }, environment)).toMatchObject({ open: 2 });
    // A colleague may be the second person.
    expect(await questionPage({ by: 'bea' }, environment)).toMatchObject({ open: 3 });
    expect(await record()).toMatchObject({ recorded: 1, refused: [], released: [{ row: 1 }] });
    expect(await desk.remembered('k1')).toMatchObject({
      decision: 'confirm',
      candidateId: 'a',
      decidedBy: 'anna',
      decidedAt: 1_000,
      note: 'same board',
    });
    expect(await record()).toMatchObject({ recorded: 0 });
  }),
);

onFile('of two answers that one person gives at once, the second is refused', () =>
  onPage(async ({ answer, inbox }, _, [first]) => {
    const both = await Promise.all([answer(first), answer(first, { decision: 'not_sure' })]);
    expect(both).toMatchObject([{ state: 'noted' }, { state: 'refused', refusal: { code: 'ANSWERED_ALREADY' } }]);
    expect(inbox.waiting()).toHaveLength(1);
  }),
);

onFile('a run records answers at its start and at its end, and reports them', () =>
  onPage(async ({ environment, answer }, desk, [first, second]) => {
    await answer(first);
    const notes: string[] = [];
    const onNote = ({ code }: { readonly code: string }) => notes.push(code);
    await withNotedAnswers(
      {},
      { ...environment, ledger: desk.ledger, dataDir: dataDirOf({}, environment), onNote },
      async () => {
        expect(await desk.remembered('k1')).toBeDefined();
        await answer(second, { decision: 'none_of_these' });
        expect(await desk.remembered('k2')).toBeUndefined();
      },
    );
    expect(await desk.remembered('k2')).toMatchObject({ decision: 'none_of_these', shown: ['a', 'b'] });
    expect(notes).toEqual(['ANSWERS_RECORDED', 'ANSWERS_RECORDED']);
  }),
);

test('with a server an answer is recorded at once, and so are a corrected number and not_sure', () =>
  onPage(async ({ answer, record }, desk, [first, second, third]) => {
    const states = [
      await answer(first),
      await answer(second, { decision: 'none_of_these', correctedNumber: 'Köln HRB 4711' }),
      await answer(third, { decision: 'not_sure' }),
    ].map(({ state }) => state);
    expect(states).toEqual(Array(3).fill(isOnPostgres ? 'in_force' : 'noted'));
    await record();
    expect(await desk.remembered('k1')).toMatchObject({ candidateId: 'a' });
    expect(await desk.remembered('k2')).toMatchObject({
      decision: 'none_of_these',
      candidateId: 'number:Köln HRB 4711',
    });
    expect(await desk.remembered('k3')).toMatchObject({ decision: 'not_sure' });
    expect(await desk.outcome(3)).toBe('needs_review');
  }));

test.each([
  [
    'a corrected number that is the same',
    { decision: 'none_of_these', correctedNumber: '00123456' },
    'NUMBER_UNUSABLE',
  ],
  ['a confirmation without a candidate', { decision: 'confirm' }, 'CANDIDATE_MISSING'],
  ['a basis of another question', { basis: 'B-00000000' }, 'BASIS_DIFFERS'],
  ['an unknown question', { question: 'Q-0' }, 'QUESTION_NOT_FOUND'],
] as const)('%s is refused at once', (_, more, code) =>
  onPage(async ({ answer, inbox }, _desk, [first]) => {
    expect(await answer(first, more)).toMatchObject({ state: 'refused', refusal: { code } });
    expect(inbox.waiting()).toEqual([]);
  }),
);

onFile('an answer that the ledger refuses later is kept until a person has seen it', () =>
  onPage(async ({ environment, answer, record }, desk, [first]) => {
    await answer(first);
    // Meanwhile a colleague has decided differently.
    await answer(first, { decision: 'none_of_these', by: 'bea' });
    await desk.review.record({
      ...first,
      decision: 'none_of_these',
      candidateId: null,
      decidedBy: 'carl',
      decidedAt: 900,
      note: null,
      shown: ['a', 'b'],
      summary: '',
    });
    expect(await record()).toMatchObject({ recorded: 1, refused: [{ code: 'DECIDED_ALREADY' }] });
    const [refused] = refusedAnswers({}, environment);
    expect(refused).toMatchObject({ code: 'DECIDED_ALREADY', entry: { by: 'anna', question: first.id } });
    dismissRefusedAnswer({}, refused?.file ?? '', environment);
    expect(refusedAnswers({}, environment)).toEqual([]);
  }),
);

onFile('candidates that appeared after the answer are not answered by it', () =>
  onPage(async ({ answer, record }, desk, [first]) => {
    await answer(first, { decision: 'none_of_these' });
    await desk.ask({ row: 1, key: 'k1', at: 9, candidates: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
    expect(await record()).toMatchObject({ recorded: 1 });
    expect(await desk.remembered('k1')).toMatchObject({ shown: ['a', 'b'] });
  }),
);

test('a second person agrees under another name, and the first cannot answer twice', () =>
  onPage(async ({ answer, record }, desk, [first]) => {
    await answer(first);
    await record();
    expect(await desk.remembered('k1')).toBeUndefined();
    expect(await answer(first, { by: 'ANNA ' })).toMatchObject({ state: 'refused', refusal: { code: 'SAID_BEFORE' } });
    await answer(first, { by: 'bea' });
    await record();
    expect((await desk.review.decisions())[0]).toMatchObject({ decidedBy: 'anna', secondBy: 'bea' });
  }, true));

test('a person undoes their own last answers, recorded or not', () =>
  onPage(async ({ environment, clock, answer, record, inbox }, desk, [first, second, third]) => {
    await answer(first);
    await record();
    clock.advance(10);
    await answer(second, { by: 'bea' });
    await record();
    clock.advance(10);
    await answer(third);
    const own = await ownAnswers({}, environment);
    expect(own.map(({ question }) => question)).toEqual([third.id, first.id]);
    for (const { question, given } of own)
      expect(await undoAnswer({ question, given }, environment)).toEqual({ refusal: null });
    expect(await ownAnswers({}, environment)).toEqual([]);
    expect(inbox.waiting()).toHaveLength(isOnPostgres ? 0 : 1);
    await record();
    expect((await openQuestions(desk.review)).map(({ id }) => id)).toEqual([first.id, third.id]);
    expect(await desk.remembered('k2')).toMatchObject({ decidedBy: 'bea' });
  }));

test('an answer of a colleague cannot be undone', () =>
  onPage(async ({ environment, answer, record }, desk, [first]) => {
    const { given } = await answer(first, { by: 'bea' });
    await record();
    const undone = await undoAnswer({ question: first.id, given }, environment);
    const { refused } = await record();
    expect(isOnPostgres ? undone.refusal?.code : refused[0]?.code).toBe('UNDO_NOT_FOUND');
    expect(await desk.remembered('k1')).toMatchObject({ decidedBy: 'bea' });
  }));

test.each([false, true])('killed between any two steps, an answer counts once (second person: %s)', (secondPerson) =>
  onPage(async ({ inbox, record }, desk, [first]) => {
    const entry: NotedAnswer = {
      kind: 'answer',
      question: first.id,
      basis: first.basis,
      shown: first.candidates.map(({ key }) => key),
      decision: 'confirm',
      candidate: first.candidates[0]?.key ?? '',
      correctedNumber: '',
      note: '',
      by: 'anna',
      at: 1_000,
    };
    await inbox.put(entry);
    const [{ file } = { file: '' }] = inbox.waiting();
    // Killed after the file was taken.
    expect(inbox.take(file)).toBe(true);
    expect(await inbox.cancel(entry)).toBe(false);
    // Killed after the answer was recorded.
    await recordEntry(entry, desk.review, NO_GROUNDS);
    expect(await record()).toMatchObject({ recorded: 1, refused: [] });
    expect(inbox.waiting()).toEqual([]);
    expect(await desk.review.decisions()).toHaveLength(1);
    // Withdrawn before the next process found the file.
    await inbox.put(entry);
    await desk.review.withdraw((await desk.review.decisions())[0]?.id ?? 0, 'anna', 2_000, NO_GROUNDS);
    await record();
    expect((await desk.review.decisions()).map(({ withdrawnAt }) => withdrawnAt)).toEqual([2_000]);
  }, secondPerson),
);

test('a damaged file is refused and kept, and other files are left alone', () =>
  onPage(async ({ environment, inbox, record }, desk, [first]) => {
    await inbox.put({ kind: 'undo', question: first.id, given: 1, by: 'anna', at: 2 });
    const folder = join(desk.folder, 'answers');
    const [file = ''] = readdirSync(folder);
    writeFileSync(join(folder, file), '{"kind":');
    renameSync(join(folder, file), join(folder, file.replace('.json', '.taken')));
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    expect(await record()).toMatchObject({ refused: [{ code: 'ANSWER_UNREADABLE', entry: null }] });
    expect(refusedAnswers({}, environment)).toMatchObject([{ code: 'ANSWER_UNREADABLE' }]);
    expect(readdirSync(folder)).toContain('notes.txt');
  }));
