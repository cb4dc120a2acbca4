import type { Column, ColumnType } from '../../readers/table.js';
import type { CellKind, SheetCell } from '../../sheets/workbook-out/sheet.js';
import { WorkbookWriter } from '../../sheets/write-workbook.js';
import { hasEnded, stateOfStatus } from '../company-state.js';
import { OWN_KINDS, type ResultColumn, type ResultRow, resultsTable } from '../results-table.js';
import { explainColumns } from './explain-columns.js';
import type { FileFacts, QuestionLines, TableFile } from './format.js';
import { ALL_FILLS, ENDED_FILL, OUTCOME_FILLS, TROUBLED_FILL } from './result-colours.js';

/** The table `results` as a workbook. `extra`, which is JSON, is left out. */
export class ResultsFile implements TableFile {
  readonly #book: WorkbookWriter;
  readonly #columns: readonly Column[];
  /** How many of them are the input's. */
  readonly #own: number;
  readonly #outcome: string;
  readonly #reason: string;
  readonly #status: string;
  readonly #year: string;
  readonly #questions: QuestionLines | undefined;
  #rows = 0;
  #isFinished = false;

  /** `columns`: the input's, then ours in the order of the table, whatever they are called here. */
  constructor(
    readonly path: string,
    columns: readonly Column[],
    questions: QuestionLines | undefined,
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
      columns: this.#columns.map(({ name }) => ({ header: name })),
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
        { header: 'what it says', width: 110 },
      ],
    });
    this.#book.write(explainColumns(this.#columns, results));
    if (this.#questions !== undefined) this.#writeQuestions(this.#questions);
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
    // Nobody should read past a company that is gone because its line is as green as the others.
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
      // A year is a text in the tables: the statements of some registers have other periods.
      const as = name === this.#year ? 'count' : KINDS[type];
      return as === undefined ? text : { text, as };
    });
  }

  #writeQuestions({ columns, lines, choices, counts }: QuestionLines): void {
    this.#book.begin({
      name: 'Questions',
      columns: columns.map((header) => {
        const list = choices[header];
        if (list !== undefined) return { header, choices: list };
        return counts.includes(header) ? { header, as: 'count' } : { header };
      }),
    });
    this.#book.write(lines);
  }
}

function fillOfStatus(status: string | null): string | undefined {
  const state = status === null ? undefined : stateOfStatus(status);
  return state && (hasEnded(state) ? ENDED_FILL : TROUBLED_FILL);
}

/** By the letters of `SnapshotRow.kinds`: a cell that was a number or a day is one again, if it is exact as one. */
const OWN: Readonly<Record<string, CellKind>> = { n: 'figure', d: 'local-day' };

/** What the cells of a column are; what is not named is text, whatever it looks like. */
const KINDS: Readonly<Partial<Record<ColumnType, CellKind>>> = {
  integer: 'count',
  number: 'amount',
  scalar: 'amount',
  date: 'day',
  timestamp: 'day',
};
