import { LONGEST_NUMBER } from '../../util/text-limits.js';
import { resolveLocation } from '../resolve-location.js';
import { comparable } from './compare.js';

/** What a number that may have its country before it, as in `GB-00045590` (V1-27), says of one that was confirmed. */
export interface QualifiedNumber {
  readonly isSame: boolean;
  /** The country that it names; null: none, or it is another number altogether. */
  readonly country: string | null;
}

/** The same number of another country is another company's. `countryCode` is empty where nobody knows the country. */
export function readQualified(text: string, confirmed: string, countryCode: string): QualifiedNumber {
  const wanted = comparable(confirmed, countryCode);
  const [, prefix = '', rest = ''] = (text.length > LONGEST_NUMBER ? null : QUALIFIED.exec(text)) ?? [];
  // Before the whole: a German number is read wherever it stands in a text.
  if (rest === '' || comparable(rest, countryCode) !== wanted)
    return { isSame: comparable(text, countryCode) === wanted, country: null };
  const place = resolveLocation(prefix);
  const country = (place.ok ? place.countryCode : null) ?? prefix.toUpperCase();
  return { isSame: countryCode === '' || country === countryCode, country };
}

const QUALIFIED = /^\s*([A-Za-z]{2})[\s:._/-]*(\S.*)$/;
