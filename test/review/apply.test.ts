import { describe, expect, test } from 'vitest';
import { correctedNumber } from '../../src/domain/entity-key.js';
import { applySheet } from '../../src/review/apply.js';
import { basisOf, choiceKey, openQuestions, type Question } from '../../src/review/questions.js';
import { readSheet, type SheetLine } from '../../src/review/read-sheet.js';
import { long } from '../helpers/long.js';
import { NO_GROUNDS } from '../ledger/support.js';
import { type Desk, withDesk } from './with-ledger.js';

const NOW = 1_000;

const line = (question: Question | undefined, change: Partial<SheetLine> = {}): SheetLine => ({
  line: 2,
  question: question?.id ?? '',
  candidate: question?.candidates[0]?.key ?? '',
  decision: 'confirm',
  correctedNumber: '',
  decidedBy: '',
  note: '',
  basis: question?.basis ?? '',
  hasEarlier: true,
  told: new Map(),
  ...change,
});

const apply = ({ review }: Desk, ...lines: SheetLine[]) => applySheet(lines, review, 'anna', NOW);

async function oneQuestion(desk: Desk): Promise<Question> {
  await desk.ask({ row: 1, key: 'k' });
  const [question] = await openQuestions(desk.review);
  if (question === undefined) throw new Error('there is no question');
  return question;
}

