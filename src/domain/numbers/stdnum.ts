import { createRequire } from 'node:module';
import type { Validator } from 'stdnum';

type Country = Readonly<Record<string, Validator>>;

const require = createRequire(import.meta.url);
const countries = new Map<string, Country | undefined>();

/** One country at a time, when its first number is read: the whole package takes 0.2 s to start. */
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

/** Whether the package takes the number for valid; undefined where it does not know that kind of number. */
export function checkStdnum(countryCode: string, key: string, text: string): boolean | undefined {
  const validator = library(countryCode)?.[key];
  if (validator === undefined) return undefined;
  if (last?.validator !== validator || last.text !== text)
    last = { validator, text, isValid: validator.validate(text).isValid };
  return last.isValid;
}

/** In many countries one number is both the register's and the tax office's: a row has it checked twice in a row. */
let last: { readonly validator: Validator; readonly text: string; readonly isValid: boolean } | undefined;

/** A checker for a format's table entry. */
export const stdnumCheck =
  (countryCode: string, key: string) =>
  (compact: string): boolean =>
    checkStdnum(countryCode, key, compact) ?? true;
