import { LEADS, type Lead } from '../domain/leads.js';
import type { LineProblemCode, OnShare, SheetEncoding, SheetOptions } from '../sheets/sheet.js';

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
  /** Which column is what, as somebody said it: `FIELD=HEADER`. It wins over everything else. */
  readonly map?: readonly string[] | undefined;
  /** The country of rows that have none of their own: an ISO code or a name. */
  readonly country?: string | undefined;
  /** What was agreed to for this list before. */
  readonly agreed?: AgreedColumns | undefined;
  /** Asked where two columns could be meant; without it such a file is refused. */
  readonly askColumns?: AskColumns | undefined;
}

/** What somebody can say about how a file is to be read; what is not said is found. */
export type ReadingOptions = Pick<InputOptions, 'map' | 'country' | 'encoding' | 'delimiter' | 'headerLine' | 'sheet'>;

/** Where the text of a field is: a column, or several pieces that make it up, of which a text in between stands for itself. */
export type ColumnSource = number | readonly ColumnPiece[];
export type ColumnPiece = number | string;
/** Between pieces: what stands before it, or what comes after, whichever a row fills. */
export const OR = '|';
/** A piece of its own: the country that stands as a heading above a group of rows. */
export const HEADING = '^';

export type ColumnMapping = Readonly<Partial<Record<InputField, ColumnSource>>>;

/** What decided: its header, or what it holds as well; the pipeline file; `--map`; an answer; what was agreed to before. */
export type DecidedBy = 'header' | 'content' | 'pipeline' | 'map' | 'answer' | 'agreed';

/** A field, and the column that is read as it. */
export interface ReadColumn {
  readonly field: InputField;
  readonly source: ColumnSource;
  /** The header as written; several are joined by `+`. */
  readonly header: string;
  readonly decidedBy: DecidedBy;
  /** Some of its texts. */
  readonly samples: readonly string[];
}

/** Nobody can tell which column is meant: somebody has to say it. */
export interface ColumnDoubt {
  readonly field: InputField;
  /** What was seen, in words. */
  readonly reason: string;
  /** The likeliest first. */
  readonly choices: readonly ColumnChoice[];
  /** None of them may well be right: they are about somebody else, or hold something else than before. */
  readonly isUnlikely?: boolean;
}

export type ColumnChoice = Pick<ReadColumn, 'source' | 'header' | 'samples'> & {
  /** As `--map` takes it. */
  readonly flag: string;
};

/** The choice that is meant; null: none of them; undefined: there was no answer. */
export type AskColumns = (doubt: ColumnDoubt) => Promise<ColumnChoice | null | undefined>;

/** Which column was read as what, by the names of the columns. */
export interface ColumnAgreement {
  /** The pieces of each field, each in the words of `--map`; none: the field is not to be read. */
  readonly fields: Readonly<Partial<Record<InputField, readonly string[]>>>;
  /** The country of rows that have none of their own. */
  readonly country: string | null;
  /** The fields whose numbers had the form that their countries give them; what was agreed to long ago does not say. */
  readonly fitting?: readonly string[];
}

export interface AgreedColumns extends ColumnAgreement {
  readonly at: number;
  /** The names of all columns that the file before had. */
  readonly columns: readonly string[];
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
  /** Where each field that was found is, by indices into `columns`. */
  readonly mapping: ColumnMapping;
  /** The same for people, with what decided. */
  readonly read: readonly ReadColumn[];
  /** The country of rows that have none of their own, as it was said; null: none was. */
  readonly country: string | null;
  /** What is kept for the next file of the same list. */
  readonly agreement: ColumnAgreement;
  /** The physical line of the header. */
  readonly headerLine: number;
  /** The worksheet that is read; null for text. */
  readonly sheet: string | null;
  readonly warnings: readonly string[];
  /** Streams the rows from disk; may be called more than once. Refuses if the file has changed meanwhile. */
  rows(onShare?: OnShare): AsyncIterable<InputRow>;
  /** What the last call of `rows()` has remarked, as far as its rows were read. */
  remarks(): InputRemarks;
}

/** What was read otherwise than it stands in the file, as far as it was read. */
export interface InputRemarks {
  /** Cells that say that there is nothing, by field and text. */
  readonly emptied: readonly EmptiedCells[];
  /** Cells that are read with what stands above them. */
  readonly filled: readonly FilledCells[];
  /** The first names that have lost characters, and how many there are. */
  readonly damagedNames: readonly { readonly row: number; readonly line: number; readonly text: string }[];
  readonly damagedNameRows: number;
  /** The first lines that are no company, and how many there are. */
  readonly leftOut: readonly LeftOutLine[];
  readonly leftOutLines: number;
  /** The first lines that are read, and have cells behind the last header, and how many there are. */
  readonly surplus: readonly { readonly line: number; readonly text: string }[];
  readonly surplusLines: number;
}

/** Why a row is read with what stands above it: a ditto mark, a merged cell of a workbook, the heading of its group. */
export type FilledBy = 'ditto' | 'merged' | 'heading';

/** Cells that are read with what stands above them, by field and text. */
export interface FilledCells {
  readonly field: InputField;
  readonly by: FilledBy;
  readonly text: string;
  readonly cells: number;
  /** Of the first of them. */
  readonly row: number;
  readonly line: number;
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
export type LeftOutKind = 'repeated header' | 'totals' | 'footer' | 'ruling' | 'heading';

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
  /** What they were in a workbook, where that was not text: as in `NumberedLine`. */
  readonly kinds?: string;
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