describe('decisions', () => {
  test('a yes confirms an only candidate, and is refused if there are several', () =>
    withDesk(async (desk) => {
      await desk.ask({ row: 1, key: 'one', candidates: [{ id: 'a' }] });
      await desk.ask({ row: 2, key: 'two', candidates: [{ id: 'b' }, { id: 'c' }] });
      const [one, two] = await openQuestions(desk.review);
      const applied = await apply(desk, line(one, { decision: 'Ja' }), line(two, { line: 3, decision: 'x' }));
      expect(applied).toMatchObject({ applied: 1, refused: [{ line: 3, code: 'DECISION_UNKNOWN' }] });
      expect(await desk.remembered('one')).toMatchObject({ decision: 'confirm', candidateId: 'a' });
    }));

  test.each(['No', 'nein', 'NON'])('%s refuses an only candidate, and is refused itself if there are several', (no) =>
    withDesk(async (desk) => {
      await desk.ask({ row: 1, key: 'one', candidates: [{ id: 'a' }] });
      await desk.ask({ row: 2, key: 'two', candidates: [{ id: 'b' }, { id: 'c' }] });
      const [one, two] = await openQuestions(desk.review);
      const applied = await apply(desk, line(one, { decision: no }), line(two, { line: 3, decision: no }));
      expect(applied).toMatchObject({ applied: 1, refused: [{ line: 3, code: 'DECISION_UNKNOWN' }] });
      expect(await desk.remembered('one')).toMatchObject({ decision: 'none_of_these' });
    }),
  );

  test('a confirmed candidate is stored with person, time and note, and its row continues', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      const applied = await apply(desk, line(question, { decidedBy: 'Bea', note: 'same board' }));
      expect(applied).toMatchObject({ applied: 1, refused: [], released: [{ runId: 'first', row: 1 }] });
      expect(await desk.remembered('k')).toEqual({
        entityKey: 'k',
        decision: 'confirm',
        candidateId: 'a',
        decidedBy: 'Bea',
        decidedAt: NOW,
        note: 'same board',
        shown: ['a', 'b'],
      });
      expect(await desk.ledger.runs.row('first', 1)).toMatchObject({
        outcome: 'pending',
        errorCode: null,
        matchGrade: 'AFZAZ',
      });
      expect(await desk.ledger.runs.find('first')).toMatchObject({ state: 'open', finishedAt: null });
      expect(await desk.ledger.runs.find('second')).toMatchObject({ state: 'finished' });
    }));

  test('two confirmed candidates are named before the missing note of one', () =>
    withDesk(async (desk) => {
      const candidates = [
        { id: 'a', matchGrade: 'AAZAZ' },
        { id: 'b', matchGrade: 'ZFZAZ' },
      ];
      await desk.ask({ row: 1, key: 'k', candidates });
      const [question] = await openQuestions(desk.review);
      const both = question?.candidates.map(({ key }, at) => line(question, { line: at + 2, candidate: key })) ?? [];
      const code = 'SEVERAL_CONFIRMED';
      expect(await apply(desk, ...both)).toMatchObject({ refused: [{ code }, { code }] });
      const blank = both.map((one) => ({ ...one, decision: '' }));
      expect(await apply(desk, ...blank)).toMatchObject({ blank: 2, unanswered: 1 });
    }));

  test.each([
    ['the search', 'v1', 'ZFZAZ'],
    ['the search', 'v1', 'BFZAZ'],
    ['the search of credit reports', 'report', 'BFZAZ'],
  ] as const)(
    'a candidate of %s that looks like another company is confirmed with a note only',
    (_, space, matchGrade) =>
      withDesk(async (desk) => {
        await desk.ask({ row: 1, key: 'k', space, candidates: [{ id: 'a', matchGrade }] });
        const [question] = await openQuestions(desk.review);
        expect(await apply(desk, line(question))).toMatchObject({ applied: 0, refused: [{ code: 'NOTE_NEEDED' }] });
        expect(await apply(desk, line(question, { note: 'renamed in May' }))).toMatchObject({
          applied: 1,
          refused: [],
        });
        expect(await apply(desk, line(question))).toMatchObject({ unchanged: 1, refused: [] });
      }),
  );

  test('none_of_these releases the row, and not_sure leaves it open at the end of the list', () =>
    withDesk(async (desk) => {
      for (const row of [1, 2, 3]) await desk.ask({ row, key: `k${row}` });
      const [first, second] = await openQuestions(desk.review);
      const applied = await apply(
        desk,
        line(first, { decision: 'not sure', note: 'asked the client' }),
        line(second, { decision: 'None_Of_These', line: 4 }),
      );
      expect(applied).toMatchObject({ applied: 2, refused: [], released: [{ row: 2 }] });
      expect([await desk.outcome(1), await desk.outcome(2)]).toEqual(['needs_review', 'pending']);
      const open = await openQuestions(desk.review);
      expect(open.map(({ rows }) => rows[0]?.row)).toEqual([3, 1]);
      expect(open[1]?.decision).toMatchObject({ decision: 'not_sure', decidedBy: 'anna', note: 'asked the client' });
      await expect(apply(desk, line(open[1]))).resolves.toMatchObject({ applied: 1 });
    }));

  test('one answer decides every row with the question, in all runs', () =>
    withDesk(async (desk) => {
      await desk.ask({ row: 1, key: 'k' });
      await desk.ask({ row: 4, key: 'k' });
      await desk.ask({ run: 'second', row: 2, key: 'k' });
      await desk.ask({ run: 'second', row: 3, key: 'other' });
      const questions = await openQuestions(desk.review);
      expect(questions.map(({ rows }) => rows.length)).toEqual([3, 1]);
      const { released } = await apply(desk, line(questions[0]));
      expect(released).toHaveLength(3);
      expect(await desk.outcome(2, 'second')).toBe('pending');
      expect(await desk.outcome(3, 'second')).toBe('needs_review');
    }));

  test('applying the lines again changes nothing', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      await apply(desk, line(question));
      expect(await apply(desk, line(question), line(question, { line: 3, decision: '' }))).toEqual({
        applied: 0,
        notSure: 0,
        held: 0,
        disagreeing: 0,
        unseen: 0,
        later: 0,
        unchanged: 1,
        notSureBefore: 0,
        blank: 1,
        unanswered: 0,
        refused: [],
        released: [],
        signedAs: null,
      });
      expect(await desk.review.decisions()).toHaveLength(1);
    }));

  test.each([
    ['Bea', null],
    ['', 'anna'],
  ])('a line signed "%s" is signed by the user only without a name', (decidedBy, signedAs) =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      expect(await apply(desk, line(question, { decidedBy }))).toMatchObject({ applied: 1, signedAs });
    }),
  );

  test('a question that returns with other candidates can be answered again', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      await apply(desk, line(question, { decision: 'none_of_these' }));
      await desk.ask({ row: 1, key: 'k', candidates: [{ id: 'a' }, { id: 'new' }], at: 6 });
      const [again] = await openQuestions(desk.review);
      expect(again).toMatchObject({ id: question.id, decision: { decision: 'none_of_these' } });
      // The old sheet counts for the candidates it shows, and not for the new one.
      const other = { line: 3, candidate: choiceKey('b'), told: new Map([['candidate_id', 'b']] as const) };
      const old = [line(question), line(question, other)];
      expect(await apply(desk, ...old.map((one) => ({ ...one, decision: 'none_of_these' })))).toMatchObject({
        applied: 0,
        unchanged: 1,
        notSureBefore: 0,
        refused: [],
      });
      expect(await desk.outcome(1)).toBe('needs_review');
      const applied = await apply(desk, line(again, { decision: 'none_of_these' }));
      expect(applied).toMatchObject({ applied: 1, released: [{ row: 1 }] });
      expect(await desk.remembered('k')).toMatchObject({ shown: ['a', 'new'] });
    }));

  describe('a sheet stays valid when another run has the question with other candidates', () => {
    const wide = { row: 1, key: 'k', candidates: [{ id: 'a' }, { id: 'b' }] };
    const narrow = { run: 'second', row: 1, key: 'k', candidates: [{ id: 'b' }, { id: 'c' }] };
    const orders = [
      ['fewer', wide, narrow, 'a', ['a', 'b']],
      ['others', narrow, wide, 'c', ['b', 'c']],
    ] as const;

    test.each(orders)('%s: a shown candidate can be confirmed', (_, first, second, chosen, shown) =>
      withDesk(async (desk) => {
        await desk.ask({ ...first, at: 5 });
        const [exported] = await openQuestions(desk.review);
        await desk.ask({ ...second, at: 6 });
        const lines = exported?.candidates.map(({ id, key }, index) =>
          line(exported, { line: index + 2, candidate: key, decision: id === chosen ? 'confirm' : '' }),
        );
        expect(await apply(desk, ...(lines ?? []))).toMatchObject({
          applied: 1,
          unseen: 1,
          refused: [],
          released: [{ runId: 'first' }, { runId: 'second' }],
        });
        const remembered = await desk.remembered('k');
        expect(remembered).toMatchObject({ decision: 'confirm', candidateId: chosen });
        expect(remembered?.shown.toSorted()).toEqual(shown);
      }),
    );

    test('none_of_these counts for the shown candidates', () =>
      withDesk(async (desk) => {
        await desk.ask({ ...narrow, at: 5 });
        const [exported] = await openQuestions(desk.review);
        await desk.ask({ ...wide, at: 6 });
        const lines = exported?.candidates.map(({ key }) =>
          line(exported, { candidate: key, decision: 'none_of_these' }),
        );
        expect(await apply(desk, ...(lines ?? []))).toMatchObject({ applied: 1, unseen: 1, refused: [] });
        expect((await desk.remembered('k'))?.shown.toSorted()).toEqual(['b', 'c']);
      }));

    test('the question shows the candidates of each run, the newest first', () =>
      withDesk(async (desk) => {
        await desk.ask({ ...wide, at: 5 });
        await desk.ask({ ...narrow, at: 6 });
        const [question] = await openQuestions(desk.review);
        expect(question?.candidates.map(({ id }) => id)).toEqual(['b', 'c', 'a']);
      }));
  });

  test('a corrected number is stored with its person, and the row continues', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      const corrected = line(question, { decision: '', correctedNumber: ' Köln HRB 445566', decidedBy: 'Bea' });
      expect(await apply(desk, corrected)).toMatchObject({ applied: 1, refused: [], released: [{ row: 1 }] });
      const decision = await desk.remembered('k');
      expect(decision).toMatchObject({ decision: 'none_of_these', decidedBy: 'Bea' });
      expect(decision && correctedNumber(decision)).toBe('Köln HRB 445566');
      expect(await apply(desk, corrected)).toMatchObject({ applied: 0, unchanged: 1, refused: [] });
      const other = await apply(desk, { ...corrected, correctedNumber: 'Köln HRB 445567' });
      expect(other).toMatchObject({ applied: 0, refused: [{ line: 2, next: { kind: 'withdraw' } }] });
    }));

  test('the line of a candidate may occur twice', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      expect(await apply(desk, line(question), line(question, { line: 3 }))).toMatchObject({ applied: 1, refused: [] });
    }));

  const threeNames = (question: Question) =>
    ['ann', 'bob', 'carla'].map((decidedBy, index) => line(question, { line: index + 2, decidedBy }));

  test('two people agree on one sheet if two must, and a later equal answer is reported as known', () =>
    withDesk(
      async (desk) => {
        const question = await oneQuestion(desk);
        const applied = await apply(desk, ...threeNames(question));
        expect(applied).toMatchObject({ applied: 1, held: 0, unchanged: 1, refused: [], released: [{ row: 1 }] });
        expect((await desk.review.decisions()).filter(({ held }) => held)).toEqual([]);
        expect(await desk.review.decisions()).toMatchObject([{ decidedBy: 'ann', secondBy: 'bob' }]);
        expect(await apply(desk, ...threeNames(question))).toMatchObject({ applied: 0, unchanged: 3 });
      },
      { secondPerson: true },
    ));

  test('if one person is enough, equal answers of others are counted', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      expect(await apply(desk, ...threeNames(question))).toMatchObject({ applied: 1, unchanged: 2, refused: [] });
      expect(await desk.review.decisions()).toMatchObject([{ decidedBy: 'ann', secondBy: null }]);
    }));
});

