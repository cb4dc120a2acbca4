// How a reader turns stored answers into rows of tables.

import type { IdSpace } from '../domain/provider.js';
import type { ExactJson } from '../util/exact-json.js';
import { withoutAnyContactsInJson, withoutEmails } from '../util/sanitize-text.js';
import { type Cell, hideContacts, type Row, type RowOf, type Table } from './table.js';

/**
 * A reader makes rows of tables from the raw answers of one module. `list.ts` names it, and the export, the data
 * package, the summary and `docs/reference/tables` follow from its declaration.
 */
export interface Reader {
  readonly name: string;
  /** The ID space of its subjects: companies or reports. */
  readonly space: IdSpace;
  /** It reads the newest stored answers of these operations about a subject. */
  readonly operations: readonly string[];
  /** Operations without a company ID that were asked for the subject, in order. */
  readonly asked?: readonly string[];
  /** Answers about many subjects. The part about one subject is read with its own answers. */
  readonly lists?: ListReader;
  readonly tables: readonly Table[];
  /**
   * Operations whose answers have separately read members, and the members that the others need. Members that are equal
   * in two answers need not be read to compare them.
   */
  readonly apart?: Readonly<Record<string, readonly string[]>>;
  /** Operations that return the same lists, of which one is shown: a new answer may change which one. */
  readonly sharing?: readonly string[];
  /** Its rows are most of an export, so they are read last and on two threads (docs/developers/performance.md, "Export"). */
  readonly bulk?: true;
  readonly glance?: (out: ReaderOutput) => Glance;
  /** An undocumented form is an issue in `out`. An exception is an issue of the whole subject. */
  read(subject: SubjectAnswers, out: ReaderOutput): void;
}

export interface ListReader {
  readonly operations: readonly string[];
  items(answer: RawAnswer): readonly ListItem[];
}

export interface ListItem {
  readonly id: string;
  readonly value: ExactJson;
  readonly origin: AnswerOrigin;
  readonly pointer: string;
}

/** All answers about one company or report. */
export interface SubjectAnswers {
  readonly id: string;
  readonly ids: IdsBySpace;
  readonly row: number | null;
  readonly stage: string | null;
  readonly country: string | null;
  /** The confirmed name of the company. Null if unknown. */
  readonly name: string | null;
  /** The newest answer to each request, in the order asked. */
  readonly answers: readonly RawAnswer[];
  /** The key of the company, for exports. Null if unknown. */
  readonly companyKey?: string | null;
  /** What its row noted about answers in `asked`. */
  readonly notes?: readonly { readonly code: string; readonly message: string }[];
  /** From the reader's lists. The last one counts. */
  readonly listed?: ListItem;
}

export type IdsBySpace = Readonly<Partial<Record<IdSpace, string>>>;

export interface RawAnswer extends AnswerOrigin {
  readonly params: Readonly<Record<string, unknown>>;
  readonly ids: IdsBySpace;
  readonly country: string | null;
  readonly body: Buffer;
}

/** The identity of an answer, which an issue refers to. */
export interface AnswerOrigin {
  readonly operation: string;
  readonly rawSha256: string;
  readonly row: number | null;
  readonly stage: string | null;
  readonly fetchedAt: number;
}

/** Without the body, which may be large: issues and list items are kept for long. */
export const originOf = ({ operation, rawSha256, row, stage, fetchedAt }: AnswerOrigin): AnswerOrigin => ({
  operation,
  rawSha256,
  row,
  stage,
  fetchedAt,
});

export interface Issue {
  readonly origin: AnswerOrigin;
  readonly pointer: string;
  readonly expected: string;
  readonly seen: string;
  /** Set if the reader itself failed: the subject is not in the tables. */
  readonly unread?: true;
}

export class ReaderOutput {
  readonly rows = new Map<string, Row[]>();
  readonly issues: Issue[] = [];
  /** By table: the values of `knownBy.within` whose rows came, even if there are none. `''` without such a column. */
  readonly came = new Map<string, Set<string>>();
  /** The tables that show only a part of their list. */
  readonly inPart = new Set<string>();
  readonly #hidden = new Set<string>();
  #issuesBeyond = 0;

  constructor(
    /** Whether e-mail addresses and phone numbers of people are wanted. */
    readonly includeContacts = false,
  ) {}

  add<T extends Table>(table: T, row: RowOf<T>, mayShowAll?: boolean | undefined): void {
    this.addAll(table, [row], mayShowAll);
  }

  /** `mayShowAll`: no cell has a contact. Otherwise each is searched. */
  addAll<T extends Table>(table: T, rows: readonly RowOf<T>[], mayShowAll = this.includeContacts): void {
    const all = this.rows.get(table.name) ?? [];
    if (all.length === 0) this.rows.set(table.name, all);
    for (const row of rows) all.push(mayShowAll ? row : hideContacts(table.columns, row, all.at(-1)));
  }

