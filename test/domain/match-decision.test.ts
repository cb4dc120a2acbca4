import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MatchedOn, Subject } from '../../src/domain/candidate-grade.js';
import {
  type Decision,
  decide,
  defaultMatchPolicy,
  type GradedCandidate,
  type MatchPolicy,
} from '../../src/domain/match-decision.js';
import type { ParsedNumber, Treatment } from '../../src/domain/numbers/number-text.js';

const LETTERS = ['A', 'B', 'F', 'Z'] as const;
type Letter = (typeof LETTERS)[number];

const number = (treatment: Treatment): ParsedNumber => ({
  raw: '1',
  canonical: '1',
  spellings: ['1'],
  repairs: [],
  treatment,
  ...(treatment === 'review' ? { reason: 'the checksum fails' } : {}),
  valid: 'unknown',
});

const withNumber = (treatment: Treatment): Subject => ({ countryCode: 'GB', registrationNumber: number(treatment) });
const withVat: Subject = { countryCode: 'GB', vatNumber: number('as_written') };

const SCORES: Record<Letter, number | null> = { A: 100, B: 92, F: 30, Z: null };

function candidate(id: string, grade: string, needsName = false): GradedCandidate {
  const [r = 'Z', n = 'Z', v = 'Z'] = grade as Iterable<string> as string;
  const matchedOn: MatchedOn | null =
    r === 'A'
      ? 'registration_number'
      : r === 'B'
        ? 'registration_number_repaired'
        : r === 'Z' && 'AB'.includes(v)
          ? 'vat_number'
          : null;
  return {
    candidate: {
      id,
      name: `Company ${id}`,
      registration_number: '1',
      vat_number: null,
      country_code: 'GB',
      state: null,
      jurisdiction: null,
    },
    graded: { grade, matchedOn, evidence: ['words'], nameScore: SCORES[n as Letter], needsName },
  };
}

const verdict = (decision: Decision) => (decision.kind === 'confirmed' ? 'confirmed' : decision.reason);
const settleBy = (policy: MatchPolicy, subject: Subject, ...grades: string[]) =>
  verdict(
    decide(
      subject,
      grades.map((grade, i) => candidate(String(i), grade)),
      policy,
    ),
  );
const settle = (subject: Subject, ...grades: string[]) => settleBy(defaultMatchPolicy, subject, ...grades);

/** Every grade a single candidate can have. */
const GRADES = LETTERS.flatMap((r) =>
  LETTERS.flatMap((n) => LETTERS.flatMap((v) => LETTERS.flatMap((c) => LETTERS.map((l) => r + n + v + c + l)))),
);

/** The default rules again, as a table: the first fitting line decides. Letters in order R N V C L. */
const NUMBER_TABLE: readonly (readonly [pattern: RegExp, plain: string, needsName: string])[] = [
  [/^[AB]..[BFZ]/, 'country_conflict', 'country_conflict'],
  [/^[AB]F/, 'name_conflict', 'name_conflict'],
  [/^[AB]ZF/, 'vat_conflict', 'name_needed'],
  [/^[AB]Z/, 'confirmed', 'name_needed'],
  [/^[AB]AF/, 'confirmed', 'vat_conflict'],
  [/^[AB]BF/, 'vat_conflict', 'vat_conflict'],
  [/^[AB]/, 'confirmed', 'confirmed'],
  [/^F[AB]/, 'number_conflict', 'number_conflict'],
  [/^F.[AB]/, 'number_conflict', 'number_conflict'],
  [/^F/, 'no_candidate_with_number', 'no_candidate_with_number'],
  [/^ZF[FZ]/, 'no_candidate_with_number', 'no_candidate_with_number'],
  [/^Z/, 'candidate_without_number', 'candidate_without_number'],
];

const VAT_TABLE: readonly (readonly [pattern: RegExp, expected: string])[] = [
  [/^..[AB][BFZ]/, 'country_conflict'],
  [/^.Z[AB]/, 'name_needed'],
  [/^.F[AB]/, 'name_conflict'],
  [/^.[AB][AB]/, 'confirmed'],
  [/^.[AB][FZ]/, 'vat_only'],
  [/^.ZZ/, 'vat_only'],
  [/^/, 'no_candidate_with_vat_number'],
];