long('a refused line keeps the other answers to its question from counting', () =>
  withDesk(async (desk) => {
    const question = await oneQuestion(desk);
    const other = question.candidates[1]?.key ?? '';
    const applied = await apply(desk, line(question), line(question, { line: 3, candidate: other, decision: 'yes' }));
    expect(applied).toMatchObject({ applied: 0, released: [] });
    expect(applied.refused).toMatchObject([
      { line: 2, code: 'OTHER_LINE_REFUSED' },
      { line: 3, code: 'DECISION_UNKNOWN' },
    ]);
    expect(await desk.review.decisions()).toEqual([]);
  }),
);

describe('refused lines', () => {
  const refused: readonly [string, (question: Question) => SheetLine[], number[], string][] = [
    ['an unknown word', (q) => [line(q, { decision: 'yes' })], [2], 'DECISION_UNKNOWN'],
    ['an unknown question', (q) => [line(q, { question: 'Q-0000000000' })], [2], 'QUESTION_NOT_FOUND'],
    ["nobody's name", (q) => [line(q, { decidedBy: '—\u200b.' })], [2], 'NAME_INVALID'],
    ['no question', (q) => [line(q, { question: '' })], [2], 'QUESTION_MISSING'],
    ['an unknown candidate', (q) => [line(q, { candidate: 'C-00000000' })], [2], 'CANDIDATE_NOT_FOUND'],
    ['no candidate', (q) => [line(q, { candidate: '' })], [2], 'CANDIDATE_MISSING'],
    ['a broken line', (q) => [line(q, { problem: 'its quotes are broken' })], [2], 'LINE_UNREADABLE'],
    [
      'two confirmed candidates',
      (q) => [line(q), line(q, { line: 3, candidate: q.candidates[1]?.key ?? '' })],
      [2, 3],
      'SEVERAL_CONFIRMED',
    ],
    [
      'a corrected number beside a confirmation',
      (q) => [line(q, { correctedNumber: '12345678' })],
      [2],
      'ANSWERED_TWICE',
    ],
    ...['n/a', 'the same as above', 'x'.repeat(300)].map((correctedNumber): (typeof refused)[number] => [
      `a corrected number that is none: ${correctedNumber.slice(0, 20)}`,
      (q) => [line(q, { decision: '', correctedNumber })],
      [2],
      'NUMBER_UNUSABLE',
    ]),
    [
      'a confirmation beside none_of_these',
      (q) => [line(q), line(q, { line: 3, decision: 'none_of_these' })],
      [2, 3],
      'LINES_DISAGREE',
    ],
    [
      'a candidate of an old sheet that is found no more',
      (q) => [
        line(q, { basis: basisOf(['gone']), candidate: choiceKey('gone'), told: new Map([['candidate_id', 'gone']]) }),
      ],
      [2],
      'CANDIDATE_GONE',
    ],
    ...['xxxx', 'B-00000000', 'b-1', basisOf(['a', 'c']), ''].map((basis): (typeof refused)[number] => [
      `the basis "${basis}"`,
      (q) => [line(q, { basis })],
      [2],
      basis === '' ? 'BASIS_MISSING' : 'BASIS_DIFFERS',
    ]),
  ];

  long.each(refused)('%s', (_, lines, numbers, code) =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      await desk.ask({ row: 2, key: 'good' });
      const good = (await openQuestions(desk.review))[1];
      const applied = await apply(desk, ...lines(question), line(good, { line: 9 }));
      expect(applied.refused.map((refusal) => refusal.line)).toEqual(numbers);
      for (const refusal of applied.refused) expect(refusal.code).toBe(code);
      expect(applied).toMatchObject({ applied: 1, released: [{ row: 2 }] });
      expect(await desk.outcome(1)).toBe('needs_review');
    }),
  );

  test('another answer to a decided question', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      await apply(desk, line(question));
      const { applied, refused: lines } = await apply(desk, line(question, { decision: 'none_of_these' }));
      expect(applied).toBe(0);
      expect(lines[0]).toMatchObject({
        code: 'DECIDED_ALREADY',
        problem: expect.stringMatching(/: confirm, .* anna .* 1970-01-01$/),
      });
      expect(lines[0]?.next).toEqual({ kind: 'withdraw', decision: 1 });
    }));

  describe('a file with the name of an unsure person', () => {
    const decided = (asked: Question, change: Partial<SheetLine> = {}) =>
      line(asked, { decidedBy: 'ann', hasEarlier: false, ...change });
    const unsure = async (desk: Desk) => {
      const question = await oneQuestion(desk);
      await applySheet([line(question, { decision: 'not_sure' })], desk.review, 'ann', NOW);
      return question;
    };

    test("does not sign another person's decision with that name, even if the doubt was withdrawn", () =>
      withDesk(async (desk) => {
        const question = await unsure(desk);
        const first = await applySheet([decided(question)], desk.review, 'bob', NOW);
        expect(first).toMatchObject({ applied: 0, refused: [{ line: 2, code: 'NAME_FILLED_IN' }] });
        expect(first.refused[0]?.problem).toMatch(/ ann\b.* bob\b.* --by ann$/);
        await desk.review.withdraw(1, 'ann', NOW, NO_GROUNDS);
        expect(await applySheet([decided(question)], desk.review, 'bob', NOW)).toMatchObject({ applied: 0 });
        const emptied = decided(question, { decidedBy: '' });
        expect(await applySheet([emptied], desk.review, 'bob', NOW)).toMatchObject({ applied: 1, refused: [] });
        expect(await desk.remembered('k')).toMatchObject({ decision: 'confirm', decidedBy: 'bob' });
      }));

    test.each([
      ['the unsure person applies it', 'Ann', {}],
      ['another name was written over it', 'bob', { decidedBy: 'carla' }],
      ['the file had filled in nothing', 'bob', { hasEarlier: true }],
    ])('counts if %s', (_, by, change) =>
      withDesk(async (desk) => {
        const question = await unsure(desk);
        expect(await applySheet([decided(question, change)], desk.review, by, NOW)).toMatchObject({ applied: 1 });
      }),
    );

    test('reports nothing new while not_sure is unchanged', () =>
      withDesk(async (desk) => {
        const same = decided(await unsure(desk), { decision: 'not_sure' });
        expect(await applySheet([same], desk.review, 'bob', NOW)).toMatchObject({ unchanged: 1, refused: [] });
      }));
  });

  test('a file that is no review sheet', () => {
    expect(() => readSheet(['name', 'decision'], [])).toThrow(
      expect.objectContaining({
        code: 'NOT_A_REVIEW_SHEET',
        message: expect.stringContaining('question, candidate'),
      }),
    );
  });
});

