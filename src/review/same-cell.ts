import { plainLetters } from '../domain/names.js';

/**
 * Does a cell still say what was written into it? What spreadsheets do to a cell by themselves does not count: case, spaces and
 * signs, zeros in front that are gone, a long number that is rounded or in scientific notation, letters that an encoding lacks
 * and that stand as `?`. Another company's name or number does.
 */
export function isSameCell(cell: string, written: string): boolean {
  const [is, was] = [lettersAndDigits(cell), lettersAndDigits(written)];
  return is === was || isSameNumber(cell, written) || (LOST.test(cell) && withLost(cell).test(was));
}

const lettersAndDigits = (text: string): string =>
  plainLetters(text.normalize('NFKC').toLowerCase())
    .replace(/[^\p{L}\p{N}]+/gu, '')
    .replace(/^0+(?=\d+$)/, '');

/** What an encoding has no letter for. */
const LOST = /[?\ufffd]/;

/** One that was lost may have been a sign, or one that takes two places. */
const withLost = (cell: string): RegExp =>
  new RegExp(
    `^${cell
      .split(LOST)
      .map((part) => lettersAndDigits(part))
      .join('.{0,2}')}$`,
    'su',
  );

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

const bare = (digits: string): string => digits.replace(/0+$/, '');
