import type { ColumnType, Table } from '../../readers/table.js';

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** A Table Schema of the data package. */
export const schemaOf = (table: Table, fields: readonly Field[]) => ({
  fields,
  missingValues: [''],
  ...(table.keyAlwaysThere ? { primaryKey: table.key } : { uniqueKeys: [table.key] }),
});

export const FIELD_TYPES: Readonly<Record<ColumnType, string>> = {
  text: 'string',
  id: 'string',
  scalar: 'string',
  value: 'string',
  text_or_list: 'string',
  json: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'datetime',
};
