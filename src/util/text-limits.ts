/**
 * The most characters that rules of more than linear time read. A longer text is kept and shown as it is, but nothing is
 * concluded from it. The longest names in registers have about 350 characters, the longest numbers with their court about 80.
 */
export const LONGEST_NAME = 500;
/** Of registration and VAT numbers, tickers, countries and places. */
export const LONGEST_NUMBER = 200;
/** Of a website, an e-mail address or a header, and of a line that may be a footer. */
export const LONGEST_LINE = 500;

/** The text without these characters at its end. A pattern such as `/0+$/` takes quadratic time. */
export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
