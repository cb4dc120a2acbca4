import { createRequire } from 'node:module';
import type { Validator } from 'stdnum';

let loaded: Readonly<Record<string, Readonly<Record<string, Validator>>>> | undefined;

/** Loaded at the first number: the package takes 0.2 s to start, and most commands read no number. */
function library() {
  loaded ??= (createRequire(import.meta.url)('stdnum') as typeof import('stdnum')).stdnum;
  return loaded;
}

/** Whether the package takes the number for valid; undefined where it does not know that kind of number. */
export function checkStdnum(countryCode: string, key: string, text: string): boolean | undefined {
  return library()[countryCode]?.[key]?.validate(text).isValid;
}

/** A checker for a format's table entry. */
export const stdnumCheck =
  (countryCode: string, key: string) =>
  (compact: string): boolean =>
    checkStdnum(countryCode, key, compact) ?? true;
