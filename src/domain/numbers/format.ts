// The declaration of number formats, and the checks of stdnum.

import { createRequire } from 'node:module';
import type { Validator } from 'stdnum';

/** One kind of number of a country's register. Functions get the compact form, with only capitals and digits. */
export interface RegisterFormat {
  /** In words, for review questions: "8 digits". */
  readonly form: string;
  readonly shape: RegExp;
  /** Without a fixed width, the form does not show whether a digit after a separator belongs to the number. */
  readonly anyWidth?: true;
  /** The register's own spelling. Default: the compact form. */
  readonly spell?: (compact: string) => string;
  /** Other spellings in use. */
  readonly also?: (compact: string) => readonly string[];
  readonly check?: (compact: string) => boolean;
  /** The full number, if the text may have lost leading zeros. */
  readonly pad?: (compact: string) => string | undefined;
  /** The number without zeros that its register does not write. */
  readonly unpad?: (compact: string) => string | undefined;
}

/** Another number that contains the registration number, or a prefix or suffix outside it. */
export interface Rewrite {
  readonly rule:
    | 'label'
    | 'tax_suffix'
    | 'century_prefix'
    | 'country_prefix'
    | 'siret_to_siren'
    | 'vat_to_number'
    | 'abn_to_acn';
  readonly apply: (compact: string) => string | undefined;
}

export interface CountryNumbers {
  readonly formats: readonly RegisterFormat[];
  /** Words that people put before the number, as a pattern over capitals: "KVK". */
  readonly labels?: string;
  readonly rewrites?: readonly Rewrite[];
  /** Why this is another kind of number, in words. */
  readonly foreign?: (compact: string, text: string, state: string | undefined) => string | undefined;
}

type Country = Readonly<Record<string, Validator>>;

const require = createRequire(import.meta.url);
const countries = new Map<string, Country | undefined>();

/** Each country is loaded with its first number, because the whole package takes 0.2 s. */
function library(countryCode: string): Country | undefined {
  const known = countries.get(countryCode);
  if (known !== undefined || countries.has(countryCode)) return known;
  const loaded = load(countryCode);
  countries.set(countryCode, loaded);
  return loaded;
}

function load(countryCode: string): Country | undefined {
  if (!/^[A-Z]{2}$/.test(countryCode)) return undefined;
  try {
    return require(`stdnum/lib/cjs/${countryCode.toLowerCase()}/index.js`) as Country;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Whether the package accepts the number. Undefined if it does not have that kind of number. */
export function checkStdnum(countryCode: string, key: string, text: string): boolean | undefined {
  const validator = library(countryCode)?.[key];
  if (validator === undefined) return undefined;
  if (last?.validator !== validator || last.text !== text)
    last = { validator, text, isValid: validator.validate(text).isValid };
  return last.isValid;
}

/** In many countries one number is both the register's and the tax office's, so a row checks it twice in a row. */
let last: { readonly validator: Validator; readonly text: string; readonly isValid: boolean } | undefined;
