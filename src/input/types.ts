// Types of a list as it is read: fields, columns, rows and remarks.

import { LEADS, type Lead } from '../domain/leads.js';
import type { LineProblemCode, OnProgress, SheetEncoding, SheetOptions } from '../sheets/sheet.js';
import type { Message, MessageCode } from '../util/message-parts.js';

/** The fields that a column can be. All other columns are passed on unchanged. */
export const INPUT_FIELDS = [
  'name',
  'country',
  'registration_number',
  'vat_number',
  'ticker',
  'city',
  'state',
  'id',
  // Read only if the pipeline follows them.
  ...LEADS,
] as const;

export type InputField = (typeof INPUT_FIELDS)[number];

/** A search needs at least one of these (V1-16). */
export const IDENTIFIERS = ['name', 'registration_number', 'vat_number', 'ticker'] as const satisfies InputField[];

export interface InputOptions extends SheetOptions {
  readonly synonyms?: Readonly<Partial<Record<InputField, readonly string[]>>>;
  /** The leads to follow if a search finds no company. Columns of other leads are passed on like any column. */
  readonly leads?: readonly Lead[];
  /** The user's columns: `FIELD=HEADER`. They override everything else. */
  readonly map?: readonly string[] | undefined;
  /** The country of rows without one: an ISO code or a name. */
  readonly country?: string | undefined;
  readonly agreed?: AgreedColumns | undefined;
  /** Called if two columns are possible. Without it such a file is refused. */
  readonly askColumns?: AskColumns | undefined;
}

/** The user's options for reading a file. kybatch detects the others. */
export type ReadingOptions = Pick<InputOptions, 'map' | 'country' | 'encoding' | 'delimiter' | 'headerLine' | 'sheet'>;

/** The place of a field's text: a column, or several pieces, some of them literal text. */
export type ColumnSource = number | readonly ColumnPiece[];
export type ColumnPiece = number | string;
/** Between alternatives: the row fills one of them. */
export const OR = '|';
/** A piece that means the country heading above a group of rows. */
export const HEADING = '^';

export type ColumnMapping = Readonly<Partial<Record<InputField, ColumnSource>>>;

/** What decided: its header, also its content, the pipeline file, `--map`, an answer, or an earlier agreement. */
export type DecidedBy = 'header' | 'content' | 'pipeline' | 'map' | 'answer' | 'agreed';

export interface ReadColumn {
  readonly field: InputField;
  readonly source: ColumnSource;
  /** The header as written. Several are joined by `+`. */
  readonly header: string;
  readonly decidedBy: DecidedBy;
  readonly samples: readonly string[];
}

/** The column of a field is unclear, and the user must choose. */
export interface ColumnDoubt {
  readonly field: InputField;
  readonly code: MessageCode;
  readonly reason: string;
  readonly choices: readonly ColumnChoice[];
  /** Perhaps none is right: they are about another company, or their content has changed. */
  readonly isUnlikely?: boolean;
}

export type ColumnChoice = Pick<ReadColumn, 'source' | 'header' | 'samples'> & {
  readonly flag: string;
};

/** The right choice. Null: none of them. Undefined: no answer. */
export type AskColumns = (doubt: ColumnDoubt) => Promise<ColumnChoice | null | undefined>;

export interface ColumnAgreement {
  /** The pieces of each field, in the words of `--map`. Empty: the field is not read. */
  readonly fields: Readonly<Partial<Record<InputField, readonly string[]>>>;
  readonly country: string | null;
  /** The fields whose numbers fit their countries. Old agreements do not have it. */
  readonly fitting?: readonly string[];
}

export interface AgreedColumns extends ColumnAgreement {
  readonly at: number;
  readonly columns: readonly string[];
}

export interface InputTable {
  readonly path: string;
  readonly sha256: string;
  /** Null for a workbook, like the delimiter. */
  readonly encoding: SheetEncoding | null;
  readonly delimiter: string | null;
  /** The headers as written, trimmed. Repeated ones are made unique, blank ones are named `column_N`. */
  readonly columns: readonly string[];
  readonly mapping: ColumnMapping;
  readonly read: readonly ReadColumn[];
  readonly country: string | null;
  /** Stored for the next file of the same list. */
  readonly agreement: ColumnAgreement;
  readonly headerLine: number;
  readonly sheet: string | null;
  readonly warnings: readonly Message[];
  /** Streams the rows from disk, and may be called again. Refuses if the file has changed meanwhile. */
  rows(onShare?: OnProgress): AsyncIterable<InputRow>;
  /** The remarks of the last `rows()` call so far. */
  remarks(): InputRemarks;
}

/** Values that kybatch read differently from the file, so far. */
export interface InputRemarks {
  readonly emptied: readonly EmptiedCells[];
  readonly filled: readonly FilledCells[];
  /** The first names with lost characters, and how many there are. */
  readonly damagedNames: readonly { readonly row: number; readonly line: number; readonly text: string }[];
  readonly damagedNameRows: number;
  /** The first lines that are not companies, and how many there are. */
  readonly leftOut: readonly LeftOutLine[];
  readonly leftOutLines: number;
  /** The first valid lines with cells beyond the last header, and how many there are. */
  readonly surplus: readonly { readonly line: number; readonly text: string }[];
  readonly surplusLines: number;
}

/** Why a cell is filled from above: a ditto mark, a merged cell, the heading of its group. */
export type FilledBy = 'ditto' | 'merged' | 'heading';

export interface FilledCells {
  readonly field: InputField;
  readonly by: FilledBy;
  readonly text: string;
  readonly cells: number;
  readonly row: number;
  readonly line: number;
}

export type EmptiedCells = Omit<FilledCells, 'by'>;

export interface LeftOutLine {
  readonly line: number;
  readonly kind: LeftOutKind;
  readonly text: string;
}

export type LeftOutKind = 'repeated header' | 'totals' | 'footer' | 'ruling' | 'heading';

export interface InputRow {
  /** 1 = first data row. Blank lines and lines that are not companies have no number. */
  readonly row: number;
  /** The physical line on which the record starts. The file's first line is 1. */
  readonly line: number;
  /**
   * The cells exactly as written, one per column, then the cells beyond the last column. Short rows are padded. Rows
   * with broken quotes are split at every delimiter.
   */
  readonly values: readonly string[];
  /** How a workbook stored them if not as text, as in `NumberedLine`. */
  readonly kinds?: string;
  /** Trimmed. Blank cells and placeholders are absent. Empty if the row is damaged, because no cell is certain. */
  readonly fields: InputFields;
  readonly emptied?: readonly { readonly field: InputField; readonly text: string }[];
  readonly problem?: RowProblem;
}

export type InputFields = { readonly [F in InputField]?: string };

export type RowProblemCode = LineProblemCode | 'NO_IDENTIFIER' | 'NO_COUNTRY';

export interface RowProblem {
  readonly code: RowProblemCode;
  readonly message: string;
}
