/** How a number format shows a number, as far as that changes what is read. */
export type NumberLook =
  | { readonly kind: 'plain' }
  | { readonly kind: 'date'; readonly time: boolean }
  | { readonly kind: 'time' }
  /** Digits with leading zeros, and text around or between them. */
  | { readonly kind: 'digits'; readonly places: readonly Place[] };

/** A digit's place, with or without a zero where the number has no digit for it; or a text that stands for itself. */
type Place = { readonly showsZero: boolean } | { readonly text: string };

export const PLAIN: NumberLook = { kind: 'plain' };
const DATE: NumberLook = { kind: 'date', time: false };
const DATE_TIME: NumberLook = { kind: 'date', time: true };
const TIME: NumberLook = { kind: 'time' };

/** Formats that every workbook has without saying so; 27 to 36 and 50 to 58 are the dates of East Asian Excels. */
export function builtInLook(id: number): NumberLook {
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 31) || id === 36 || (id >= 50 && id <= 58)) return DATE;
  if (id === 22) return DATE_TIME;
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47) return TIME;
  return PLAIN;
}

/** Excel takes no format that is longer. */
const LONGEST_FORMAT = 255;

export function lookOf(format: string): NumberLook {
  if (format.length > LONGEST_FORMAT) return PLAIN;
  // Sections behind the first are for negative numbers, zero and text.
  const [section = ''] = format.split(/;(?=(?:[^"]*"[^"]*")*[^"]*$)/);
  if (/^general$/i.test(section.trim())) return PLAIN;
  return dateLook(section) ?? digitsLook(section) ?? PLAIN;
}

function dateLook(section: string): NumberLook | undefined {
  // A count of hours beyond 24 is no time of day.
  if (/\[(h+|m+|s+)\]/i.test(section)) return undefined;
  const letters = section
    .replace(/"[^"]*"|\\.|_.|\*.|\[[^\]]*\]/g, '')
    .replace(/AM\/PM|A\/P/gi, 'h')
    .replace(/s\.0+/gi, 's');
  if (!/[dmyhs]/i.test(letters) || /[0#?]/.test(letters)) return undefined;
  const time = /[hs]/i.test(letters);
  if (/[dy]/i.test(letters)) return time ? DATE_TIME : DATE;
  return time ? TIME : DATE;
}

/**
 * `00000000`, `0000000#`, `00-0000000`: at least two places that show a zero, and no fraction. Or text that belongs to the number, or
 * makes another of it: `"HRB "0`, `"SC"General`, `0" B"`, `"1"0`, `0"*"`. Words behind it are a unit, `0" pieces"`, and the number is a number.
 */
function digitsLook(section: string): NumberLook | undefined {
  const bare = section.replace(/\[[^\]]*\]/g, '');
  const tokens: readonly string[] = bare.match(/"[^"]*"|\\.|General|[0#]|[- /():]|./gisu) ?? [];
  // Without a zero the last place stands for them all: only of nothing does it show nothing.
  const last = tokens.some(isZero) ? -1 : tokens.lastIndexOf('#');
  const places: Place[] = [];
  let zeros = 0;
  for (const [index, token] of tokens.entries()) {
    if (isZero(token) || token === '#') {
      if (isZero(token) || index === last) zeros++;
      // Behind the first zero every place shows a digit.
      places.push({ showsZero: zeros > 0 });
      continue;
    }
    const text = token.startsWith('"') ? token.slice(1, -1) : token.startsWith('\\') ? token.slice(1) : token;
    if (text === token && !/^[- /():]$/.test(token)) return undefined;
    places.push({ text });
  }
  const addsText = isMoreThanUnit(places);
  // `[>5000]"1"0;0` shows its text for some numbers only; zeros make no other number of the rest.
  if (zeros === 0 || (addsText && /\[[<>=]/.test(section))) return undefined;
  return zeros > 1 || addsText ? { kind: 'digits', places } : undefined;
}

const isZero = (token: string): boolean => token === '0' || /^general$/i.test(token);

function isMoreThanUnit(places: readonly Place[]): boolean {
  const end = places.findLastIndex((place) => 'showsZero' in place) + 1;
  const textOf = (some: readonly Place[]) => some.map((place) => ('text' in place ? place.text : '')).join('');
  const [before, behind] = [textOf(places.slice(0, end)), textOf(places.slice(end))];
  return /[\p{L}\p{N}]/u.test(before) || SIGN.test(before) || SIGN.test(behind) || PART_BEHIND.test(behind);
}

/** What may be a mark; money, per cent, degrees and brackets are none. */
const SIGN = /[^\p{L}\p{M}\p{N}\p{Sc}\s%‰°′″'’".,:;()/\\-]/u;

/** A district's letter, or digits that are not a unit's: `m²`, `CO2`. */
const PART_BEHIND = /^[ /-]?\p{Lu}$|(?<![\p{L}\p{N}])\p{N}/u;

/** A whole number of at least zero, written as its format shows it. */
export function shownDigits(digits: string, places: readonly Place[]): string {
  const first = places.findIndex((place) => 'showsZero' in place);
  let left = digits;
  let shown = '';
  for (const [index, place] of [...places.entries()].reverse()) {
    if ('text' in place) {
      shown = place.text + shown;
      continue;
    }
    const digit = index === first ? left : left.slice(-1);
    shown = (digit === '' && place.showsZero ? '0' : digit) + shown;
    left = index === first ? '' : left.slice(0, -1);
  }
  return shown;
}
