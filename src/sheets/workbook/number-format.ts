/** How a number format shows a number, as far as that changes what is read. */
export type NumberLook =
  | { readonly kind: 'plain' }
  | { readonly kind: 'date'; readonly time: boolean }
  | { readonly kind: 'time' }
  /** Digits with leading zeros, and signs between them: `0` is a digit's place, anything else stands for itself. */
  | { readonly kind: 'digits'; readonly places: readonly string[] };

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

export function lookOf(format: string): NumberLook {
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
 * `00000000`, `0000000#`, `00-0000000`: at least two places that show a zero, and no fraction. Or letters that belong to the
 * number: `"HRB "0`, `"SC"General`, `0" B"`. Words behind it are a unit, `0" pieces"`, and the number is a number.
 */
function digitsLook(section: string): NumberLook | undefined {
  const bare = section.replace(/\[[^\]]*\]/g, '');
  const tokens: readonly string[] = bare.match(/"[^"]*"|\\.|General|[0#]|[- /():]|./gisu) ?? [];
  // Without a zero the last place stands for them all: only of nothing does it show nothing.
  const last = tokens.some(isZero) ? -1 : tokens.lastIndexOf('#');
  const places: string[] = [];
  let zeros = 0;
  for (const [index, token] of tokens.entries()) {
    if (isZero(token) || token === '#') {
      if (isZero(token) || index === last) zeros++;
      // Behind the first zero every place shows a digit.
      if (zeros > 0) places.push('0');
      continue;
    }
    const literal = token.startsWith('"') ? token.slice(1, -1) : token.startsWith('\\') ? token.slice(1) : token;
    if (literal === token && !/^[- /():]$/.test(token)) return undefined;
    places.push(...literal);
  }
  const shown = places.join('');
  if (zeros === 0 || /[1-9]/.test(shown)) return undefined;
  return zeros > 1 || WITH_LETTERS.test(shown) ? { kind: 'digits', places } : undefined;
}

const isZero = (token: string): boolean => token === '0' || /^general$/i.test(token);

const WITH_LETTERS = /^[^0]*\p{L}[^0]*0|0[ /-]?\p{Lu}$/u;

/** A whole number of at least zero, written as its format shows it. */
export function shownDigits(digits: string, places: readonly string[]): string {
  const first = places.indexOf('0');
  let left = digits;
  let shown = '';
  for (let index = places.length - 1; index >= 0; index--) {
    const place = places[index] ?? '';
    if (place !== '0') shown = place + shown;
    else if (index === first) shown = (left === '' ? '0' : left) + shown;
    else {
      shown = (left.at(-1) ?? '0') + shown;
      left = left.slice(0, -1);
    }
  }
  return shown;
}
