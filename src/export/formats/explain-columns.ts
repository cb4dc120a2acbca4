import type { Column } from '../../readers/table.js';
import type { SheetCell } from '../../sheets/workbook-out/sheet.js';
import { ENDED_FILL, OUTCOME_FILLS, TROUBLED_FILL } from './result-colours.js';

/** The sheet that explains the one before it: its columns, colours and letters. */
export function explainColumns(
  columns: readonly Column[],
  sheets: readonly string[],
): readonly (readonly SheetCell[])[] {
  return [
    ...columns.map(({ name, description, from }) => [
      name,
      from === 'the input' ? 'Your own column, as it was' : description.replace('See rows.match_grade', GRADE),
    ]),
    ...(sheets.length < 2
      ? []
      : [[null, `The list is longer than a sheet can be: it goes on in ${sheets.slice(1).join(', ')}`]]),
    [null, null],
    ...Object.entries(OUTCOMES).map(([outcome, words]): readonly SheetCell[] => [
      { text: outcome, fill: OUTCOME_FILLS[outcome] ?? '' },
      words,
    ]),
    [
      { text: 'reason, company_status', fill: ENDED_FILL },
      'In this colour: the register says that the company is dissolved, struck off or deleted',
    ],
    [
      { text: 'reason, company_status', fill: TROUBLED_FILL },
      'In this colour: the register says that it is insolvent, in liquidation, in administration or dormant',
    ],
    [null, null],
    ...GRADE_LETTERS,
  ];
}

const GRADE =
  'How well the company agrees with the line: a letter each for registration number, name, VAT number, country and place; see below';

const OUTCOMES: Readonly<Record<keyof typeof OUTCOME_FILLS, string>> = {
  complete: 'The company is certain, and what was asked for was bought, as far as the provider has it',
  no_match:
    'No company: the provider has none that fits, or a person decided that none of those found is meant (the reason says which)',
  needs_review:
    'A person has to decide: which company is meant or, where that is certain, which of a module’s entries is its own (the reason says what is open); see the sheet Questions',
  invalid: 'The line cannot be asked about: the reason says what is missing',
  failed: 'Something went wrong: kybatch retry tries again',
  pending: 'Not finished yet: kybatch resume goes on',
};

const GRADE_LETTERS: readonly (readonly SheetCell[])[] = [
  ['match_grade A', 'The same'],
  ['match_grade B', 'Similar, or the same after a repair of how it was written'],
  ['match_grade F', 'Different'],
  ['match_grade Z', 'Missing, or it cannot be compared'],
];