describe('one candidate, every combination of letters', () => {
  test('with a registration number', () => {
    for (const treatment of ['as_written', 'automatic', 'derived', 'needs_name', 'review'] as const) {
      const expected = (grade: string) => {
        const [, plain, needsName] = NUMBER_TABLE.find(([pattern]) => pattern.test(grade)) ?? [];
        if (treatment === 'review') return 'number_unreadable';
        return treatment === 'needs_name' ? needsName : plain;
      };
      const decisions = GRADES.map((grade) => `${grade} ${settle(withNumber(treatment), grade)}`);
      expect(decisions).toEqual(GRADES.map((grade) => `${grade} ${expected(grade)}`));
    }
  });

  test.each(['with_checksum', 'never'] as const)(
    'a number alone is a review question with %s, and nothing else changes',
    (stricter) => {
      const policy: MatchPolicy = { ...defaultMatchPolicy, confirmNumberAlone: stricter };
      for (const treatment of ['as_written', 'automatic', 'derived', 'needs_name', 'review'] as const) {
        for (const grade of GRADES) {
          const byDefault = settle(withNumber(treatment), grade);
          const alone = byDefault === 'confirmed' && /^[AB]ZZA/.test(grade);
          const expected = alone ? 'number_alone' : byDefault;
          expect(`${grade} ${settleBy(policy, withNumber(treatment), grade)}`).toBe(`${grade} ${expected}`);
        }
      }
    },
  );

  test('with a VAT number and no registration number', () => {
    for (const grade of GRADES.filter((text) => text.startsWith('Z'))) {
      const [, expected] = VAT_TABLE.find(([pattern]) => pattern.test(grade)) ?? [];
      expect(`${grade} ${settle(withVat, grade)}`).toBe(`${grade} ${expected}`);
    }
  });

  test('with a name or a ticker alone', () => {
    for (const grade of GRADES.filter((text) => text.startsWith('Z'))) {
      expect(settle({ countryCode: 'GB', name: 'Acme' }, grade)).toBe('name_only');
      expect(settle({ countryCode: 'GB', ticker: 'ACME' }, grade)).toBe('ticker_only');
    }
  });
});

describe('several candidates', () => {
  test.each([
    [withNumber('as_written'), ['AAZAZ', 'AAZAZ'], 'several_candidates'],
    [withNumber('as_written'), ['AAZAZ', 'BFZAZ'], 'several_candidates'],
    [withNumber('as_written'), ['AAZAZ', 'FAZAZ', 'ZAZAZ'], 'confirmed'],
    [withNumber('as_written'), ['AAZAZ', 'AAZFZ'], 'confirmed'],
    [withNumber('as_written'), ['FFZAZ', 'FZZAZ'], 'no_candidate_with_number'],
    [withNumber('as_written'), [], 'no_candidates'],
    [withNumber('review'), [], 'number_unreadable'],
    [withVat, ['ZAAAZ', 'ZAAAZ'], 'several_candidates'],
    [withVat, ['ZAAAZ', 'ZAFAZ'], 'confirmed'],
    [withVat, [], 'no_candidates'],
    [{ countryCode: 'GB', name: 'Acme' }, [], 'no_candidates'],
  ] as const)('%j with %j: %s', (subject, grades, expected) => {
    expect(settle(subject, ...grades)).toBe(expected);
  });

  test('one company found by two searches is one candidate', () => {
    const same = [candidate('7', 'AAZAZ'), candidate('7', 'AAZAZ')];
    expect(decide(withNumber('as_written'), same, defaultMatchPolicy)).toMatchObject({
      kind: 'confirmed',
      candidate: { id: '7' },
    });
  });

  test.each([
    [withNumber('as_written'), 'AAZAZ', 'FFZAZ'],
    [withNumber('as_written'), 'BAZAZ', 'FAZAZ'],
    [withNumber('needs_name'), 'AZZAZ', 'FZZAZ'],
    [withVat, 'ZAAAZ', 'ZFFAZ'],
  ])(
    'X-7 %j: one ID with %s and with %s is a review question, in any order and among others',
    (subject, hit, other) => {
      const both = [candidate('7', hit), candidate('7', other)];
      for (const seen of [both, both.toReversed(), [...both, candidate('8', 'FFZAZ')], [candidate('8', hit), ...both]])
        expect(verdict(decide(subject, seen, defaultMatchPolicy))).toBe('contradictory_candidate');
    },
  );

  test('one ID that comes with and without its number is one candidate', () => {
    const both = [candidate('7', 'ZAZAZ'), candidate('7', 'AAZAZ')];
    expect(verdict(decide(withNumber('as_written'), both, defaultMatchPolicy))).toBe('confirmed');
  });
});

