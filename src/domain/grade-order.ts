import type { GradeLetter } from './numbers/compare.js';

/** From best to worst: where nothing can be compared nothing agrees, but nothing contradicts either. */
const LETTERS = 'ABZF';

/** What the five letters of a grade are about, in their order. */
const FIELDS = ['number', 'name', 'VAT', 'country', 'place'] as const;

const rankOf = (letter: string): number => {
  const rank = letter === '' ? -1 : LETTERS.indexOf(letter);
  return rank === -1 ? LETTERS.length : rank;
};

/**
 * Orders grades from best to worst: by the registration number, then name, VAT number, country and place. So one that has
 * another number comes last, whatever else agrees. The letters themselves have no order in the alphabet.
 */
export function compareGrades(one: string, other: string): number {
  for (const index of FIELDS.keys()) {
    const difference = rankOf(one.charAt(index)) - rankOf(other.charAt(index));
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Each letter is at least as good as the one asked for; `?` asks for nothing. A grade that is none never is. */
export const isAtLeast = (grade: string, least: string): boolean =>
  isGrade(grade) &&
  [...least].every((letter, index) => letter === '?' || rankOf(grade.charAt(index)) <= rankOf(letter));

/** Each letter is the one asked for; `?` stands for any. */
export const fitsPattern = (grade: string, pattern: string): boolean =>
  isGrade(grade) && [...pattern].every((letter, index) => letter === '?' || letter === grade.charAt(index));

/** Another number is another company. */
export const numberConflicts = (grade: string): boolean => grade.startsWith('F');

/** The names are those of two companies. */
export const nameConflicts = (grade: string): boolean => grade.charAt(1) === 'F';

const isGrade = (text: string): boolean => /^[ABZF]{5}$/.test(text);

/** Five letters of A, B, Z, F or `?`, in any case; undefined if it is something else. */
export function readGradePattern(text: string): string | undefined {
  const pattern = text.trim().toUpperCase();
  return /^[ABZF?]{5}$/.test(pattern) ? pattern : undefined;
}

/** "same: number, country; different: name": what a grade says, in short. */
export function gradeInWords(grade: string): string {
  if (!isGrade(grade)) return '';
  const those = (letter: GradeLetter) => FIELDS.filter((_, index) => grade.charAt(index) === letter).join(', ');
  return [
    ['same', those('A')],
    ['similar', those('B')],
    ['different', those('F')],
  ]
    .filter(([, fields]) => fields !== '')
    .map(([how, fields]) => `${how}: ${fields}`)
    .join('; ');
}
