import type { IdSpace } from '../domain/provider.js';
import type { ExactJson } from '../util/exact-json.js';
import { withoutEmails } from '../util/sanitize-text.js';
import type { ColumnType, Row, RowOf, Table } from './table.js';

/**
 * A reader makes rows of tables from the raw answers of one module. It declares itself once: `list.ts` names it, and
 * the export, the data package, the summary and `docs/tables.md` follow.
 */
export interface Reader {
  readonly name: string;
  /** Whose IDs its subjects have: those of companies in one of the spaces, or of reports. */
  readonly space: IdSpace;
  /** It reads the newest owned answers of these operations about a subject. */
  readonly operations: readonly string[];
  /** And of these, which name no company by an ID: those that were asked for the subject, in the order of asking. */
  readonly asked?: readonly string[];
  /** Answers that tell of many subjects at once. What they say of one comes with its own answers. */
  readonly lists?: ListReader;
  readonly tables: readonly Table[];
  /**
   * Operations whose answers have members that are read each on its own, and those that must be there for the others to be
   * read: what is the same in two answers need not be read to compare them.
   */
  readonly apart?: Readonly<Record<string, readonly string[]>>;
  /** Operations that return the same lists, of which one is shown: whichever is bought anew, it may be another one then. */
  readonly sharing?: readonly string[];
  /** Most of an export is its rows: they are read last, and on two threads (docs/performance.md, "Export"). */
  readonly bulk?: true;
  /** What it tells of a subject at a glance, out of the lines that it has made. */
  readonly glance?: (out: ReaderOutput) => Glance;
  /** A place whose form is not the documented one is an issue in `out`; what throws is an issue of the whole subject. */
  read(subject: SubjectAnswers, out: ReaderOutput): void;
}

export interface ListReader {
  readonly operations: readonly string[];
  items(answer: RawAnswer): readonly ListItem[];
}

/** What a list says about one subject, and where it says it. */
export interface ListItem {
  readonly id: string;
  readonly value: ExactJson;
  readonly origin: AnswerOrigin;
  readonly pointer: string;
}

/** Everything that was answered about one company or report. */
export interface SubjectAnswers {
  readonly id: string;
  /** The IDs of the same row in other spaces, as far as they are known. */
  readonly ids: IdsBySpace;
  /** The first row it was asked for. */
  readonly row: number | null;
  readonly stage: string | null;
  readonly country: string | null;
  /** The company's, as it was confirmed; null where that is not known. */
  readonly name: string | null;
  /** The newest to each question, in the order they were asked. */
  readonly answers: readonly RawAnswer[];
  /** From the reader's lists; the last of them stands. */
  readonly listed?: ListItem;
}

export type IdsBySpace = Readonly<Partial<Record<IdSpace, string>>>;

/** A raw body, as bought, and the request it answers. */
export interface RawAnswer extends AnswerOrigin {
  readonly params: Readonly<Record<string, unknown>>;
  readonly ids: IdsBySpace;
  /** Country of the confirmed candidate of the row. */
  readonly country: string | null;
  readonly body: Buffer;
}

/** Which answer it was, and for whom: what an issue says about its place. */
export interface AnswerOrigin {
  readonly operation: string;
  readonly rawSha256: string;
  /** The first row that asked for it. */
  readonly row: number | null;
  readonly stage: string | null;
  readonly fetchedAt: number;
}

/** Without the body, which may be large: issues and items of lists are kept for long. */
export const originOf = ({ operation, rawSha256, row, stage, fetchedAt }: AnswerOrigin): AnswerOrigin => ({
  operation,
  rawSha256,
  row,
  stage,
  fetchedAt,
});

/** A place in a body whose form the document does not describe. */
export interface Issue {
  readonly origin: AnswerOrigin;
  readonly pointer: string;
  readonly expected: string;
  readonly seen: string;
  /** Set where the reader itself failed: nothing of the subject is in the tables. */
  readonly unread?: true;
}

