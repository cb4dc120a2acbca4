import { join } from 'node:path';
import { CsvFile } from './csv-file.js';
import { CsvText } from './csv-text.js';
import type { Format } from './format.js';
import { FIELD_TYPES, schemaOf } from './schema.js';

/** One `<table>.csv` for each table. */
export const csv: Format = {
  name: 'csv',
  async open({ folder, options }) {
    return {
      versions: {},
      table: (name, columns) => new CsvFile(join(folder, `${name}.csv`), columns, options.csv),
      close() {},
    };
  },
  renderer: (columns, options) => new CsvText(columns, options.csv.delimiter),
  resource: (table, columns, options) => ({
    name: table.name,
    properties: {
      type: 'table',
      format: 'csv',
      mediatype: 'text/csv',
      encoding: 'utf-8',
      dialect: {
        delimiter: options.csv.delimiter,
        lineTerminator: '\r\n',
        quoteChar: '"',
        doubleQuote: true,
        header: true,
      },
      schema: schemaOf(
        table,
        columns.map(({ name, type, description }) => ({ name, type: FIELD_TYPES[type], description })),
      ),
    },
  }),
};