describe('withdrawing', () => {
  test('before the row continued, its question is open again', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      await apply(desk, line(question));
      expect(await desk.review.withdraw(1, 'carl', NOW + 1, NO_GROUNDS)).toEqual([{ runId: 'first', row: 1 }]);
      expect(await desk.remembered('k')).toBeUndefined();
      expect(await desk.ledger.runs.row('first', 1)).toMatchObject({
        outcome: 'needs_review',
        errorCode: 'NAME_CONFLICT',
      });
      expect(await desk.review.decisions()).toMatchObject([{ id: 1, withdrawnAt: NOW + 1, withdrawnBy: 'carl' }]);
      expect(await desk.review.withdraw(1, 'carl', NOW + 2, NO_GROUNDS)).toBeUndefined();
      expect(await apply(desk, line(question, { decision: 'none_of_these' }))).toMatchObject({ applied: 1 });
    }));

  test('rows that depend on it start over, also those that never had to ask', () =>
    withDesk(async (desk) => {
      const question = await oneQuestion(desk);
      await apply(desk, line(question));
      const [asked] = await desk.review.questions(['first']);
      if (asked === undefined) throw new Error('there is no question');
      for (const run of ['first', 'second']) {
        await desk.ledger.runs.finish(run, 20);
        const row = await desk.ledger.runs.row(run, 1);
        if (row === undefined) throw new Error('there is no row');
        await desk.ledger.runs.settleRow(run, 1, {
          checkpoint: {
            ...row,
            outcome: 'complete',
            stages: { record: 'done' },
            matchedOn: 'review',
            updatedAt: NOW,
          },
          ids: [{ space: 'v1', id: 'a', grade: null, matchedOn: 'review' }],
          candidates: [],
          questions: [{ ...asked, answered: true }],
          errors: [],
          uses: [],
          asked: [],
          ended: [],
          verdicts: [],
        });
      }
      expect(await desk.review.withdraw(1, 'carl', NOW, NO_GROUNDS)).toHaveLength(2);
      for (const run of ['first', 'second']) {
        const row = await desk.ledger.runs.row(run, 1);
        expect(row).toMatchObject({ outcome: 'pending', stages: {}, ids: [], matchedOn: null });
        expect(await desk.ledger.runs.find(run)).toMatchObject({ state: 'open' });
      }
    }));
});