/** What a reader adds to: rows by the name of their table, and issues. */
export class ReaderOutput {
  readonly rows = new Map<string, Row[]>();
  readonly issues: Issue[] = [];
  /** By table: the cells of `knownBy.within` of which lines came, be it none; `''` where that is all the same. */
  readonly came = new Map<string, Set<string>>();
  readonly #hidden = new Set<string>();
  #issuesBeyond = 0;

  constructor(
    /** Whether people's e-mail and phone are wanted. */
    readonly includeContacts = false,
  ) {}

  add<T extends Table>(table: T, row: RowOf<T>): void {
    const before = this.rows.get(table.name);
    const shown = this.#shown(table, row);
    if (before === undefined) this.rows.set(table.name, [shown]);
    else before.push(shown);
  }

  addAll<T extends Table>(table: T, rows: readonly RowOf<T>[]): void {
    const before = this.rows.get(table.name);
    if (before === undefined)
      this.rows.set(
        table.name,
        rows.map((row) => this.#shown(table, row)),
      );
    else for (const row of rows) before.push(this.#shown(table, row));
  }

  #shown(table: Table, row: Row): Row {
    if (this.includeContacts) return row;
    let shown = row;
    for (const column of openColumns(table)) {
      const cell = row[column];
      if (!cell) continue;
      const without = withoutEmails(cell);
      if (without !== cell) shown = { ...shown, [column]: without };
    }
    return shown;
  }

  /** A list that did not come says nothing about what is in it (V1-22). */
  noteCame(table: Table, together = ''): void {
    const before = this.came.get(table.name);
    if (before === undefined) this.came.set(table.name, new Set([together]));
    else before.add(together);
  }

  /** So many places are named; how many more there are is told in the last. The raw body has them all. */
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

  /** Only a part of a list came: who is not in it may be in the rest, so it is not compared. */
  noteInPart(table: Table): void {
    this.came.delete(table.name);
  }

  /** What the table shows came with another answer: the lines of this one are neither shown nor compared. */
  hide(table: Table, { operation, rawSha256 }: Pick<AnswerOrigin, 'operation' | 'rawSha256'>): void {
    this.#hidden.add(placeOf(table, operation, rawSha256));
  }

  /** The lines as they are exported, and compared. */
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

/** Of one company or report. */
const ISSUES_NAMED = 1000;

/** They hold what has no column, or names and values of an open set: an e-mail address may be among them. */
const OPEN_COLUMNS: readonly string[] = ['extra', 'value', 'indicator', 'year', 'metric', 'period'];

const openColumnsOf = new WeakMap<Table, readonly string[]>();

/** In a table of people, every text about the person is open: a registry may have put an address into a role. */
function openColumns(table: Table): readonly string[] {
  const known = openColumnsOf.get(table);
  if (known !== undefined) return known;
  const ofPeople = table.columns.some(({ name, contact }) => contact === true && name === 'email');
  const open = table.columns
    .filter(({ name, type }) => OPEN_COLUMNS.includes(name) || (ofPeople && isTextOfPerson(name, type)))
    .map(({ name }) => name);
  openColumnsOf.set(table, open);
  return open;
}

/** A company may be called by an address. */
const isTextOfPerson = (name: string, type: ColumnType): boolean =>
  (type === 'text' || type === 'text_or_list') && !name.startsWith('company_');

/** What a line for people shows of a company or report, out of the tables that its reader makes. Only what was returned. */
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
  | 'fetched_at';

/** What a reader makes of one subject. A row of a table that it does not declare would have no file to go to. */
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
  return out;
}

/** One subject that a reader cannot cope with does not cost the others their tables. */
function unread({ answers, row, stage }: SubjectAnswers, error: unknown): ReaderOutput {
  const out = new ReaderOutput();
  const [answer] = answers;
  const origin = answer === undefined ? { operation: '', rawSha256: '', row, stage, fetchedAt: 0 } : originOf(answer);
  const seen = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  out.issues.push({ origin, pointer: '', expected: 'an answer that can be read', seen, unread: true });
  return out;
}
