import { normaliseName, plainLetters } from '../domain/names/similarity.js';
import type { CandidateRecord } from '../ledger/rows/runs.js';
import { withoutEmails } from '../util/sanitize-text.js';
import { LONGEST_LINE, normalizeText, trimEndOf } from '../util/text-limits.js';
import { type Question, shownInput } from './questions.js';
import { SHOWN_COLUMNS, type ShownColumn } from './sheet-columns.js';

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

export interface OtherCell {
  readonly column: ShownColumn;
  readonly cell: string;
  readonly means: string;
}

/**
 * A person decides by the visible cells, the program by its keys. If part of a line was sorted or pasted alone, they
 * mean different companies. `candidateId`: null for a line without a candidate.
 */
export function differingCell(
  told: ReadonlyMap<ShownColumn, string>,
  question: Question,
  candidateId: string | null,
): OtherCell | undefined {
  const found = question.asked.flatMap(({ candidates }) => candidates.filter(({ id }) => id === candidateId));
  return (
    differing(told, [shownInput(question), ...question.asked.map(({ fields }) => fields)].map(inputCells)) ??
    (found.length === 0 ? undefined : differing(told, found.map(candidateCells)))
  );
}

/** Undefined if the line matches one of those, else the first difference from the nearest. */
function differing(told: ReadonlyMap<ShownColumn, string>, written: readonly Cells[]): OtherCell | undefined {
  const each = written.map((cells) =>
    SHOWN_COLUMNS.flatMap((column) => {
      const [cell, means] = [told.get(column), cells[column]];
      return cell === undefined || means === undefined || isSame(column, cell, means) ? [] : [{ column, cell, means }];
    }),
  );
  return each.reduce((nearest, others) => (others.length < nearest.length ? others : nearest))[0];
}

/** Rows that spell a name differently ask the same question. An export may have removed an e-mail address. */
const isSame = (column: ShownColumn, cell: string, means: string): boolean =>
  isSameCell(cell, means) ||
  isSameCell(cell, withoutEmails(means)) ||
  (column === 'input_name' && cell !== '' && normaliseName(cell) === normaliseName(means));

/**
 * Whether a cell still has its written value. Changes that spreadsheets make do not count: case, spaces and signs, lost
 * leading zeros, letters shown as `?`. Nor does a long number that is rounded or in scientific notation. Another
 * company's name or number counts.
 */
export function isSameCell(cell: string, written: string): boolean {
  const [is, was] = [lettersAndDigits(cell), lettersAndDigits(written)];
  if (is === was) return true;
  if (Math.max(cell.length, written.length) > LONGEST_LINE) return false;
  return isSameNumber(cell, written) || (LOST.test(cell) && fitsLost(cell.split(LOST).map(lettersAndDigits), was));
}

const lettersAndDigits = (text: string): string =>
  withoutZeros(plainLetters(normalizeText(text, 'NFKC').toLowerCase()).replace(/[^\p{L}\p{N}]+/gu, ''));

const withoutZeros = (text: string): string => (/^\d+$/.test(text) ? text.replace(/^0+(?=\d)/, '') : text);

/** Placeholders for letters that an encoding lacks. */
const LOST = /[?\ufffd]/;

/**
 * Whether the parts between lost letters follow one another. A lost letter may have been a sign or take two places. All
 * possible ends of a part are tracked together, because a pattern would try every way, and `????????…` has too many.
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
  /** Without leading and trailing zeros. */
  readonly digits: string;
  /** The exponent of the first digit. */
  readonly exponent: number;
  /** The number of visible digits. Undefined: all. */
  readonly told: number | undefined;
}

function isSameNumber(cell: string, written: string): boolean {
  const [is, was] = [readNumber(cell), readNumber(written)];
  if (is === undefined || was === undefined) return false;
  const { told } = is;
  const isShown = ({ digits, exponent }: ReadNumber) =>
    exponent === is.exponent && bare(digits.slice(0, told)) === is.digits;
  // Some programs cut, some round: 999.6 to three digits is 9.99E+02 or 1.00E+03. Some round the stored value.
  const stored = asStored(was);
  return [was, stored].some((number) => isShown(number) || (told !== undefined && isShown(rounded(number, told))));
}

/** The value as a floating-point number: 9100000061365184095 becomes 9.100000061365185E+18. */
const asStored = (number: ReadNumber): ReadNumber =>
  readNumber(Number(`${number.digits}e${number.exponent + 1 - number.digits.length}`).toExponential()) ?? number;

/** A number as a spreadsheet writes it: at most 15 digits are kept, the rest become zeros. */
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