describe('another legal form', () => {
  const sister = (grade: string): GradedCandidate => {
    const one = candidate('1', grade);
    return { ...one, graded: { ...one.graded, otherForm: true } };
  };

  test.each([
    [withNumber('as_written'), 'ABZAZ'],
    [withVat, 'ZBAAZ'],
  ])('%j: is a review question, or a note', (subject, grade) => {
    expect(verdict(decide(subject, [sister(grade)], defaultMatchPolicy))).toBe('legal_form_differs');
    expect(verdict(decide(subject, [sister(grade)], { ...defaultMatchPolicy, legalForm: 'note' }))).toBe('confirmed');
  });
});

describe('a German number without its court', () => {
  const subject: Subject = {
    countryCode: 'DE',
    registrationNumber: { ...number('review'), lacksCourt: true },
  };

  test.each([
    [['BAZAA'], 'confirmed'],
    [['BAZAA', 'BFZAA', 'BBZAA', 'FAZAA'], 'confirmed'],
    [['BAZAA', 'BAZAZ'], 'number_unreadable'],
    [['BBZAA'], 'number_unreadable'],
    [['BAZAZ'], 'number_unreadable'],
    [['BAZAF'], 'number_unreadable'],
    [['BAFAA'], 'number_unreadable'],
    [['BAZFA'], 'number_unreadable'],
    [['FAZAA'], 'number_unreadable'],
    [[], 'number_unreadable'],
  ])('V1-21 with candidates %j: %s', (grades, expected) => {
    expect(settle(subject, ...grades)).toBe(expected);
  });

  test('any other unreadable number is a review question, regardless of other matches', () => {
    expect(settle(withNumber('review'), 'BAZAA')).toBe('number_unreadable');
  });
});