  /** Whether cells that are parts of this text may be shown. */
  mayShow(text: string): boolean {
    return this.includeContacts || withoutAnyContactsInJson(text) === text;
  }

  /** An absent list says nothing about its items (V1-22). */
  noteCame(table: Table, together = ''): void {
    const before = this.came.get(table.name);
    if (before === undefined) this.came.set(table.name, new Set([together]));
    else before.add(together);
  }

  /** Only this many places are named, and the last issue has the number of the rest. The raw answer has them all. */
  note(issue: Issue): void {
    if (this.issues.length < ISSUES_NAMED) {
      this.issues.push(this.includeContacts ? issue : { ...issue, seen: withoutEmails(issue.seen) });
      return;
    }
    this.#issuesBeyond += 1;
    const { origin } = issue;
    const expected = 'no more places of another form';
    this.issues[ISSUES_NAMED] = { origin, pointer: '', expected, seen: `${this.#issuesBeyond} more` };
  }

  /** Set in place: copies of all rows would take longer than reading them. */
  setCompanyKey(key: Cell): void {
    for (const rows of this.rows.values())
      for (const row of rows as { company_key?: Cell }[]) if (row.company_key === undefined) row.company_key = key;
  }

  /** More is listed than was returned or asked for: the row says so. */
  noteMore(table: Table): void {
    this.inPart.add(table.name);
  }

  /** Only a part of a list came, so it is not compared: missing entries may be in the rest. */
  noteInPart(table: Table): void {
    this.came.delete(table.name);
    this.noteMore(table);
  }

  /** The table shows another answer's rows, so those of this answer are neither shown nor compared. */
  hide(table: Table, { operation, rawSha256 }: Pick<AnswerOrigin, 'operation' | 'rawSha256'>): void {
    this.#hidden.add(placeOf(table, operation, rawSha256));
  }

  /** The rows that are exported and compared. */
  shownOf(table: Table): readonly Row[] {
    const rows = this.rows.get(table.name) ?? [];
    if (this.#hidden.size === 0) return rows;
    return rows.filter((row) => !this.#hidden.has(placeOf(table, row.operation ?? '', row.raw_sha256 ?? '')));
  }

  rowsOf<T extends Table>(table: T): readonly RowOf<T>[] {
    return (this.rows.get(table.name) ?? []) as RowOf<T>[];
  }
}

const placeOf = ({ name }: Table, operation: string, rawSha256: string) => `${name} ${operation} ${rawSha256}`;

/** For one company or report. */
const ISSUES_NAMED = 1000;

/** The returned key facts of a company or report, from the tables of its reader. */
export type Glance = Readonly<Partial<Record<GlanceCell, string>>>;

export type GlanceCell =
  | 'name'
  | 'registration_number'
  | 'country_code'
  | 'status'
  | 'register'
  | 'legal_form'
  | 'incorporation_date'
  | 'turnover'
  | 'turnover_year'
  | 'turnover_currency'
  | 'turnover_filed'
  | 'turnover_filed_year'
  | 'credit_risk'
  | 'credit_risk_words'
  | 'credit_limit'
  | 'credit_limit_currency'
  | 'vat_number'
  | 'address'
  | 'website'
  | 'industry'
  | 'headcount'
  | 'officers_returned'
  | 'shareholders_returned'
  | 'screening_hits'
  /** Names of lists, separated by commas. */
  | 'lists_in_part'
  | 'last_change'
  | 'changed_since'
  | 'not_compared'
  | 'fetched_at';

/** Reads one subject. A row of an undeclared table would have no file. */
export function readSubject(reader: Reader, subject: SubjectAnswers, includeContacts: boolean): ReaderOutput {
  const out = new ReaderOutput(includeContacts);
  try {
    reader.read(subject, out);
  } catch (error) {
    return unread(subject, error);
  }
  for (const name of out.rows.keys()) {
    if (!reader.tables.some((table) => table.name === name))
      throw new TypeError(`the reader ${reader.name} does not declare the table ${name}`);
  }
  if (subject.companyKey !== undefined) out.setCompanyKey(subject.companyKey);
  return out;
}

/** A subject that makes a reader fail does not affect the tables of others. */
function unread({ answers, row, stage }: SubjectAnswers, error: unknown): ReaderOutput {
  const out = new ReaderOutput();
  const [answer] = answers;
  const origin = answer === undefined ? { operation: '', rawSha256: '', row, stage, fetchedAt: 0 } : originOf(answer);
  const seen = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  out.issues.push({ origin, pointer: '', expected: 'an answer that can be read', seen, unread: true });
  return out;
}