test('if two people must agree, a sheet only proposes, and repeating one name is refused', () =>
  withDesk(
    async (desk) => {
      const question = await oneQuestion(desk);
      expect(await apply(desk, line(question))).toMatchObject({ applied: 1, held: 1, disagreeing: 0, released: [] });
      const [asked] = await openQuestions(desk.review);
      const said = { decidedBy: 'ANNA' };
      const again = await apply(desk, line(asked, said));
      expect(again).toMatchObject({ applied: 0, refused: [{ line: 2, code: 'SAID_BEFORE' }] });
      const otherwise = { decision: 'none_of_these', candidate: '', decidedBy: 'bob' };
      expect(await apply(desk, line(asked, otherwise))).toMatchObject({ applied: 1, held: 1, disagreeing: 1 });
      const third = { decidedBy: 'carla' };
      expect(await apply(desk, line(asked, third))).toMatchObject({ applied: 1, held: 0, released: [{ row: 1 }] });
    },
    { secondPerson: true },
  ));

describe("if two people must agree, an unsigned line does not complete another person's answer", () => {
  test('also on the sheet that the first person applied', () =>
    withDesk(
      async (desk) => {
        const question = await oneQuestion(desk);
        await applySheet([line(question)], desk.review, 'ann', NOW);
        const second = await applySheet([line(question)], desk.review, 'bob', NOW);
        expect(second).toMatchObject({ applied: 0, unchanged: 0, released: [] });
        expect(second.refused).toMatchObject([{ line: 2, question: question.id, code: 'NOT_SIGNED' }]);
        expect(second.refused[0]?.problem).toMatch(/^ann /);
        expect(await desk.review.decisions()).toMatchObject([{ decidedBy: 'ann', held: true }]);
        // One of two equal lines is enough.
        const signed = [line(question), line(question, { line: 3, decidedBy: 'Bob' })];
        expect(await applySheet(signed, desk.review, 'bob', NOW)).toMatchObject({ applied: 1, held: 0, refused: [] });
        expect(await desk.review.decisions()).toMatchObject([{ decidedBy: 'ann', secondBy: 'bob' }]);
      },
      { secondPerson: true },
    ));

  test('applying it with --by signs it', () =>
    withDesk(
      async (desk) => {
        const question = await oneQuestion(desk);
        await applySheet([line(question)], desk.review, 'ann', NOW, true);
        expect(await applySheet([line(question)], desk.review, 'bob', NOW, true)).toMatchObject({
          applied: 1,
          refused: [],
        });
        expect(await desk.review.decisions()).toMatchObject([{ decidedBy: 'ann', secondBy: 'bob' }]);
      },
      { secondPerson: true },
    ));

  test('nor an answer on the same sheet', () =>
    withDesk(
      async (desk) => {
        const question = await oneQuestion(desk);
        const lines = [line(question, { decidedBy: 'ann' }), line(question, { line: 3 })];
        const applied = await applySheet(lines, desk.review, 'bob', NOW);
        expect(applied).toMatchObject({ applied: 1, held: 1, refused: [{ line: 3, code: 'NOT_SIGNED' }] });
      },
      { secondPerson: true },
    ));

  test('nor one of two that disagree, but disagreement and doubt need no signature', () =>
    withDesk(
      async (desk) => {
        const question = await oneQuestion(desk);
        const none = line(question, { decision: 'none_of_these' });
        const doubt = line(question, { decision: 'not_sure' });
        await applySheet([line(question)], desk.review, 'ann', NOW);
        expect(await applySheet([none], desk.review, 'bob', NOW)).toMatchObject({ held: 1, disagreeing: 1 });
        const third = await applySheet([none], desk.review, 'carla', NOW);
        expect(third.refused).toMatchObject([
          { code: 'NOT_SIGNED', problem: expect.stringMatching(/^bob .*none_of_these/) },
        ]);
        expect(await applySheet([doubt], desk.review, 'carla', NOW)).toMatchObject({ notSure: 1, refused: [] });
      },
      { secondPerson: true },
    ));
});
