import { join } from 'node:path';
import type { RowOutcome } from '../../domain/outcomes.js';
import type { Column, ColumnType } from '../../readers/table.js';
import type { CellKind, SheetCell } from '../../sheets/xlsx/write-sheet.js';
import { WorkbookWriter } from '../../sheets/xlsx/write-workbook.js';
import { withoutEmails } from '../../util/sanitize-text.js';
import { hasEnded, stateOfStatus } from '../company-at-a-glance.js';
import { OWN_KINDS, type ResultColumn, type ResultRow, resultsTable } from '../results-table.js';
import type { FileFacts, Format, QuestionLines, SummarySheet, TableFile } from './format.js';

const fileName = (table: string): string => `${table}.xlsx`;

/**
 * Only `results.xlsx`: a workbook for people with the input rows, the meaning of its columns, and the review questions.
 */
export const xlsx: Format = {
  name: 'xlsx',
  only: [resultsTable.name],
  async open({ folder, questions, summary, options: { includeContacts } }) {
    const open: ResultsFile[] = [];
    return {
      versions: {},
      table(name, columns) {
        const file = new ResultsFile(
          join(folder, fileName(name)),
          columns,
          includeContacts ? questions : questions && withoutContacts(questions),
          summary,
        );
        open.push(file);
        return file;
      },
      close() {
        for (const file of open) file.abandon();
      },
    };
  },
  resource: (table) => ({
    name: `${table.name}-xlsx`,
    properties: {
      format: 'xlsx',
      mediatype: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    },
  }),
};

/** The table `results` as a workbook, without `extra`, which is JSON. */
export class ResultsFile implements TableFile {
  readonly #book: WorkbookWriter;
  readonly #columns: readonly Column[];
  readonly #own: number;
  readonly #outcome: string;
  readonly #reason: string;
  readonly #status: string;
  readonly #year: string;
  readonly #questions: QuestionLines | undefined;
  #rows = 0;
  #isFinished = false;

