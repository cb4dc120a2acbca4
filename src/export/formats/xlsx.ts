import { join } from 'node:path';
import { resultsTable } from '../results-table.js';
import type { Format } from './format.js';
import { ResultsFile } from './results-file.js';

const fileName = (table: string): string => `${table}.xlsx`;

/** What people open. */
export const RESULTS_WORKBOOK = fileName(resultsTable.name);

/** `results.xlsx` alone: a workbook for people, with the lines of the input, what its columns mean, and what is asked. */
export const xlsx: Format = {
  name: 'xlsx',
  only: [resultsTable.name],
  async open({ folder, questions }) {
    const open: ResultsFile[] = [];
    return {
      versions: {},
      table(name, columns) {
        const file = new ResultsFile(join(folder, fileName(name)), columns, questions);
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
