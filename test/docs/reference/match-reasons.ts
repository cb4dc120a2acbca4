import type { NoMatchReason, ReviewReason } from '../../../src/domain/match-decision.js';
import { REASON_WORDS } from '../../../src/export/reasons.js';
import { GENERATED, markdownTable, page } from './markdown.js';

/** Advice for a reviewer. The compiler asks for an entry for each reason of a match. */
const REVIEWED: Readonly<Record<Uppercase<ReviewReason>, string>> = {
  NUMBER_UNREADABLE: 'Compare name and place, or correct the number.',
  NUMBER_ALONE: 'Check that the number has no typing error.',
  SEVERAL_CANDIDATES: 'Compare name, place and status of the candidates.',
  NAME_CONFLICT: 'Check whether the company was renamed, or the number is wrong.',
  NAME_NEEDED: 'Add the name to the list, or confirm a candidate.',
  NUMBER_CONFLICT: 'Check the number. Another number is usually another company.',
  COUNTRY_CONFLICT: 'Check the country of the row.',
  VAT_CONFLICT: 'Check the VAT number of the row.',
  LEGAL_FORM_DIFFERS: 'Check whether the legal form changed. `confirm.legal_form: note` confirms without a question.',
  CANDIDATE_WITHOUT_NUMBER: 'Compare name and place.',
  CONTRADICTORY_CANDIDATE: 'Ask the provider which number is right.',
  REPAIRED_NUMBER: 'Compare the two spellings. `match.confirm_repaired: true` confirms without a question.',
  VAT_ONLY: 'Compare name and place.',
  TICKER_ONLY: 'Compare name and country.',
  NAME_ONLY: 'Compare place and status. A name alone never confirms.',
  HINT_ONLY: 'Compare name and place. Another module named this company.',
};

const OTHER_QUESTIONS: Readonly<Record<string, string>> = {
  IDENTITY_MISMATCH: 'Compare the bought record with the row.',
  ID_TAKEN: 'Compare the two rows. One of them has a wrong number, or both are one company.',
  UNREADABLE_CANDIDATE: 'Compare the other candidates, or ask the provider.',
  CANDIDATES_NOT_RETURNED: 'Ask the provider.',
  CANDIDATES_UNSEEN: 'Add a number or a place to the list.',
  SECOND_PERSON: 'Another person repeats the answer under another name.',
};

const NOT_FOUND: Readonly<Record<Uppercase<NoMatchReason>, string>> = {
  NO_CANDIDATES: 'Check name, number and country.',
  NO_CANDIDATE_WITH_NUMBER: 'Check the number.',
  NO_CANDIDATE_WITH_VAT_NUMBER: 'Check the VAT number.',
};

const NOT_SEARCHED: Readonly<Record<string, string>> = {
  REVIEWED: 'Nothing to do, or withdraw the decision: `kybatch review withdraw ID`.',
  CANNOT_BE_ASKED: 'Add the registration number.',
  COUNTRY_NEEDED: 'Add the ISO code of the country.',
};

const INVALID: Readonly<Record<string, string>> = {
  NO_IDENTIFIER: 'Fill in one of them, or remove the row.',
  NO_COUNTRY: 'Fill it in, or add `--country CC`.',
  BAD_COUNTRY: 'Write an ISO code or a name.',
  BROKEN_QUOTES: 'Correct the line.',
  OVER_LONG: 'Shorten the line.',
  RAGGED: 'Correct the line.',
  NUL_CHARACTER: 'Correct the line.',
  BAD_ENCODING: 'Save the file as UTF-8, or add `--encoding`.',
  CELL_TOO_LONG: 'Shorten the cell.',
  PURGED: 'Nothing to do.',
};

const GRADES: readonly (readonly [string, string])[] = [
  ['A', 'The same.'],
  ['B', 'Similar, or the same after a repair.'],
  ['Z', 'Nothing to compare.'],
  ['F', 'Different.'],
];

export const describeMatchReasons = (): string =>
  page(
    '# Match reasons',
    GENERATED,
    [
      'The codes that explain the outcome of a row. They are in `error_code` of the table [rows](tables/rows.md) and in review sheets.',
      '`kybatch review list --reason CODE` filters by them. The codes do not change.',
    ].join(' '),
    '## Review questions',
    'The outcome is `needs_review`. A person decides: `kybatch review`.',
    codeTable({ ...REVIEWED, ...OTHER_QUESTIONS }),
    '## No match',
    'The outcome is `no_match`. Correct the list and run it again.',
    codeTable({ ...NOT_FOUND, ...NOT_SEARCHED }),
    '## Invalid rows',
    'The outcome is `invalid`. The row cost nothing. Correct the list and run it again.',
    codeTable(INVALID),
    '## Failures',
    [
      'The outcome is `failed`, or the row is on hold. The provider’s own code may appear instead of one of these.',
      'After a failure: `kybatch resume --failed`.',
    ].join(' '),
    markdownTable(
      ['code', 'meaning'],
      Object.entries(REASON_WORDS)
        .filter(([code]) => !(code in WITH_ADVICE))
        .map(([code, words]) => [`\`${code}\``, `${words}.`]),
    ),
    '## Match grade',
    [
      'Five letters compare the row with the confirmed company, or with the best candidate.',
      'They stand for registration number, name, VAT number, country and place.',
      '`AAZAA` means: number, name, country and place are the same, and there is no VAT number to compare.',
    ].join(' '),
    markdownTable(['letter', 'meaning'], GRADES),
  );

const WITH_ADVICE: Readonly<Record<string, string>> = {
  ...REVIEWED,
  ...OTHER_QUESTIONS,
  ...NOT_FOUND,
  ...NOT_SEARCHED,
  ...INVALID,
};

const codeTable = (advice: Readonly<Record<string, string>>): string =>
  markdownTable(
    ['code', 'meaning', 'what to check'],
    Object.entries(advice).map(([code, next]) => [`\`${code}\``, `${REASON_WORDS[code]}.`, next]),
  );

/** Codes with advice that no row can have. */
export const unknownCodes = (): readonly string[] => Object.keys(WITH_ADVICE).filter((code) => !(code in REASON_WORDS));
