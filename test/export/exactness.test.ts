/** @module-tag long */
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import { fitsDecimal } from '../../src/util/exact-json.js';
import { exportTo, readTable, withRun } from './support.js';

/** Any number JSON can write: signs, leading and trailing zeros, forty digits, exponents. */
const digits = (least: number, most: number) => fc.stringMatching(new RegExp(`^[0-9]{${least},${most}}$`));
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,40}$/)),
    fc.option(digits(1, 30), { nil: undefined }),
    fc.option(fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/), { nil: undefined, freq: 5 }),
  )
  .map(([sign, whole, fraction, exponent]) => `${sign}${whole}${fraction ? `.${fraction}` : ''}${exponent ?? ''}`);
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.constantFrom('', ' ', '"', ',', '\n', '\r\n', "'", 'NULL', '\\N', '=1+1', '-5.20', 'a"b\nc,d'),
);
const figure = fc.oneof(
  numberText.map((value) => ({ type: 'number', value: value as string | null, json: value })),
  text.map((value) => ({ type: 'string', value: value as string | null, json: JSON.stringify(value) })),
  fc.constant({ type: 'null', value: null as string | null, json: 'null' }),
  fc.boolean().map((value) => ({ type: 'boolean', value: String(value) as string | null, json: String(value) })),
);
const figures = fc.array(figure, { minLength: 1, maxLength: 200 });

const bodyOf = (values: readonly { json: string }[]) =>
  `{"2024":{${values.map(({ json }, index) => `"I-${String(index).padStart(3, '0')}":${json}`).join(',')}}}`;

const bought = (body: string) => ({ row: 1, api: 'v2' as const, operation: 'financial', params: { id: '9' }, body });

test('V1-23 any JSON value, raw → CSV → back: equal text, null for null', async () => {
  await fc.assert(
    fc.asyncProperty(figures, async (values) => {
      await withRun(
        { rows: [{ values: ['Acme'], ids: { v2: '9' } }], bought: [bought(bodyOf(values))] },
        async ({ dataDir, ledger, id }) => {
          const folder = join(dataDir, 'out');
          await exportTo(folder, ledger, id);
          const rows = readTable(folder, 'flat_financials');
          expect(rows.map((row) => [row.value_type, row.value])).toEqual(
            values.map(({ type, value }) => [type, type === 'string' ? defusedInCsv(value ?? '') : value]),
          );
        },
      );
    }),
    { numRuns: 5 },
  );
});

/** Texts may get an apostrophe. Numbers, written as numbers or as text, never do. */
const defusedInCsv = (value: string) =>
  /^[=+\-@\t\r\n＝＋－＠]/.test(value) && !/^[+-]?[\d.]+(?:[eE][+-]?\d+)?$/.test(value) ? `'${value}` : value;

test('V1-23 any JSON value, raw → Parquet → back with an independent reader: equal text, null for null', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(figure, { minLength: 1, maxLength: 400 }), async (values) => {
      await withRun(
        { rows: [{ values: ['Acme'], ids: { v2: '9' } }], bought: [bought(bodyOf(values))] },
        async ({ dataDir, ledger, id }) => {
          const folder = join(dataDir, 'out');
          await exportTo(folder, ledger, id, { formats: ['parquet'], compression: 'snappy' });
          const file = await asyncBufferFromFile(join(folder, 'flat_financials.parquet'));
          const rows = (await parquetReadObjects({ file })) as Record<string, unknown>[];
          expect(rows.map((row) => [row.value_type, row.value])).toEqual(
            values.map(({ type, value }) => [type, value]),
          );
          for (const [index, row] of rows.entries()) {
            const { type, value } = values[index] ?? { type: 'null', value: null };
            if (type !== 'number' || value === null) continue;
            expect(row.value_decimal !== null && row.value_decimal !== undefined).toBe(fitsDecimal(value, 38, 10));
          }
        },
      );
    }),
    { numRuns: 5 },
  );
});

test('a year of flat financials is one line, exact as text and rounded only as a double', async () => {
  const body =
    '{"2024":{"Currency":"GBP","Turnover":1.10,"Net-Margin":0.33333333333333331,"Goodwill":"n/a","Odd":1.00},"2023":{"Cash":null}}';
  await withRun(
    {
      rows: [{ values: ['Acme'], ids: { v2: '9' } }],
      bought: [{ row: 1, api: 'v2', operation: 'financial', params: { id: '9' }, body }],
    },
    async ({ dataDir, ledger, id }) => {
      const folder = join(dataDir, 'out');
      await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'] });
      const shown = { company_key: 'v2-9', operation: 'financial' };
      expect(readTable(folder, 'financial_years')).toMatchObject([
        { ...shown, year: '2023', currency: null, cash: null, turnover: null, extra: null },
        { ...shown, year: '2024', currency: 'GBP', turnover: '1.10', goodwill: 'n/a', extra: '{"Odd":1.00}' },
      ]);
      const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
      const connection = await instance.connect();
      const found = await connection.runAndReadAll(
        `SELECT net_margin, net_margin_decimal, net_margin_double, turnover_double, goodwill_double
         FROM '${join(folder, 'financial_years.parquet')}' WHERE year = '2024'`,
      );
      expect(found.getRows()).toEqual([['0.33333333333333331', null, 1 / 3, 1.1, null]]);
      connection.closeSync();
      instance.closeSync();
    },
  );
});
