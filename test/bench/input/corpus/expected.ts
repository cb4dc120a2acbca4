import type { InputField } from '../../../../src/input/types.js';

/** What must become of a file, as a careful person who knows its maker would say. Written by hand, not by our reader. */
export interface Expected {
  /** Who makes such files, and what is odd about this one. */
  readonly like: string;
  /** How it must be read: as it is, or with the flags of `answer` where there is a `question`. */
  readonly reading?: Reading;
  /** Columns that must be asked about. Without a terminal the file is refused, and each is named. */
  readonly question?: Question;
  /** The evidence is thin: this may be asked, but need not. */
  readonly mayAsk?: Question;
  /** What a person then adds to the command. */
  readonly answer?: readonly string[];
  /** v1 IDs of the sandbox's companies, by line: the file can be run on it, and no other company may be confirmed. */
  readonly companies?: Readonly<Record<string, string>>;
  /** Rows that must be confirmed in such a run, at least. */
  readonly confirmed?: number;
}

export interface Question {
  /** Each stands in what is printed; `a|b`: one of them. */
  readonly mentions: readonly string[];
}

export interface Reading {
  /** Field → header, or headers joined by ` + ` where two columns make one value. A field that is not here must not be read. */
  readonly columns: Readonly<Partial<Record<InputField, string>>>;
  /** Fields that may be read as well, or not: nothing depends on them. */
  readonly optional?: Readonly<Partial<Record<InputField, string>>>;
  /** Rows that are about companies, sound or not. */
  readonly rows: number;
  /** Lines that are about none: left out, or invalid, but never searched for. */
  readonly notCompanies?: readonly number[];
  /** Line → why it is invalid: one of the codes. */
  readonly invalid?: Readonly<Record<string, string>>;
  /** What must be said beside it, for something is left out: each of these. */
  readonly says?: readonly string[];
  /** What must stand in some rows, exactly; null: nothing may be searched for by this field. */
  readonly cells: readonly ExpectedCells[];
}

export type ExpectedCells = { readonly line: number } & ExpectedFields;

export type ExpectedFields = { readonly [F in InputField]?: string | null };
