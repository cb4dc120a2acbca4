import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DecisionEntry } from '../../src/ledger/review/review.js';
import { applyRule, safestRule } from '../../src/review/bulk-answer.js';
import type { Question } from '../../src/review/questions.js';

const LETTERS = ['A', 'B', 'Z', 'F'] as const;
const grades = fc.array(fc.constantFrom(...LETTERS), { minLength: 5, maxLength: 5 }).map((letters) => letters.join(''));
const patterns = fc
  .array(fc.constantFrom(...LETTERS, '?'), { minLength: 5, maxLength: 5 })
  .map((letters) => letters.join(''));

const WORD: DecisionEntry = {
  id: 1,
  environmentId: 1,
  entityKey: 'k',
  space: 'v1',
  stage: null,
  decision: 'confirm',
  candidateId: '0',
  shown: [],
  summary: '',
  decidedBy: 'anna',
  decidedAt: 1,
  note: null,
  secondBy: null,
  batch: null,
  firstBatch: null,
  firstAt: null,
  held: false,
  withdrawnAt: null,
  withdrawnBy: null,
};

const question = (given: readonly string[], more: Partial<Question> = {}): Question => ({
  id: 'Q-1',
  space: 'v1',
  stage: null,
  environmentId: 1,
  environment: 'x',
  entityKey: 'k',
  code: 'NAME_CONFLICT',
  message: '',
  rows: [],
  input: {},
  otherCells: [],
  isKnown: false,
  asked: [],
  countryCode: null,
  candidates: given.map((matchGrade, index) => ({
    id: String(index),
    key: `C-${index}`,
    name: null,
    registrationNumber: null,
    vatNumber: null,
    countryCode: null,
    state: null,
    jurisdiction: null,
    matchGrade,
    decision: 'needs_review',
    evidence: '',
  })),
  basis: 'B-1',
  open: true,
  beside: false,
  decision: undefined,
  needsTwo: false,
  unsure: [],
  held: [],
  ...more,
});

const said = (asked: Question, minGrade: string) => {
  const ruling = applyRule(asked, { verdict: 'confirm', minGrade }, 'bob');
  return ruling.kind === 'answers' ? 'answers' : ruling.why;
};

test.each([
  [['ABZAZ'], 'ABZAZ', 'answers'],
  [['AAAAA'], 'ABZAZ', 'answers'],
  [['AZZAZ'], 'ABZAZ', 'grade_too_low'],
  [[], '?????', 'no_candidate'],
  [['AAAAA', 'AAAAA'], '?????', 'several_candidates'],
  [['AAZAZ', 'AFZAZ', 'FAAAA'], 'AAZAZ', 'answers'],
  [['AAZAZ', 'AFZAZ'], 'AFZAZ', 'several_candidates'],
  [['AZZAZ', 'AZZAZ'], 'AAZAZ', 'grade_too_low'],
  [['AFZAZ', 'FAZAZ'], 'AAZAZ', 'name_conflict'],
  [['FAAAA'], 'FFFFF', 'number_conflict'],
  [['AFAAA'], 'A????', 'name_conflict'],
  [['AFAAA'], 'AF???', 'answers'],
])('a question with the candidates %j, and the rule %s: %s', (given, minGrade, expected) => {
  expect(said(question(given), minGrade)).toBe(expected);
});

test('V1-21 the only one of several candidates with the grade is confirmed, at any place', () => {
  const ruling = applyRule(question(['FAAAA', 'ABZAZ', 'AZZAZ']), { verdict: 'confirm', minGrade: 'ABZAZ' }, 'bob');
  expect(ruling).toMatchObject({ kind: 'answers', choice: { id: '1' } });
});

test('bought answers and unsure questions are left to a person', () => {
  expect(said(question(['AAAAA'], { stage: 'record' }), '?????')).toBe('about_an_answer');
  const decision = { ...WORD, decision: 'not_sure', candidateId: null } as const;
  expect(said(question(['AAAAA'], { decision }), '?????')).toBe('not_sure');
});

