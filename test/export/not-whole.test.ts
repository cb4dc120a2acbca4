import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { exportRun } from '../../src/export/export-run.js';
import { openDuck } from '../../src/export/formats/duckdb.js';
import type { Format } from '../../src/export/formats/format.js';
import { allFormats } from '../../src/export/formats/list.js';
import { ALL_PARTS, type ExportParts } from '../../src/export/write-answers.js';
import { recordReader } from '../../src/readers/record.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { exportTo, fullRecord, readTable, withRun } from './support.js';

const lengthy = 'x'.repeat(6000);
const rows = ['77', '78', "7'9"].map((v1) => ({ values: ['Acme'], ids: { v1, v2: `v2-${v1}` } }));
const bought = rows.flatMap(({ ids }, index) => [
  {
    row: index + 1,
    api: 'v1',
    operation: 'fullKyb',
    params: { id: ids.v1 },
    body: fullRecord(`"note":"${index}","long":"${lengthy}"`).replace('77', JSON.stringify(ids.v1)),
  } as const,
  {
    row: index + 1,
    api: 'v2',
    operation: 'financial',
    params: { id: ids.v2 },
    body: `{"2024":{"Turnover":${index + 1}}}`,
  } as const,
]);

describe('a damaged stored answer', () => {
  long.each<[string, string]>([
    ['does not unpack', "UPDATE bodies SET bytes = unhex('00112233') WHERE encoding = 'brotli'"],
    [
      'unpacks to other bytes',
      "UPDATE bodies SET bytes = unhex(replace(hex(bytes), hex('Turnover'), hex('Turnoven'))) WHERE size < 100",
    ],
    ['is gone', 'DELETE FROM bodies WHERE size < 100'],
  ])('and %s is named with the command to get it again, and the others are exported', async (_, damage) => {
    await withRun({ rows, bought }, async ({ dataDir, ledger, id }) => {
      await harm(dataDir, `${damage} AND sha256 IN (SELECT raw_sha256 FROM calls WHERE row = 3)`);
      const summary = await exportTo(join(dataDir, 'out'), ledger, id);
      expect(summary.answers_not_exported).toBe(1);
      expect(summary.tables.companies + summary.tables.flat_financials).toBe(5);
      const [error] = readTable(join(dataDir, 'out'), 'errors');
      expect(error).toMatchObject({ row: '3', class: 'not_exported', code: 'ANSWER_DAMAGED', position: '1' });
      const params =
        error?.operation === 'fullKyb'
          ? `v1 fullKyb --params '{"id":"7'\\''9"}'`
          : `v2 financial --params '{"id":"v2-7'\\''9"}'`;
      expect(error?.message).toContain(`kybatch call ${params}`);
    });
  });

  test('in a list of reports too', async () => {
    const fixture = {
      rows: [{ values: ['Acme'], ids: { report: '5' } }],
      bought: [
        { row: null, api: 'v2', operation: 'creditReportHistory', params: { page: 1 }, body: '{"data":[{"id":5}]}' },
      ],
    } as const;
    await withRun(fixture, async ({ dataDir, ledger, id }) => {
      await harm(dataDir, `UPDATE calls SET run_id = '${id}'`, "UPDATE bodies SET bytes = unhex('5b5d')");
      const summary = await exportTo(join(dataDir, 'out'), ledger, id);
      expect([summary.answers_not_exported, summary.tables.credit_reports]).toEqual([1, 1]);
    });
  });
});

long('an answer that makes a reader fail does not affect the tables of others', async () => {
  const readers = ALL_PARTS.readers.map((reader) =>
    reader === recordReader
      ? {
          ...recordReader,
          read: (...[subject, out]: Parameters<typeof recordReader.read>) => {
            recordReader.read(subject, out);
            if (subject.id === '78') throw new RangeError('Invalid string length');
          },
        }
      : reader,
  );
  await withRun({ rows, bought }, async ({ dataDir, ledger, id }) => {
    const folder = join(dataDir, 'out');
    const summary = await exportTo(folder, ledger, id, {}, exportWith({ ...ALL_PARTS, readers }));
    expect(summary).toMatchObject({ answers_not_exported: 1, unexpected_shapes: 0, tables: { companies: 2 } });
    expect(readTable(folder, 'errors')).toMatchObject([
      { row: '2', class: 'not_exported', code: 'ANSWER_NOT_READ', seen: 'RangeError: Invalid string length' },
    ]);
  });
});

