/**
 * Identifiers as they stand in a text. Only those are looked for that say something by themselves: `1` or `name` is in
 * every answer there is.
 */
export const isTelling = (identifier: string): boolean =>
  (identifier.match(/[\p{L}\p{N}]/gu) ?? []).length >= 5 && /\p{N}/u.test(identifier);

/** Whole words, also behind the country's two letters (`GB-00045590`, `GB00045590`); never a part of a longer number. */
export const wordsPattern = (identifiers: readonly string[]): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}]|\\d[.,])(?:[A-Z]{2})?(${[...identifiers]
      .sort((a, b) => b.length - a.length)
      .map(escapePattern)
      .join('|')})(?![\\p{L}\\p{N}]|[.,]\\d)`,
    'gu',
  );

/** The identifiers that a text names. */
export const wordsIn = (text: string, pattern: RegExp): readonly string[] => [
  ...new Set([...text.matchAll(pattern)].flatMap(([, word]) => word ?? [])),
];

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
