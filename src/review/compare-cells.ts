import { normaliseName, plainLetters } from '../domain/names/similarity.js';
import type { CandidateRecord } from '../ledger/rows/runs.js';
import { LONGEST_LINE, normalizeText, trimEndOf } from '../util/text-limits.js';
import type { Question } from './questions.js';

/** What of a line tells a person which row asks, and which company is meant. */
export const SHOWN_COLUMNS = [
  'input_name',
  'input_registration_number',
  'input_vat_number',
  'candidate_name',
  'candidate_registration_number',
  'candidate_vat_number',
  'candidate_id',
] as const;

export type ShownColumn = (typeof SHOWN_COLUMNS)[number];
type Cells = Partial<Record<ShownColumn, string>>;

export const inputCells = (input: Question['input']) => ({
  input_name: input.name ?? '',
  input_registration_number: input.registration_number ?? '',
  input_vat_number: input.vat_number ?? '',
});

export const candidateCells = (candidate: CandidateRecord | undefined) => ({
  candidate_name: candidate?.name ?? '',
  candidate_registration_number: candidate?.registrationNumber ?? '',
  candidate_vat_number: candidate?.vatNumber ?? '',
  candidate_id: candidate?.id ?? '',
});

/** A cell of a line that says something else than its question or its candidate does. */
export interface OtherCell {
  readonly column: ShownColumn;
  readonly cell: string;
  readonly means: string;
}

/**
 * A person decides by what a line shows, the program by its tokens: where a part of the line was sorted or pasted alone they
 * speak of different companies. `candidateId`: null where the line stands for the question alone.
 */
export function differingCell(
  told: ReadonlyMap<ShownColumn, string>,
  question: Question,
  candidateId: string | null,
): OtherCell | undefined {
  const found = question.asked.flatMap(({ candidates }) => candidates.filter(({ id }) => id === candidateId));
  return (
    differing(told, [question.input, ...question.asked.map(({ fields }) => fields)].map(inputCells)) ??
    (found.length === 0 ? undefined : differing(told, found.map(candidateCells)))
  );
}

/** Undefined if the line shows one of those; else what differs from the first that is nearest. */
function differing(told: ReadonlyMap<ShownColumn, string>, written: readonly Cells[]): OtherCell | undefined {
  const each = written.map((cells) =>
    SHOWN_COLUMNS.flatMap((column) => {
      const [cell, means] = [told.get(column), cells[column]];
      return cell === undefined || means === undefined || isSame(column, cell, means) ? [] : [{ column, cell, means }];
    }),
  );
  return each.reduce((nearest, others) => (others.length < nearest.length ? others : nearest))[0];
}

/** Rows that spell a name in several ways ask the same question. */
const isSame = (column: ShownColumn, cell: string, means: string): boolean =>
  isSameCell(cell, means) || (column === 'input_name' && cell !== '' && normaliseName(cell) === normaliseName(means));

/**
 * Does a cell still say what was written into it? What spreadsheets do to a cell by themselves does not count: case, spaces and
 * signs, zeros in front that are gone, a long number that is rounded or in scientific notation, letters that an encoding lacks
 * and that stand as `?`. Another company's name or number does.
 */
export function isSameCell(cell: string, written: string): boolean {
  const [is, was] = [lettersAndDigits(cell), lettersAndDigits(written)];
  if (is === was) return true;
  if (Math.max(cell.length, written.length) > LONGEST_LINE) return false;
  return isSameNumber(cell, written) || (LOST.test(cell) && fitsLost(cell.split(LOST).map(lettersAndDigits), was));
}

const lettersAndDigits = (text: string): string =>
  withoutZeros(plainLetters(normalizeText(text, 'NFKC').toLowerCase()).replace(/[^\p{L}\p{N}]+/gu, ''));

/** Of a number alone, those in front. */
const withoutZeros = (text: string): string => (/^\d+$/.test(text) ? text.replace(/^0+(?=\d)/, '') : text);

/** What an encoding has no letter for. */
const LOST = /[?\ufffd]/;

/**
 * Do the parts between lost letters follow one another? A lost letter may have been a sign, or one that takes two places. The
 * places that each part may end at are gone through together: a pattern would try every way, and `????????…` has too many.
 */
function fitsLost([first = '', ...others]: readonly string[], written: string): boolean {
  let ends = new Set(written.startsWith(first) ? [first.length] : []);
  for (const part of others) {
    const next = new Set<number>();
    for (const end of ends)
      for (let at = end; at <= end + 2; at++) if (written.startsWith(part, at)) next.add(at + part.length);
    ends = next;
  }
  return ends.has(written.length);
}

interface ReadNumber {
  /** Without zeros before and behind. */
  readonly digits: string;
  /** Of the first of them. */
  readonly exponent: number;
  /** So many of them are told; undefined: all. */
  readonly told: number | undefined;
}

function isSameNumber(cell: string, written: string): boolean {
  const [is, was] = [readNumber(cell), readNumber(written)];
  if (is === undefined || was === undefined) return false;
  const { told } = is;
  const isShown = ({ digits, exponent }: ReadNumber) =>
    exponent === is.exponent && bare(digits.slice(0, told)) === is.digits;
  // Some cut, some round: 999.6 to three digits is 9.99E+02, or 1.00E+03. Some round what they have stored.
  const stored = asStored(was);
  return [was, stored].some((number) => isShown(number) || (told !== undefined && isShown(rounded(number, told))));
}

/** As a program keeps it that counts with it: 9100000061365184095 is 9.100000061365185E+18, the shortest that is nearest to it. */
const asStored = (number: ReadNumber): ReadNumber =>
  readNumber(Number(`${number.digits}e${number.exponent + 1 - number.digits.length}`).toExponential()) ?? number;

/** As a spreadsheet writes it: no more than 15 digits of a number are kept, zeros take the place of the others. */
function readNumber(text: string): ReadNumber | undefined {
  const found = /^'?(\d+)(?:[.,](\d+))?(?:e([+-]?\d+))?$/i.exec(text.replace(/\s/g, ''));
  if (found === null) return undefined;
  const [, whole = '', fraction = '', power] = found;
  const all = `${whole}${fraction}`;
  const zeros = /^0*/.exec(all)?.[0].length ?? 0;
  const significant = all.slice(zeros);
  const isCut = significant.length > KEPT && /^0+$/.test(significant.slice(KEPT));
  return {
    digits: bare(significant),
    exponent: whole.length - zeros - 1 + Number(power ?? 0),
    told: power === undefined ? (isCut ? KEPT : undefined) : significant.length,
  };
}

const KEPT = 15;

function rounded({ digits, exponent, told }: ReadNumber, places: number): ReadNumber {
  if (digits.length <= places || Number(digits[places]) < 5) return { digits, exponent, told };
  const up = String(BigInt(digits.slice(0, places)) + 1n);
  return { digits: up, exponent: exponent + up.length - places, told };
}

const bare = (digits: string): string => trimEndOf(digits, '0');
