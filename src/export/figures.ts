import type { SnapshotAnswer } from '../ledger/snapshot.js';
import { CsvText } from './csv-text.js';
import type { Issue } from './normalise/reading.js';
import { ParquetText } from './parquet-text.js';
import { readFlat } from './read-answers.js';
import type { Rendered, TableText } from './table-file.js';
import { flatFinancials } from './tables/figures.js';

export interface FiguresSetup {
  /** Of the CSV; null: none is wanted. */
  readonly delimiter: string | null;
  readonly parquet: { readonly byCountry: boolean } | null;
}

export interface Figures {
  readonly rendered: { readonly csv?: Rendered; readonly parquet?: Rendered };
  readonly issues: readonly {
    readonly issue: Issue;
    readonly origin: Pick<SnapshotAnswer, 'row' | 'stage' | 'fetchedAt'>;
  }[];
}

/** Makes lines of flat financials from raw bodies. The same on every thread. */
export function figuresRenderer({ delimiter, parquet }: FiguresSetup): (answers: readonly SnapshotAnswer[]) => Figures {
  const csvText = delimiter === null ? undefined : new CsvText(flatFinancials.columns, delimiter);
  const parquetText = parquet === null ? undefined : new ParquetText(flatFinancials.columns, parquet.byCountry);
  return (answers) => {
    const read = answers.map((answer) => ({ answer, gathered: readFlat(answer) }));
    const render = (text: TableText): Rendered => {
      const rows = read.reduce((sum, { gathered }) => sum + gathered.rows.flat_financials.length, 0);
      const lines = read.map(({ answer, gathered }) =>
        gathered.rows.flat_financials.length === 0 ? '' : text.render(gathered.rows.flat_financials, answer.country),
      );
      return { bytes: new TextEncoder().encode(lines.join('')), rows, longestLine: text.longestLine };
    };
    return {
      rendered: {
        ...(csvText === undefined ? {} : { csv: render(csvText) }),
        ...(parquetText === undefined ? {} : { parquet: render(parquetText) }),
      },
      issues: read.flatMap(({ answer: { row, stage, fetchedAt }, gathered }) =>
        gathered.issues.map((issue) => ({ issue, origin: { row, stage, fetchedAt } })),
      ),
    };
  };
}
