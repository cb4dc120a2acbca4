// The IDs and rows of a company to erase, as SQL conditions and as text patterns.

import type { IdSpace } from '../../domain/provider.js';

export interface SpacedId {
  readonly space: IdSpace;
  readonly id: string;
}

/** The IDs of one company, each with its space: the same digits in another space are another company. */
export class EntityIds {
  readonly #ids = new Map<string, SpacedId>();

  get size(): number {
    return this.#ids.size;
  }

  add({ space, id }: SpacedId): void {
    this.#ids.set(`${space}:${id}`, { space, id });
  }

  has({ space, id }: SpacedId): boolean {
    return this.#ids.has(`${space}:${id}`);
  }

  texts(): readonly string[] {
    return [...this.#ids.values()].map(({ id }) => id);
  }

  /** The parameter of `AMONG_IDS`. */
  json(): string {
    return json([...this.#ids.values()].map(({ space, id }) => `${space.padEnd(WIDTH)}${id}`));
  }
}

export interface RowKey {
  readonly run_id: string;
  readonly row: number;
}

/** The parameter of `AMONG_ROWS`. */
export const rowsJson = (rows: readonly RowKey[]): string =>
  json(rows.map(({ run_id, row }) => `${String(row).padStart(WIDTH)}${run_id}`));

export const json = (values: Iterable<string | number>): string => JSON.stringify([...values]);

/** A pair is one text that every engine can split: its first part has this width. */
const WIDTH = 20;
const FIRST = `substr(value, 1, ${WIDTH})`;
const SECOND = `substr(value, ${WIDTH + 1})`;

/** Follows `(space, id)`, under any column names. */
export const AMONG_IDS = `IN (SELECT rtrim(${FIRST}), ${SECOND} FROM json_each(@ids))`;
export const ROW_KEYS = `SELECT ${SECOND}, CAST(${FIRST} AS BIGINT) FROM json_each(@rows)`;
export const AMONG_ROWS = `(run_id, row) IN (${ROW_KEYS})`;

/**
 * The ownership module identifies companies by number alone, so one number means several companies in several countries
 * (V2-22).
 */
export const identifiesOneCompany = (space: IdSpace): boolean => space !== 'ownership';
export const ONE_COMPANYS = "space <> 'ownership'";

/** Is the identifier distinctive enough to search for? `1` or `name` is in every answer. */
export const isDistinctive = (identifier: string): boolean =>
  (identifier.match(/[\p{L}\p{N}]/gu) ?? []).length >= 5 && /\p{N}/u.test(identifier);

/** Whole words, also after a country code (`GB-00045590`, `GB00045590`), never part of a longer number. */
export const wordsPattern = (identifiers: readonly string[]): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}]|\\d[.,])(?:[A-Z]{2})?(${[...identifiers]
      .sort((a, b) => b.length - a.length)
      .map(escapePattern)
      .join('|')})(?![\\p{L}\\p{N}]|[.,]\\d)`,
    'gu',
  );

/** The identifiers that a text contains. */
export const wordsIn = (text: string, pattern: RegExp): readonly string[] => [
  ...new Set([...text.matchAll(pattern)].flatMap(([, word]) => word ?? [])),
];

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
