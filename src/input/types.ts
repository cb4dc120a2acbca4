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
  /** What the last call of `rows()` has remarked, as far as its rows were read. */
  remarks(): InputRemarks;
}

/** What was read otherwise than it stands in the file, as far as it was read. */
export interface InputRemarks {
  /** Cells that say that there is nothing, by field and text. */
  readonly emptied: readonly EmptiedCells[];
  /** The first lines that are no company, and how many there are. */
  readonly leftOut: readonly LeftOutLine[];
  readonly leftOutLines: number;
}

export interface EmptiedCells {
  readonly field: InputField;
  readonly text: string;
  readonly cells: number;
  /** Of the first of them. */
  readonly row: number;
  readonly line: number;
}

export interface LeftOutLine {
  readonly line: number;
  readonly kind: LeftOutKind;
  /** Its first cell that is not blank. */
  readonly text: string;
}

/** Why a line is none of a company, though something stands in it. */
export type LeftOutKind = 'repeated header' | 'totals' | 'footer' | 'ruling';

export interface InputRow {
  /** 1 = first data row; blank lines have no number, nor have those that are no company. */
  readonly row: number;
  /** The physical line on which the record starts; the file's first line is 1. */
  readonly line: number;
  /**
   * The cells exactly as written, one per column: padded if the row is too short, split at every delimiter if its quotes are
   * broken; then those behind the last column.
   */
  readonly values: readonly string[];
  /** Trimmed; a blank one is absent, and one that says that there is nothing. Empty where the row's structure is damaged, as no cell can be told for sure. */
  readonly fields: InputFields;
  /** Cells that say that there is nothing ("n/a"), and were taken as empty. */
  readonly emptied?: readonly { readonly field: InputField; readonly text: string }[];
  /** The row is invalid, and why. */
  readonly problem?: RowProblem;
}

export type InputFields = { readonly [F in InputField]?: string };

export type RowProblemCode = LineProblemCode | 'NO_IDENTIFIER' | 'NO_COUNTRY';

export interface RowProblem {
  readonly code: RowProblemCode;
  readonly message: string;
}