describe('policy', () => {
  test('a stricter name, no VAT, no repairs', () => {
    const padded = [candidate('1', 'BBZAZ')];
    expect(verdict(decide(withNumber('needs_name'), padded, { ...defaultMatchPolicy, nameAgreement: 95 }))).toBe(
      'name_conflict',
    );
    expect(verdict(decide(withNumber('automatic'), padded, { ...defaultMatchPolicy, confirmRepaired: false }))).toBe(
      'repaired_number',
    );
    expect(verdict(decide(withVat, [candidate('1', 'ZAAAZ')], { ...defaultMatchPolicy, confirmOnVat: false }))).toBe(
      'vat_only',
    );
  });

  test.each([
    ['always', 'unknown', 'confirmed'],
    ['always', 'yes', 'confirmed'],
    ['with_checksum', 'unknown', 'number_alone'],
    ['with_checksum', 'yes', 'confirmed'],
    ['never', 'unknown', 'number_alone'],
    ['never', 'yes', 'number_alone'],
  ] as const)('a number alone, %s, checksum %s: %s', (confirmNumberAlone, valid, expected) => {
    const subject: Subject = { countryCode: 'GB', registrationNumber: { ...number('as_written'), valid } };
    const policy = { ...defaultMatchPolicy, confirmNumberAlone };
    expect(verdict(decide(subject, [candidate('1', 'AZZAZ')], policy))).toBe(expected);
    expect(verdict(decide(subject, [candidate('1', 'AAZAZ')], policy))).toBe('confirmed');
    expect(verdict(decide(subject, [candidate('1', 'AZAAZ')], policy))).toBe('confirmed');
  });

  test.each([
    [['BAZAZ', 'BFZAZ'], true, 'confirmed'],
    [['BAAAZ', 'BFFAZ', 'BFZAZ'], true, 'confirmed'],
    [['BAZAZ', 'BFAAZ'], true, 'several_candidates'],
    [['BAZAZ', 'BZZAZ'], true, 'several_candidates'],
    [['BAZAZ', 'BBZAZ'], true, 'several_candidates'],
    [['BFZAZ', 'BFZAZ'], true, 'several_candidates'],
    [['BAZAZ', 'BFZAZ'], false, 'several_candidates'],
  ] as const)('one number at several registers, %j, registers unknown: %s → %s', (grades, unknown, expected) => {
    const candidates = grades.map((grade, i) => candidate(String(i), grade, unknown));
    expect(verdict(decide(withNumber('as_written'), candidates, defaultMatchPolicy))).toBe(expected);
  });

  test.each([
    [['AAAAZ', 'AFFAZ', 'AFFAZ'], 'confirmed'],
    [['AAZAZ', 'AFZAZ'], 'confirmed'],
    [['ABZAZ', 'AFZAZ'], 'several_candidates'],
    [['AAZAZ', 'AAZAZ'], 'several_candidates'],
    [['AAZAZ', 'ABZAZ'], 'several_candidates'],
    [['AAZAZ', 'AZZAZ'], 'several_candidates'],
    [['AAZAZ', 'AFAAZ'], 'several_candidates'],
    [['AAFAZ', 'AFZAZ'], 'vat_conflict'],
    [['AFZAZ', 'AFZAZ'], 'several_candidates'],
  ] as const)('a US number without its state, %j → %s', (grades, expected) => {
    const candidates = grades.map((grade, i) => candidate(String(i), grade));
    const subject: Subject = { countryCode: 'US', registrationNumber: number('needs_name') };
    expect(verdict(decide(subject, candidates, defaultMatchPolicy))).toBe(expected);
    const inState = { ...subject, registrationNumber: { ...number('as_written'), register: 'DE' } };
    expect(verdict(decide(inState, candidates, defaultMatchPolicy))).toBe('several_candidates');
  });

  test('a court missing on one side needs the name', () => {
    expect(verdict(decide(withNumber('as_written'), [candidate('1', 'BZZAZ', true)], defaultMatchPolicy))).toBe(
      'name_needed',
    );
    expect(verdict(decide(withNumber('as_written'), [candidate('1', 'BAZAZ', true)], defaultMatchPolicy))).toBe(
      'confirmed',
    );
  });
});

describe('for any candidates', () => {
  const treatment = fc.constantFrom<Treatment>('as_written', 'automatic', 'derived', 'needs_name', 'review');
  const subject = fc.oneof(
    treatment.map(withNumber),
    fc.constant(withVat),
    fc.constant<Subject>({ countryCode: 'GB', name: 'Acme' }),
  );
  const found = fc.array(
    fc
      .tuple(fc.nat(4), fc.constantFrom(...GRADES), fc.boolean())
      .map(([id, grade, needsName]) => candidate(String(id), grade, needsName)),
    { maxLength: 5 },
  );

  test('their order never matters', () => {
    const shuffled = found.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(subject, shuffled, (who, [list, other]) => {
        expect(decide(who, other, defaultMatchPolicy)).toEqual(decide(who, list, defaultMatchPolicy));
      }),
      { numRuns: 500 },
    );
  });

  test('an F on the registration number is never confirmed, nor is a name alone', () => {
    fc.assert(
      fc.property(subject, found, (who, list) => {
        const decision = decide(who, list, defaultMatchPolicy);
        if (decision.kind !== 'confirmed') return;
        expect(decision.grade.charAt(0)).not.toBe('F');
        expect(decision.grade.charAt(1)).not.toBe('F');
        expect(decision.grade.charAt(3)).toBe('A');
        expect(who.registrationNumber ?? who.vatNumber).toBeDefined();
        if (who.registrationNumber !== undefined) expect(decision.grade.charAt(0)).toMatch(/[AB]/);
      }),
      { numRuns: 500 },
    );
  });
});
