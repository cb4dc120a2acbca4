import { createRequire } from 'node:module';
import type { Validator } from 'stdnum';

type Country = Readonly<Record<string, Validator>>;

const require = createRequire(import.meta.url);
const countries = new Map<string, Country | undefined>();

/** One country at a time, when its first number is read: the whole package takes 0.2 s to start. */
function library(countryCode: string): Country | undefined {
  if (!countries.has(countryCode)) countries.set(countryCode, load(countryCode));
  return countries.get(countryCode);
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
  return library(countryCode)?.[key]?.validate(text).isValid;
}

/** A checker for a format's table entry. */
export const stdnumCheck =
  (countryCode: string, key: string) =>
  (compact: string): boolean =>
    checkStdnum(countryCode, key, compact) ?? true;
