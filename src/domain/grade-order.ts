// Compares grades, and explains them in words.

/** From best to worst. Missing values (Z) neither agree nor contradict. */
const LETTERS = 'ABZF';

const FIELDS = ['number', 'name', 'VAT', 'country', 'place'] as const;

const rankOf = (letter: string): number => {
  const rank = letter === '' ? -1 : LETTERS.indexOf(letter);
  return rank === -1 ? LETTERS.length : rank;
};

/**
 * Orders grades from best to worst: by the registration number, then name, VAT number, country and place. So a
 * different number comes last, whatever else agrees. The alphabetical order of letters means nothing.
 */
export function compareGrades(one: string, other: string): number {
  for (const index of FIELDS.keys()) {
    const difference = rankOf(one.charAt(index)) - rankOf(other.charAt(index));
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Each letter is at least as good as requested. `?` accepts any. An invalid grade never is. */
export const isAtLeast = (grade: string, least: string): boolean =>
  isGrade(grade) &&
  [...least].every((letter, index) => letter === '?' || rankOf(grade.charAt(index)) <= rankOf(letter));

/** Each letter is the requested one. `?` accepts any. */
export const fitsPattern = (grade: string, pattern: string): boolean =>
  isGrade(grade) && [...pattern].every((letter, index) => letter === '?' || letter === grade.charAt(index));

/** A different number means a different company. */
export const numberConflicts = (grade: string): boolean => grade.startsWith('F');

export const nameConflicts = (grade: string): boolean => grade.charAt(1) === 'F';

/**
 * It looks like another company: the name differs and no number is the same, or everything comparable differs. A similar
 * registration number is not enough: without its court or its zeros it may be another company's.
 */
export const seemsAnotherCompany = (grade: string): boolean =>
  isGrade(grade) && (/^[BZF]F[ZF]/.test(grade) || /^Z*F[ZF]*$/.test(grade));

const isGrade = (text: string): boolean => /^[ABZF]{5}$/.test(text);

/** Five letters of A, B, Z, F or `?`, in any case. Otherwise undefined. */
export function readGradePattern(text: string): string | undefined {
  const pattern = text.trim().toUpperCase();
  return /^[ABZF?]{5}$/.test(pattern) ? pattern : undefined;
}

export interface FieldAgreement {
  readonly field: (typeof FIELDS)[number];
  /** `not_compared`: one of them is missing. */
  readonly agreement: 'same' | 'similar' | 'different' | 'not_compared';
}

const AGREEMENTS: Readonly<Record<string, FieldAgreement['agreement']>> = { A: 'same', B: 'similar', F: 'different' };

export const fieldAgreements = (grade: string): readonly FieldAgreement[] =>
  FIELDS.map((field, index) => ({ field, agreement: AGREEMENTS[grade.charAt(index)] ?? 'not_compared' }));

/** A grade in short words: "same: number, country; different: name". */
export function gradeInWords(grade: string): string {
  if (!isGrade(grade)) return '';
  const fields = fieldAgreements(grade);
  return (['same', 'similar', 'different'] as const)
    .map((how) => [how, fields.filter(({ agreement }) => agreement === how).map(({ field }) => field)] as const)
    .flatMap(([how, those]) => (those.length === 0 ? [] : [`${how}: ${those.join(', ')}`]))
    .join('; ');
}

/** The fields that are the same in all these grades. The country is left out: it nearly always is. */
export const sameFields = (grades: readonly string[]): readonly string[] =>
  FIELDS.filter((field, index) => field !== 'country' && grades.every((grade) => grade.charAt(index) === 'A'));
