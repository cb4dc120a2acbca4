import type { InputField } from '../../../../src/input/types.js';

/** The expected reading of a file, written manually from knowledge of its maker. */
export interface Expected {
  /** The maker of such files, and the peculiarity of this one. */
  readonly like: string;
  /** How it must be read: as it is, or with the flags of `answer` if there is a `question`. */
  readonly reading?: Reading;
  /** Columns that kybatch must ask about. Without a terminal it refuses the file and names each of them. */
  readonly question?: Question;
  /** The evidence is thin: kybatch may ask, but need not. */
  readonly mayAsk?: Question;
  /** The flags that a person then adds. */
  readonly answer?: readonly string[];
  /** v1 IDs of the sandbox's companies, by line. The file can be run on it, and no other company may be confirmed. */
  readonly companies?: Readonly<Record<string, string>>;
  /** The fewest rows that must be confirmed in such a run. */
  readonly confirmed?: number;
}

export interface Question {
  /** Each must be printed. `a|b` means one of them. */
  readonly mentions: readonly string[];
}

export interface Reading {
  /** Field → header, or headers joined by ` + ` if two columns make one value. No other field may be read. */
  readonly columns: Readonly<Partial<Record<InputField, string>>>;
  /** Fields that may be read or not. */
  readonly optional?: Readonly<Partial<Record<InputField, string>>>;
  /** Rows about companies, valid or not. */
  readonly rows: number;
  /** Lines without a company. They are left out or invalid, and never searched for. */
  readonly notCompanies?: readonly number[];
  /** Line → a code of why it is invalid. */
  readonly invalid?: Readonly<Record<string, string>>;
  /** Each of these must be printed, because some input is left out. */
  readonly says?: readonly string[];
  /** Exact values of some rows. Null: this field is not searched by. */
  readonly cells: readonly ExpectedCells[];
}

export type ExpectedCells = { readonly line: number } & ExpectedFields;

export type ExpectedFields = { readonly [F in InputField]?: string | null };
