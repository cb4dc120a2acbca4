import { join } from 'node:path';
import type { Column } from '../../readers/table.js';
import { loadDuck, openDuck } from './duck.js';
import type { Format } from './format.js';
import { ParquetFile, parquetColumns } from './parquet-file.js';
import { ParquetText } from './parquet-text.js';
import { FIELD_TYPES, type Field, schemaOf } from './schema.js';

/** One `<table>.parquet` for each table, or a folder with one for each country. */
export const parquet: Format = {
  name: 'parquet',
  async check() {
    await loadDuck();
  },
  async open({ folder, scratch, options }) {
    const split = options.partitionByCountry;
    const duck = await openDuck({ scratch, threads: split ? 1 : 2 });
    const compression = options.compression ?? 'zstd';
    return {
      versions: { duckdb: duck.version },
      table(name, columns, bought) {
        const byCountry = split && bought;
        const path = join(folder, byCountry ? name : `${name}.parquet`);
        return new ParquetFile(path, name, columns, { duck, scratch, byCountry, compression });
      },
      close: () => duck.close(),
    };
  },
  renderer: (columns, options) => new ParquetText(columns, options.partitionByCountry),
  resource: (table, columns) => ({
    name: `${table.name}-parquet`,
    properties: {
      format: 'parquet',
      mediatype: 'application/vnd.apache.parquet',
      schema: schemaOf(table, columns.flatMap(fieldsOf)),
    },
  }),
};

/** The text of a number, and its decimal. */
function fieldsOf(column: Column): readonly Field[] {
  const { name, type, description } = column;
  const decimals = parquetColumns([column]).slice(1);
  return [
    { name, type: type === 'number' ? 'string' : FIELD_TYPES[type], description },
    ...decimals.map((decimal) => ({
      name: decimal.name,
      type: 'number',
      description: `${name} as a number, where DECIMAL(38, 10) holds it exactly`,
    })),
  ];
}
