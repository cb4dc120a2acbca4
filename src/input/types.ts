import { LEADS, type Lead } from '../domain/leads.js';
import type { LineProblemCode, SheetEncoding, SheetOptions } from '../sheets/sheet.js';

/** What a column of an analyst's file can mean to us. Any other column is carried through untouched. */
export const INPUT_FIELDS = [
  'name',
  'country',
  'registration_number',
  'vat_number',
  'ticker',
  'city',
  'state',
  'id',
  // Read only where somebody follows them.
  ...LEADS,
] as const;

export type InputField = (typeof INPUT_FIELDS)[number];

/** A search needs at least one of these (V1-16). */
export const IDENTIFIERS = ['name', 'registration_number', 'vat_number', 'ticker'] as const satisfies InputField[];

export interface InputOptions extends SheetOptions {
  /** Headers to recognise beyond the built-in ones; they win over those. */
  readonly synonyms?: Readonly<Partial<Record<InputField, readonly string[]>>>;
  /** The leads that are followed where a search finds nobody: the columns of others are carried through, as any column. */
  readonly leads?: readonly Lead[];
}

export interface InputTable {
  readonly path: string;
  /** Of the file's bytes. */
  readonly sha256: string;
  /** Null for a workbook, as is the delimiter. */
  readonly encoding: SheetEncoding | null;
  readonly delimiter: string | null;
  /** The headers as written, trimmed; made unique where they repeat, named `column_N` where blank. */
  readonly columns: readonly string[];
  /** Index into `columns` of each field that was found. */
  readonly mapping: Readonly<Partial<Record<InputField, number>>>;
  readonly warnings: readonly string[];
  /** Streams the rows from disk; may be called more than once. Refuses if the file has changed meanwhile. */
  rows(): AsyncIterable<InputRow>;
}

export interface InputRow {
  /** 1 = first data row; blank lines have no number. */
  readonly row: number;
  /** The physical line on which the record starts; the file's first line is 1. */
  readonly line: number;
  /** The cells exactly as written, one per column: padded or cut if the row is ragged, split at every delimiter if its quotes are broken. */
  readonly values: readonly string[];
  /** Trimmed; a blank one is absent. Empty where the row's structure is damaged, as no cell can be told for sure. */
  readonly fields: InputFields;
  /** The row is invalid, and why. */
  readonly problem?: RowProblem;
}

export type InputFields = { readonly [F in InputField]?: string };

export type RowProblemCode = LineProblemCode | 'NO_IDENTIFIER' | 'NO_COUNTRY';

export interface RowProblem {
  readonly code: RowProblemCode;
  readonly message: string;
}