describe('a failing format', { tags: 'long' }, () => {
  const failing = (only?: string): Format => ({
    ...allFormats.parquet,
    async open(target) {
      const writer = await allFormats.parquet.open(target);
      return {
        ...writer,
        table(name, columns, isBought) {
          const file = writer.table(name, columns, isBought);
          const finish = async () => {
            throw new Error('Out of Memory Error: failed to pin block\n\nPossible solutions:\n* …');
          };
          if (only !== undefined && only !== name) return file;
          return { ...file, write() {}, append() {}, finish };
        },
      };
    },
  });
  const partsWith = (parquet: Format): ExportParts => ({ ...ALL_PARTS, formats: { ...allFormats, parquet } });

  test('does not affect the others: its file is missing, and the summary gives the reason', async () => {
    await withRun({ rows, bought }, async ({ dataDir, ledger, id }) => {
      const folder = join(dataDir, 'out');
      const write = exportWith(partsWith(failing('companies')));
      const summary = await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'] }, write);
      expect(summary.not_written).toEqual([
        { table: 'companies', format: 'parquet', reason: 'Out of Memory Error: failed to pin block' },
      ]);
      expect(readTable(folder, 'companies')).toHaveLength(3);
      expect([existsSync(join(folder, 'rows.parquet')), existsSync(join(folder, 'companies.parquet'))]).toEqual([
        true,
        false,
      ]);
      expect(readFileSync(join(folder, 'datapackage.json'), 'utf8')).not.toContain('companies.parquet');
    });
  });

  test('without any other format leaves the previous export unchanged', async () => {
    await withRun({ rows, bought }, async ({ dataDir, ledger, id }) => {
      const folder = join(dataDir, 'out');
      await exportTo(folder, ledger, id);
      const before = readFileSync(join(folder, 'summary.json'), 'utf8');
      const exported = exportTo(folder, ledger, id, { formats: ['parquet'] }, exportWith(partsWith(failing())));
      await expect(exported).rejects.toMatchObject({
        code: 'NOT_WRITTEN',
        exit: 1,
        message: expect.stringContaining('Out of Memory'),
      });
      expect(readFileSync(join(folder, 'summary.json'), 'utf8')).toBe(before);
    });
  });
});

describe('Parquet accepts all values that CSV accepts', { tags: 'long' }, () => {
  test.each<[string, number, number, number]>([
    ['many columns with few different values', 500, 20, 200],
    ['many columns of long texts', 300, 4, 30_000],
    ['large reports', 1, 600, 200_000],
  ])('%s, in the order of the rows', async (_, columns, count, size) => {
    await withRun({ rows: [] }, async ({ dataDir }) => {
      const names = Array.from({ length: columns }, (_name, index) => `c${index}`);
      const writer = await allFormats.parquet.open({
        folder: dataDir,
        scratch: dataDir,
        options: { partitionByCountry: false } as never,
      });
      const file = writer.table(
        'wide',
        names.map((name) => ({ name, type: 'text', description: '' }) as const),
        false,
      );
      const text = 'é'.repeat(size / 2);
      for (let row = 0; row < count; row++)
        file.write([Object.fromEntries(names.map((name, at) => [name, `${at === 0 ? row : 'same'} ${text}`]))], null);
      const [facts] = await file.finish();
      writer.close();
      expect(facts).toMatchObject({ rows: count });
      const duck = await openDuck({ scratch: dataDir, threads: 1 });
      const first = await duck.rows(`SELECT split_part(c0, ' ', 1) FROM read_parquet('${facts?.path}')`);
      duck.close();
      expect(first.map(([row]) => Number(row))).toEqual(Array.from({ length: count }, (_row, index) => index));
    });
  });
});

const exportWith =
  (parts: ExportParts): typeof exportRun =>
  (snapshot, options) =>
    exportRun(snapshot, options, parts);

async function harm(dataDir: string, ...statements: readonly string[]): Promise<void> {
  for (const statement of statements) await inLedger(dataDir, statement);
}
