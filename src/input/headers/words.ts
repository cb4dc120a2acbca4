import type { InputField } from '../types.js';

/** Headers by what they mean. Case, accents, spaces and punctuation do not matter. */
export type HeaderWords = Readonly<Partial<Record<InputField, readonly string[]>>>;

/** One list as it is written in these files: between bars and at line ends. */
export function words(list: string): readonly string[] {
  return list
    .split(/[|\n]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
