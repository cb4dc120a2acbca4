import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportRun } from '../../src/export/export-run.js';
import type { Format, TableFile } from '../../src/export/formats/format.js';
import { allFormats } from '../../src/export/formats/list.js';
import { tablesOf } from '../../src/export/tables.js';
import { ALL_PARTS, type ExportParts } from '../../src/export/write-answers.js';
import { readers } from '../../src/readers/list.js';
import { openAnswer } from '../../src/readers/parts/open-answer.js';
import { readFields } from '../../src/readers/parts/read-fields.js';
import type { Reader } from '../../src/readers/reader.js';
import { column, type Row, table } from '../../src/readers/table.js';
import { describeTables } from '../docs/reference/tables.js';
import { long } from '../helpers/long.js';
import { exportTo, type RunFixture, readTable, withRun } from './support.js';

const licenceFields = [column('number', 'text', 'Number of the licence')] as const;
const licenceTable = table({
  name: 'licences',
  onePer: 'company',
  description: 'Licences that a company holds.',
  source: 'v2 licence',
  key: ['v2_company_id'],
  keyAlwaysThere: true,
  columns: [column('v2_company_id', 'id', 'The company', 'the request'), ...licenceFields],
});
/** A module that the provider does not have. */
const licences: Reader = {
  name: 'licences',
  space: 'v2',
  operations: ['licence'],
  tables: [licenceTable],
  read({ id, answers }, out) {
    for (const opened of answers.flatMap((answer) => openAnswer(answer, out) ?? [])) {
      const { cells } = readFields(opened.path.object(opened.body) ?? {}, licenceFields, opened.path);
      out.add(licenceTable, { v2_company_id: id, ...cells });
    }
  },
};

const bought = (operation: string, id: string, body: string) =>
  ({ row: 1, api: 'v2', operation, params: { id }, subject: { space: 'v2', id }, body }) as const;
const fixture: RunFixture = {
  rows: [{ values: ['Acme'], ids: { v2: '9' } }],
  bought: [bought('licence', '9', '{"number":"L-1"}'), bought('financial', '9', '{"2024":{"Turnover":-5.20}}')],
};

const exportWith =
  (parts: ExportParts): typeof exportRun =>
  (snapshot, options) =>
    exportRun(snapshot, options, parts);

long('a listed reader has its table in the export, the summary, the data package and the docs', async () => {
  const parts = { ...ALL_PARTS, readers: [...readers, licences] };
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    const folder = join(dataDir, 'out');
    const summary = await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'] }, exportWith(parts));
    expect(readTable(folder, 'licences')).toEqual([{ v2_company_id: '9', number: 'L-1', company_key: 'v2-9' }]);
    expect(summary.tables).toMatchObject({ licences: 1, flat_financials: 1 });
    expect(summary.files.map(({ path }) => path)).toEqual(expect.arrayContaining(['licences.parquet']));
    expect(readFileSync(join(folder, 'datapackage.json'), 'utf8')).toContain('"name": "licences-parquet"');
    expect(describeTables(tablesOf(parts.readers)).get('licences')).toContain('One row per company.');
  });
});

test('two tables of one name are refused', () => {
  const again: Reader = { ...licences, tables: [{ ...licenceTable, name: 'officers' }] };
  expect(() => tablesOf([...readers, again])).toThrow(/ officers$/);
});

/** A format that only takes rows. */
class JsonFile implements TableFile {
  readonly #rows: Row[] = [];
  constructor(readonly path: string) {}
  write(rows: readonly Row[]): void {
    this.#rows.push(...rows);
  }
  async finish() {
    writeFileSync(this.path, JSON.stringify(this.#rows));
    return [{ path: this.path, rows: this.#rows.length, bytes: 0, sha256: '' }];
  }
}
const asJson: Format = {
  name: 'csv',
  open: async ({ folder }) => ({
    versions: {},
    table: (name) => new JsonFile(join(folder, `${name}.json`)),
    close() {},
  }),
  resource: ({ name }) => ({ name, properties: { format: 'json' } }),
};

long('a format without lines gets the rows of every table, including the bulk, beside one with lines', async () => {
  const parts = { ...ALL_PARTS, formats: { ...allFormats, csv: asJson } };
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    const folder = join(dataDir, 'out');
    const summary = await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'] }, exportWith(parts));
    const figures = JSON.parse(readFileSync(join(folder, 'flat_financials.json'), 'utf8')) as unknown[];
    expect(figures).toMatchObject([{ indicator: 'Turnover', value: '-5.20' }]);
    const files = summary.files.filter(({ table: name }) => name === 'flat_financials');
    expect(files.map(({ path, rows }) => [path, rows])).toEqual([
      ['flat_financials.json', 1],
      ['flat_financials.parquet', 1],
    ]);
    expect(summary.tables.flat_financials).toBe(1);
  });
});

long('lines for a file that takes none are refused, not skipped', async () => {
  const csv: Format = { ...asJson, renderer: () => ({ add() {}, take: () => new Uint8Array(), longestLine: 0 }) };
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    const parts = { ...ALL_PARTS, formats: { ...allFormats, csv } };
    const exported = exportTo(join(dataDir, 'out'), ledger, id, {}, exportWith(parts));
    await expect(exported).rejects.toThrow(/^csv .* flat_financials /);
  });
});