test('if two people must agree, one agrees with another, not with themselves, and decides no disagreement', () => {
  const confirmed = (decidedBy: string, candidateId: string) => ({ ...WORD, decidedBy, candidateId, held: true });
  const asked = (...held: readonly DecisionEntry[]) => question(['AAAAA'], { held, needsTwo: true });
  expect(said(asked(confirmed('anna', '0')), '?????')).toBe('answers');
  expect(said(asked(confirmed('Bob', '0')), '?????')).toBe('said_before');
  expect(said(asked(confirmed('anna', 'another')), '?????')).toBe('disagreement');
});

test('none_of_these only applies without any candidate', () => {
  expect(applyRule(question([]), { verdict: 'none_of_these' }, 'bob')).toEqual({ kind: 'answers', choice: undefined });
  expect(applyRule(question(['FFFFF']), { verdict: 'none_of_these' }, 'bob')).toEqual({
    kind: 'left_out',
    why: 'has_candidates',
  });
});

test('never across another number, nor another name unless the rule says so', () =>
  fc.assert(
    fc.property(grades, patterns, (grade, minGrade) => {
      if (said(question([grade]), minGrade) !== 'answers') return;
      expect(grade.charAt(0)).not.toBe('F');
      if (grade.charAt(1) === 'F') expect(minGrade.charAt(1)).toBe('F');
    }),
  ));

test('a confirmed candidate is also confirmed with any better letter', () =>
  fc.assert(
    fc.property(grades, patterns, fc.integer({ min: 0, max: 4 }), (grade, minGrade, place) => {
      const letter = 'ABZF'.charAt(Math.max(0, 'ABZF'.indexOf(grade.charAt(place)) - 1));
      const better = [...grade].map((one, index) => (index === place ? letter : one)).join('');
      if (said(question([grade]), minGrade) === 'answers') expect(said(question([better]), minGrade)).toBe('answers');
    }),
  ));

test('the rule to suggest fits two questions, with equal name and number', () => {
  const times = (grade: string, count: number, code = 'NUMBER_UNREADABLE') =>
    Array.from({ length: count }, () => question([grade], { code }));
  const asked = [
    ...times('AFZAA', 8, 'NAME_CONFLICT'),
    ...times('ABZAZ', 20, 'LEGAL_FORM_DIFFERS'),
    ...times('FAZAA', 9, 'NUMBER_CONFLICT'),
    ...times('ZAZAA', 9),
    ...times('BAFAA', 9),
    ...times('ZAAAZ', 1, 'VAT_ONLY'),
  ];
  expect(safestRule(asked)).toBeUndefined();
  expect(safestRule([...asked, ...times('BAZAA', 2)])).toMatchObject({ minGrade: 'BAZAA', questions: 2 });
});

test('a suggested rule never confirms another number or another name', () => {
  const code = fc.constantFrom('NUMBER_UNREADABLE', 'NAME_CONFLICT', 'NUMBER_CONFLICT', 'VAT_ONLY');
  const asked = fc.tuple(fc.array(grades, { maxLength: 3 }), code).map(([given, code]) => question(given, { code }));
  fc.assert(
    fc.property(fc.array(asked, { maxLength: 20 }), (questions) => {
      const { reason, minGrade = '' } = safestRule(questions) ?? {};
      const answers = questions
        .filter(({ code }) => code === reason)
        .map((one) => applyRule(one, { verdict: 'confirm', minGrade }, 'bob'));
      const chosen = answers.flatMap((answer) => (answer.kind === 'answers' ? (answer.choice ?? []) : []));
      expect(reason === undefined || chosen.length > 1).toBe(true);
      expect(chosen.every(({ matchGrade }) => /^[^F]A/.test(matchGrade))).toBe(true);
    }),
  );
});
