import { UsageError } from '../domain/errors.js';
import { readGradePattern } from '../domain/grade-order.js';
import { resolveLocation } from '../domain/resolve-location.js';
import { numberFlag } from './number-flag.js';
import type { CommonArgs } from './verb.js';

/** Which questions are meant. */
export interface WhichArgs extends CommonArgs {
  readonly portfolio: string | undefined;
  readonly reason: string | undefined;
  readonly country: string | undefined;
  readonly grade: string | undefined;
  readonly minGrade?: string | undefined;
  readonly limit: number | undefined;
}

/** How grades are asked for, told in every help that takes one. */
export const GRADES_IN_WORDS =
  'A grade has a letter each for registration number, name, VAT number, country and place: A same, B similar or repaired, Z nothing to compare, F different. From best to worst: A, B, Z, F; `?` stands for any.';

export const whichOptions = {
  portfolio: {
    type: 'string',
    requiresArg: true,
    describe: 'Only the questions of this list, by its name or the path of its file',
  },
  reason: {
    type: 'string',
    requiresArg: true,
    describe:
      'Only those with this reason, as NAME_ONLY, or one of NAME_ONLY,VAT_ONLY; SECOND_PERSON: what waits for one',
  },
  country: { type: 'string', requiresArg: true, describe: 'Only those of this country, as DE' },
  grade: {
    type: 'string',
    requiresArg: true,
    describe: "Only those whose best candidate has this grade, as 'A????' (in quotes: shells take ? for files)",
  },
  'min-grade': {
    type: 'string',
    requiresArg: true,
    describe: 'Only those whose best candidate has at least this grade, letter by letter',
  },
  limit: numberFlag('--limit', 'The first of them, so many'),
} as const;

export function whichOf({ portfolio, reason, country, grade, minGrade, limit }: WhichArgs) {
  if (limit !== undefined && limit < 1) throw new UsageError(`--limit must be 1 or more, got ${limit}`);
  const filter = {
    reasons: reason?.split(',').map((code) => code.trim().toUpperCase()),
    countryCode: country === undefined ? undefined : readCountry(country),
    grade: grade === undefined ? undefined : readGrade('--grade', grade),
    minGrade: minGrade === undefined ? undefined : readGrade('--min-grade', minGrade),
  };
  return { portfolio, filter, limit };
}

export function readGrade(flag: string, text: string): string {
  const pattern = readGradePattern(text);
  if (pattern === undefined)
    throw new UsageError(`${flag} must be five letters of A, B, Z, F and ?, got ${text}`, GRADES_IN_WORDS);
  return pattern;
}

function readCountry(text: string): string {
  const place = resolveLocation(text);
  if (place.ok && place.countryCode !== null) return place.countryCode;
  throw new UsageError(`--country: ${text} is no country that is known by code or name`, 'Give its code, as DE.');
}
