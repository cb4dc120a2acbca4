// What keeps rules on text quick: the longest text that they read, and a cache for texts that repeat.

/**
 * The most characters that rules of more than linear time read. A longer text is kept and shown, but not
 * interpreted. The longest registered names have about 350 characters, the longest numbers with their court about 80.
 */
export const LONGEST_NAME = 500;
/** Of registration and VAT numbers, tickers, countries and places. */
export const LONGEST_NUMBER = 200;
/** Of a website, an e-mail address or a header, and of a line that may be a footer. */
export const LONGEST_LINE = 500;

/** Longer texts stay as they are: `normalize` takes quadratic time for stacked accents, 25 s for 100,000 of them. */
const LONGEST_NORMALIZED = 2_000;

/** The Unicode form of outside text. Nothing else in the project calls `normalize`. */
export const normalizeText = (text: string, form: 'NFC' | 'NFD' | 'NFKC' | 'NFKD'): string =>
  text.length > LONGEST_NORMALIZED ? text : text.normalize(form);

/** The text without these characters at its end. A pattern such as `/0+$/` takes quadratic time. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/**
 * A bounded cache by text, for values that repeat between rows: countries, courts, numbers. When it is full it is
 * emptied.
 */
export class Memo<Value> {
  readonly #known = new Map<string, Value>();
  readonly #atMost: number;

  constructor(atMost = 1_000) {
    this.#atMost = atMost;
  }

  getOrCompute(text: string, compute: () => Value): Value {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const value = compute();
    if (this.#known.size >= this.#atMost) this.#known.clear();
    this.#known.set(text, value);
    return value;
  }
}
