// Suggests a country from the numbers of a row.

import { LONGEST_NUMBER } from '../../util/text-limits.js';
import { checkStdnum, isNumberedByState, numberFormatsOf } from '../numbers/country-formats.js';
import { courtOf, readGermanEntry } from '../numbers/german.js';
import { cleanNumber, compact } from '../numbers/number-text.js';
import { parseRegistrationNumber } from '../numbers/parse.js';
import { countryOfVat } from '../numbers/vat.js';
import { isoAlias } from './location-codes.js';

/** The country of a row's numbers, if the row has none. Searches use it, but it confirms nothing. */
export interface SuggestedCountry {
  readonly countryCode: string;
  /** Why, in words: "its VAT number begins with DE". */
  readonly reason: string;
}

/** The country of a row's numbers. Undefined if there is none, or two. */
export function suggestCountry(fields: {
  readonly registration_number?: string;
  readonly vat_number?: string;
  readonly state?: string;
}): SuggestedCountry | undefined {
  const { registration_number: number = '', vat_number: vat = '', state } = fields;
  if (Math.max(number.length, vat.length, state?.length ?? 0) > LONGEST_NUMBER) return undefined;
  const byVat = vat === '' ? undefined : fromVat(vat, 'its VAT number');
  const byNumber = number === '' ? undefined : fromNumber(number, state);
  if (byVat !== undefined && byNumber !== undefined && byVat.countryCode !== byNumber.countryCode) return undefined;
  return byVat ?? byNumber;
}

function fromVat(text: string, what: string): SuggestedCountry | undefined {
  const found = countryOfVat(text);
  return found && { countryCode: found.countryCode, reason: `${what} ${found.by}` };
}

function fromNumber(text: string, state: string | undefined): SuggestedCountry | undefined {
  const what = 'its registration number';
  const entry = readGermanEntry(text);
  if (entry !== undefined) {
    const isNamed = GERMAN_SECTIONS.has(entry.section) && (entry.court ?? courtOf(state)) !== undefined;
    return isNamed ? { countryCode: 'DE', reason: `${what} comes from a German register court` } : undefined;
  }
  const written = cleanNumber(text).text;
  const form = FORMS.find(({ fits }) => fits(written, compact(written)));
  if (form !== undefined)
    return { countryCode: form.countryCode, reason: `${what} has a form that only ${form.countryCode} uses` };
  return fromPrefix(written, what) ?? fromVat(text, what);
}

const GERMAN_SECTIONS: ReadonlySet<string> = new Set(['HRA', 'HRB', 'GnR']);

const USCC = /^[0-9A-HJ-NPQRTUWXY]{2}\d{6}[0-9A-HJ-NPQRTUWXY]{10}$/;

/**
 * Forms that no other register uses, with their check digits if they have any. An LEI has no country. `fits` gets the
 * text with and without separators.
 */
const FORMS: readonly { countryCode: string; fits: (written: string, whole: string) => boolean }[] = [
  { countryCode: 'CN', fits: (_, whole) => USCC.test(whole) && checkStdnum('CN', 'uscc', whole) === true },
  { countryCode: 'IN', fits: (_, whole) => /^[LU]\d{5}[A-Z]{2}(?:19|20)\d{2}[A-Z]{3}\d{6}$/.test(whole) },
  { countryCode: 'AT', fits: (_, whole) => /^FN[1-9]\d{4,5}[A-Z]$/.test(whole) },
  { countryCode: 'GB', fits: (_, whole) => /^(?:SC|NI|OC|SO)\d{6}$/.test(whole) },
  { countryCode: 'ZA', fits: (written) => /^(?:19|20)\d{2}\/\d{6}\/\d{2}$/.test(written) },
  {
    countryCode: 'BR',
    fits: (written, whole) =>
      /^\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}$/.test(written) && checkStdnum('BR', 'cnpj', whole) === true,
  },
];

/**
 * "GB 00445790". After the code there must be a valid number of that country, because `SC`, `NO` and `BR` are countries
 * but also begin British numbers.
 */
function fromPrefix(written: string, what: string): SuggestedCountry | undefined {
  const [, code = '', rest = ''] = /^([A-Z]{2})[ :._/-]*(\S.*)$/.exec(written) ?? [];
  const countryCode = isoAlias(code) ?? code;
  // The letters may mean a state or an Italian province.
  if (isNumberedByState(countryCode) || numberFormatsOf(countryCode, undefined) === undefined) return undefined;
  const { treatment } = parseRegistrationNumber(rest, countryCode);
  const isBritish = countryCode !== 'GB' && parseRegistrationNumber(written, 'GB').treatment !== 'review';
  const isNumber = /\d/.test(rest) && (treatment === 'as_written' || treatment === 'automatic');
  return isNumber && !isBritish ? { countryCode, reason: `${what} begins with ${code}` } : undefined;
}