  /** `columns`: the input's, then ours in the order of the table, whatever their names here. */
  constructor(
    readonly path: string,
    columns: readonly Column[],
    questions: QuestionLines | undefined,
    private readonly summary?: (() => Promise<SummarySheet>) | undefined,
  ) {
    const own = columns.slice(-resultsTable.columns.length);
    const nameOf = (wanted: ResultColumn) =>
      own[resultsTable.columns.findIndex(({ name }) => name === wanted)]?.name ?? wanted;
    this.#columns = columns.slice(0, -1);
    this.#own = columns.length - own.length;
    this.#outcome = nameOf('outcome');
    this.#reason = nameOf('reason');
    this.#status = nameOf('company_status');
    this.#year = nameOf('turnover_year');
    this.#questions = questions;
    this.#book = new WorkbookWriter(path, { fills: ALL_FILLS });
    this.#book.begin({
      name: 'Results',
      columns: this.#columns.map(({ name }, index) => ({
        header: name,
        hidden: index >= this.#own && FOR_MACHINES.has(resultsTable.columns[index - this.#own]?.name ?? 'extra'),
      })),
      keepsFirstColumn: true,
    });
  }

  write(rows: readonly ResultRow[]): void {
    this.#book.write(rows.map((row) => this.#line(row)));
    this.#rows += rows.length;
  }

  drain(): Promise<void> {
    return this.#book.drain();
  }

  async finish(): Promise<readonly FileFacts[]> {
    const results = this.#book.sheets;
    this.#book.begin({
      name: 'Columns',
      columns: [
        { header: 'column', width: 30 },
        { header: 'meaning', width: 110 },
      ],
    });
    this.#book.write(explainColumns(this.#columns, results));
    if (this.#questions !== undefined) this.#writeQuestions(this.#questions);
    if (this.summary !== undefined) this.#writeSummary(await this.summary());
    const { bytes, sha256 } = await this.#book.finish();
    this.#isFinished = true;
    return [{ path: this.path, rows: this.#rows, bytes, sha256 }];
  }

  abandon(): void {
    if (!this.#isFinished) this.#book.abandon();
  }

  #line(row: ResultRow): readonly SheetCell[] {
    const outcome = row[this.#outcome] ?? '';
    const outcomeFill = OUTCOME_FILLS[outcome];
    const stateFill = fillOfStatus(row[this.#status] ?? null);
    // A dissolved company must not have a green row that readers pass over.
    const reasonFill = outcome === 'complete' ? (stateFill ?? outcomeFill) : outcomeFill;
    const ownKinds = row[OWN_KINDS] ?? '';
    return this.#columns.map(({ name, type }, index): SheetCell => {
      const text = row[name] ?? null;
      if (text === null) return null;
      if (index < this.#own) {
        const kind = OWN[ownKinds[index] ?? ''];
        return kind === undefined ? text : { text, as: kind };
      }
      if (name === this.#outcome && outcomeFill !== undefined) return { text, fill: outcomeFill };
      if (name === this.#reason && reasonFill !== undefined) return { text, fill: reasonFill };
      if (name === this.#status && stateFill !== undefined) return { text, fill: stateFill };
      // A year is text in the tables, because some registers have other periods.
      const as = name === this.#year ? 'count' : KINDS[type];
      return as === undefined ? text : { text, as };
    });
  }

  #writeSummary({ lines, charts }: SummarySheet): void {
    const columns = [
      { header: 'Summary', width: 44 },
      { header: '', width: 24 },
      { header: '', width: 40 },
    ];
    this.#book.begin({ name: 'Summary', columns, isSummary: true });
    this.#book.write(lines);
    this.#book.endWithCharts(charts);
  }

  #writeQuestions({ columns, lines, choices, counts, hidden }: QuestionLines): void {
    this.#book.begin({
      name: 'Questions',
      columns: columns.map((header) => {
        const list = choices[header];
        if (list !== undefined) return { header, choices: list };
        if (hidden.includes(header)) return { header, hidden: true };
        return counts.includes(header) ? { header, as: 'count' } : { header };
      }),
    });
    this.#book.write(lines);
  }
}

/** The last columns, which tell programs what a line is about. A click shows them. */
const FOR_MACHINES: ReadonlySet<ResultColumn> = new Set([
  'row',
  'line',
  'company_key',
  'v1_company_id',
  'v2_company_id',
  'credit_source_id',
  'credit_report_id',
]);

const withoutContacts = (questions: QuestionLines): QuestionLines => {
  const isOwn = questions.columns.map((name) => questions.own.includes(name));
  const hide = (line: readonly string[]) => line.map((cell, index) => (isOwn[index] ? cell : withoutEmails(cell)));
  return { ...questions, lines: questions.lines.map(hide) };
};

function fillOfStatus(status: string | null): string | undefined {
  const state = status === null ? undefined : stateOfStatus(status);
  return state && (hasEnded(state) ? ENDED_FILL : TROUBLED_FILL);
}

/** By the letters of `SnapshotRow.kinds`: a cell that was a number or a date becomes one again if that is exact. */
const OWN: Readonly<Record<string, CellKind>> = { n: 'figure', d: 'local-day' };

/** The cell kind of each column type. Unlisted types are text, whatever they look like. */
const KINDS: Readonly<Partial<Record<ColumnType, CellKind>>> = {
  integer: 'count',
  number: 'amount',
  scalar: 'amount',
  date: 'day',
  timestamp: 'day',
};

function explainColumns(columns: readonly Column[], sheets: readonly string[]): readonly (readonly SheetCell[])[] {
  return [
    ...columns.map(({ name, description, from }) => [
      name,
      from === 'the input' ? 'Your own column, as it was' : description.replace('See rows.match_grade', GRADE),
    ]),
    ...(sheets.length < 2
      ? []
      : [[null, `The list is longer than a sheet. It continues in ${sheets.slice(1).join(', ')}`]]),
    [null, null],
    ...Object.entries(OUTCOMES).map(([outcome, words]): readonly SheetCell[] => [
      { text: outcome, fill: OUTCOME_FILLS[outcome] ?? '' },
      words,
    ]),
    [
      { text: 'reason, company_status', fill: ENDED_FILL },
      'This colour: dissolved, struck off or deleted, according to the register',
    ],
    [
      { text: 'reason, company_status', fill: TROUBLED_FILL },
      'This colour: insolvent, in liquidation, in administration or dormant, according to the register',
    ],
    [null, null],
    ...GRADE_LETTERS,
  ];
}

const GRADE =
  'How well the company agrees with your row. Five letters: registration number, name, VAT number, country, place (see below)';

const OUTCOMES: Readonly<Record<keyof typeof OUTCOME_FILLS, string>> = {
  complete: 'The company is confirmed. Everything that the provider has was bought',
  no_match: 'The provider has no such company, or a person decided so (see reason)',
  needs_review: 'A person has to decide (see reason). Answer in the sheet Questions',
  invalid: 'The row cannot be searched (see reason)',
  failed: 'Something went wrong. To try again: kybatch resume --failed',
  pending: 'Not finished yet. To continue: kybatch resume',
};

const GRADE_LETTERS: readonly (readonly SheetCell[])[] = [
  ['match_grade A', 'The same'],
  ['match_grade B', 'Similar, or the same after a repair of its spelling'],
  ['match_grade F', 'Different'],
  ['match_grade Z', 'Missing, or it cannot be compared'],
];

/** Light enough to read text on, and distinguishable for most eyes. A word beside each colour says the same. */
const OUTCOME_FILLS: Readonly<Record<string, string>> = {
  complete: 'D9EAD3',
  no_match: 'E7E6E6',
  needs_review: 'FFF2CC',
  invalid: 'FCE4D6',
  failed: 'F4CCCC',
  pending: 'DDEBF7',
} satisfies Record<RowOutcome, string>;

/** A company that is no longer in the register. */
const ENDED_FILL = 'F4B183';

/** A registered company with an unusual status. */
const TROUBLED_FILL = 'FFE699';

export const SUMMARY_FILLS = { section: 'E7E6E6', ended: ENDED_FILL, troubled: TROUBLED_FILL } as const;

const ALL_FILLS: readonly string[] = [...Object.values(OUTCOME_FILLS), ENDED_FILL, TROUBLED_FILL];
