// The columns of a review sheet and their headings. Older sheets have the names as headings.

/** The columns for people: first those to fill in, then the row and its candidate side by side. */
const PEOPLE = {
  question: 'question',
  decision: 'decision',
  corrected_number: 'corrected number',
  decided_by: 'decided by',
  note: 'note',
  reason: 'reason',
  about: 'about',
  row: 'row',
  input_id: 'your ID',
  input_name: 'your company',
  candidate_name: 'candidate name',
  input_registration_number: 'your number',
  candidate_registration_number: 'candidate number',
  bought_registration_number: 'number in bought data',
  candidate_register: 'candidate register',
  input_vat_number: 'your VAT number',
  candidate_vat_number: 'candidate VAT number',
  input_country: 'your country',
  candidate_country: 'candidate country',
  input_place: 'your place',
  candidate_place: 'candidate place',
  agreement: 'agreement',
  evidence: 'evidence',
  proposed_by: 'proposed by',
  earlier: 'previous answer',
  line: 'line',
} as const;

/** The columns for programs, which a workbook hides. */
const MACHINE = {
  code: 'reason code',
  grade: 'grade',
  rows: 'runs and rows',
  candidate_id: 'candidate ID',
  candidate: 'candidate key',
  basis: 'basis',
} as const;

const HEADINGS = { ...PEOPLE, ...MACHINE };

export type ReviewColumn = keyof typeof HEADINGS;

export const headingOf = (column: ReviewColumn): string => HEADINGS[column];

export const SHEET_NAMES = Object.keys(HEADINGS) as readonly ReviewColumn[];

export const SHEET_COLUMNS: readonly string[] = Object.values(HEADINGS);

/** The columns that are numbers in a workbook, if one row asks. */
export const SHEET_COUNTS: readonly string[] = [HEADINGS.row, HEADINGS.line];

export const SHEET_HIDDEN: readonly string[] = Object.values(MACHINE);

/** The columns with texts of the list and of those who decide. */
export const SHEET_OWN: readonly string[] = SHEET_NAMES.filter(
  (column) => column.startsWith('input_') || column === 'proposed_by' || column === 'earlier',
).map(headingOf);

/** The columns that show a person which row asks and which company is meant. */
export const SHOWN_COLUMNS = [
  'input_name',
  'input_registration_number',
  'input_vat_number',
  'candidate_name',
  'candidate_registration_number',
  'candidate_vat_number',
  'candidate_id',
] as const satisfies readonly ReviewColumn[];

export type ShownColumn = (typeof SHOWN_COLUMNS)[number];
