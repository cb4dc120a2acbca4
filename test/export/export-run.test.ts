import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { openDuck } from '../../src/export/formats/duckdb.js';
import { parquet } from '../../src/export/formats/parquet.js';
import { boughtTables } from '../../src/export/tables.js';
import { readers } from '../../src/readers/list.js';
import { withFolder } from '../helpers/cli.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { candidate, collect, withSnapshot } from '../ledger/support.js';
import {
  buy,
  createRun,
  exportTo,
  fullRecord,
  NOW,
  type RunFixture,
  readTable,
  settleAgain,
  withRun,
} from './support.js';

const acme: RunFixture = {
  columns: ['id', 'name'],
  rows: [
    { values: ['007', '=HYPERLINK("x")'], ids: { v1: '77', v2: '9' }, state: { matchGrade: 'AAAAA' } },
    { values: ['-5.20', ''], ids: { v2: '8' }, state: { outcome: 'needs_review', stage: 'confirm', stages: {} } },
  ],
  bought: [
    {
      row: 1,
      api: 'v1',
      operation: 'fullKyb',
      params: { id: '77' },
      body: fullRecord('"officers":[{"id":1,"first_name":"","email":"ada@example.com","contact":{"phone":"+44 1"}}]'),
    },
    { row: 1, api: 'v2', operation: 'financial', params: { id: '9' }, body: '{"2024":{"Turnover":-5.20,"Note":"=1"}}' },
  ],
};

const withExport = (
  use: (folder: string, run: { dataDir: string; ledger: Parameters<typeof exportTo>[1]; id: string }) => Promise<void>,
) => withRun(acme, async (run) => use(join(run.dataDir, 'exports', run.id), run));

long('formulas are escaped, numbers are not, and null, empty text and leading zeros survive', async () => {
  await withExport(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id);
    const [first, second] = readTable(folder, 'rows');
    expect(first).toMatchObject({ row: '1', input_id: '007', input_name: `'=HYPERLINK("x")`, record_status: 'done' });
    expect(second).toMatchObject({ input_id: '-5.20', input_name: null, record_status: 'skipped' });
    expect(readTable(folder, 'flat_financials').map(({ value }) => value)).toEqual(["'=1", '-5.20']);
    expect(readTable(folder, 'officers')[0]).toMatchObject({ first_name: '', last_name: null });
    expect(readTable(folder, 'companies')[0]).toMatchObject({
      registration_number: '00045590',
      officers_returned: '1',
    });
  });
});

test('for Excel there is a byte order mark and another delimiter', async () => {
  await withExport(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id, { csv: { delimiter: ';', bom: true } });
    const text = readFileSync(join(folder, 'rows.csv'), 'utf8');
    expect(text.startsWith('\ufeffrow;outcome;stage;')).toBe(true);
    expect(text.endsWith('\r\n')).toBe(true);
  });
});

test('for programs, no cell gets an apostrophe', async () => {
  await withExport(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id, { csv: { delimiter: ',', bom: false, defuse: false } });
    expect(readTable(folder, 'rows')[0]).toMatchObject({ input_name: '=HYPERLINK("x")' });
    expect(readTable(folder, 'flat_financials').map(({ value }) => value)).toEqual(['=1', '-5.20']);
    expect(readFileSync(join(folder, 'datapackage.json'), 'utf8')).not.toContain('apostrophe');
  });
});

long('contacts are in no column and no extra unless asked for', async () => {
  await withExport(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id);
    const everything = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
    expect(everything.filter((text) => /ada@example|\+44 1/.test(text))).toEqual([]);
    await exportTo(folder, ledger, id, { includeContacts: true });
    expect(readTable(folder, 'officers')[0]).toMatchObject({ email: 'ada@example.com', phone: "'+44 1" });
  });
});

long('the summary adds up and names every file with its hash', async () => {
  await withExport(async (folder, { ledger, id }) => {
    const summary = await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'] });
    expect(JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8'))).toEqual(summary);
    expect(summary.conservation).toEqual({ input_rows: 2, sum_of_outcomes: 2, exported_rows: 2, holds: true });
    expect(summary).toMatchObject({
      units_charged: 1,
      outcomes: { complete: 1, needs_review: 1 },
      unexpected_shapes: 0,
    });
    // Rows that no stage has reached are in the sums as in the table.
    const rows = readTable(folder, 'rows');
    for (const [stage, counts] of Object.entries(summary.stages)) {
      const statuses = rows.map((row) => row[`${stage.replaceAll('-', '_')}_status`] ?? '');
      const told = Object.entries(counts).flatMap(([status, times]) => Array<string>(times).fill(status));
      expect([stage, told.sort()]).toEqual([stage, statuses.sort()]);
    }
    expect(Object.keys(summary.stages)).toEqual(['record', 'financials', 'credit-report']);
    for (const { path, sha256, bytes } of summary.files) {
      const file = readFileSync(join(folder, path));
      expect([createHash('sha256').update(file).digest('hex'), file.length]).toEqual([sha256, bytes]);
    }
    const described = ['datapackage.json', 'report.html', 'summary.json'];
    expect(readdirSync(folder).sort()).toEqual([...summary.files.map(({ path }) => path), ...described].sort());
    const report = readFileSync(join(folder, 'report.html'), 'utf8');
    // The report loads and runs nothing, so it can be sent on.
    expect(report).not.toMatch(/<script|<link|<img|(?:src|href)=|url\(|@import/);
    expect(report).toContain(summary.input.sha256);
  });
});

long('tables and ledger are readable only by their owner, with any umask', async () => {
  await withExport(async (folder, { dataDir, ledger, id }) => {
    await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'] });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const file of readdirSync(folder)) expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600);
    if (!isOnPostgres) expect(statSync(join(dataDir, 'kybatch.db')).mode & 0o777).toBe(0o600);
  });
});

long('a run in progress is exported as of one moment', async () => {
  await withExport(async (folder, { ledger, id }) => {
    const body = '{"lite":{"id":78}}';
    await withSnapshot(ledger, id, async (snapshot) => {
      await settleAgain(ledger, id, 2, { ids: [{ space: 'v1', id: '78', grade: null, matchedOn: null }] });
      await buy(ledger, id, { row: 2, api: 'v1', operation: 'fullKyb', params: { id: '78' }, body });
      expect((await collect(snapshot.rows())).map(({ ids }) => ids.v1)).toEqual(['77', undefined]);
      const subjects: string[] = [];
      for await (const subject of snapshot.subjects('v1', ['fullKyb'])) subjects.push(subject.id);
      expect(subjects).toEqual(['77']);
    });
    const { tables } = await exportTo(folder, ledger, id);
    expect([tables.rows, tables.companies]).toEqual([2, 2]);
  });
});

long('the newest answer to a request counts', async () => {
  await withExport(async (folder, { ledger, id }) => {
    await buy(ledger, id, {
      row: 1,
      api: 'v1',
      operation: 'fullKyb',
      params: { id: '77' },
      body: '{"lite":{"id":77,"name":"New"}}',
    });
    await exportTo(folder, ledger, id);
    expect(readTable(folder, 'companies').map(({ name }) => name)).toEqual(['New']);
  });
});

long('answers of direct calls or other runs about a company of the run are exported with it', async () => {
  await withExport(async (folder, { ledger, id }) => {
    const officers = (params: object, name: string) =>
      ({
        api: 'v2',
        operation: 'kybOfficers',
        params: { id: '9', ...params },
        body: `{"data":[{"id":1,"first_name":"${name}"}]}`,
      }) as const;
    await buy(ledger, id, { ...officers({ page: 1 }, 'Ada'), row: null });
    const other = '2026-01-30-fedcba';
    await createRun(ledger, other, { rows: [{ values: ['Acme'] }] });
    await buy(ledger, other, { ...officers({ page: 2 }, 'Grace'), row: 1 });
    await exportTo(folder, ledger, id);
    const ofV2 = readTable(folder, 'officers').filter(({ v2_company_id }) => v2_company_id === '9');
    expect(ofV2.map(({ first_name, v1_company_id }) => [first_name, v1_company_id])).toEqual(
      expect.arrayContaining([
        ['Ada', '77'],
        ['Grace', '77'],
      ]),
    );
  });
});

long('an unreadable body is an error with its place, and the others are exported', async () => {
  await withExport(async (folder, { ledger, id }) => {
    await buy(ledger, id, { row: 2, api: 'v2', operation: 'financial', params: { id: '8' }, body: '<html>' });
    const summary = await exportTo(folder, ledger, id);
    expect(readTable(folder, 'errors')).toMatchObject([
      {
        row: '2',
        class: 'unexpected_shape',
        code: 'UNEXPECTED_SHAPE',
        operation: 'financial',
        pointer: '',
        position: '1',
      },
      { row: '2', line: '3', class: 'needs_review', position: '2' },
    ]);
    expect(summary.unexpected_shapes).toBe(1);
    expect(readTable(folder, 'flat_financials')).toHaveLength(2);
  });
});

long('a failed export leaves the previous one untouched and nothing else behind', async () => {
  await withExport(async (folder, { ledger, id }) => {
    await exportTo(folder, ledger, id);
    const before = readFileSync(join(folder, 'summary.json'), 'utf8');
    const used = await withSnapshot(ledger, id, async (snapshot) => snapshot);
    const closed = { ...ledger, reading: { ...ledger.reading, snapshot: async () => used } };
    await expect(exportTo(folder, closed, id)).rejects.toThrow();
    expect(readFileSync(join(folder, 'summary.json'), 'utf8')).toBe(before);
    expect(readdirSync(join(folder, '..'))).toEqual([id]);
  });
});

long('personal data of a search is not in the candidates unless contacts are asked for', async () => {
  await withExport(async (folder, { ledger, id }) => {
    const extra = '{"email":"ada@example.org","contacts":{"phone":"+44 1"},"founded":1901.10}';
    const seen = [{ ...candidate('77', { decision: 'confirmed' }), extra }];
    await settleAgain(ledger, id, 1, { candidates: [{ space: 'v1', seen }] });
    const cells = async (includeContacts: boolean) => {
      await exportTo(folder, ledger, id, { formats: ['csv'], includeContacts });
      const lines = parse(readFileSync(join(folder, 'candidates.csv')), { columns: true }) as Record<string, string>[];
      return lines.map((line) => line.extra);
    };
    expect(await cells(false)).toEqual(['{"contacts":{},"founded":1901.10}']);
    expect(await cells(true)).toEqual([extra]);
  });
});

long('Parquet by country, sorted by key, read with DuckDB', async () => {
  await withExport(async (folder, { ledger, id }) => {
    const seen = [candidate('77', { decision: 'confirmed', countryCode: 'GB' })];
    await settleAgain(ledger, id, 1, { candidates: [{ space: 'v1', seen }] });
    const summary = await exportTo(folder, ledger, id, { formats: ['parquet'], partitionByCountry: true });
    const paths = summary.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['flat_financials/country=GB/part-0.parquet', 'rows.parquet']));
    await exportTo(folder, ledger, id, { formats: ['csv'], now: NOW });
    expect(existsSync(join(folder, 'flat_financials'))).toBe(false);
  });
});

long('each data table can be split by country and keeps its columns', async () => {
  await withFolder(async (folder) => {
    const csv = { delimiter: ',', bom: false };
    const given = { folder, formats: ['parquet'], csv, includeContacts: true, now: NOW, version: 'test' } as const;
    const options = { ...given, partitionByCountry: true };
    const writer = await parquet.open({ folder, scratch: folder, options });
    const duck = await openDuck({ scratch: folder, threads: 1 });
    for (const { name, columns } of boughtTables(readers)) {
      const file = writer.table(name, columns, true);
      const own = columns.find((column) => column.name === 'country');
      file.write([own === undefined ? {} : { country: 'NZ' }], 'GB');
      const split = own === undefined ? 'country' : 'partition_country';
      expect((await file.finish()).map(({ path }) => path)).toEqual([
        join(folder, name, `${split}=GB`, 'part-0.parquet'),
      ]);
      const from = `read_parquet('${folder}/${name}/*/*.parquet', hive_partitioning = true)`;
      const [read] = await duck.rows(`SELECT ${split}, ${own === undefined ? 'NULL' : 'country'} FROM ${from}`);
      expect(read).toEqual(['GB', own === undefined ? null : 'NZ']);
    }
    duck.close();
    writer.close();
  });
});

long('the DuckDB query of the docs runs', async () => {
  const docs = readFileSync(new URL('../../docs/reference/tables/index.md', import.meta.url), 'utf8');
  const query = /```sql\n([\s\S]*?)```/.exec(docs)?.[1] ?? '';
  await withExport(async (folder, { ledger, id, dataDir }) => {
    await exportTo(folder, ledger, id, { formats: ['parquet'] });
    const duck = await openDuck({ scratch: dataDir, threads: 1 });
    const rows = await duck.rows(query.replaceAll(/'(\w+\.parquet)'/g, `'${folder}/$1'`));
    duck.close();
    expect(rows.map((row) => row.map(String))).toEqual([['Acme', '2024', '-5.2000000000']]);
  });
});

test.skipIf(!existsSync('/dev/full'))(
  'a full disk ends an export with its cause, and the previous one stays',
  { tags: 'long' },
  async () => {
    await withExport(async (folder, { dataDir, ledger, id }) => {
      await exportTo(folder, ledger, id);
      const before = readFileSync(join(folder, 'summary.json'), 'utf8');
      const noRoom = async function* () {
        writeFileSync('/dev/full', 'x');
        yield [];
      };
      const full = {
        ...ledger,
        reading: {
          ...ledger.reading,
          snapshot: async (run: string) => {
            const snapshot = await ledger.reading.snapshot(run);
            return snapshot && { ...snapshot, calls: noRoom };
          },
        },
      };
      await expect(exportTo(folder, full, id, { now: NOW + 1000 })).rejects.toMatchObject({
        code: 'DISK_FULL',
        exit: 1,
        message: expect.stringContaining(folder),
      });
      expect(readFileSync(join(folder, 'summary.json'), 'utf8')).toBe(before);
      expect(readdirSync(join(dataDir, 'exports'))).toEqual([id]);
    });
  },
);

test('an impossible folder is a usage error', async () => {
  await withExport(async (_, { dataDir, ledger, id }) => {
    writeFileSync(join(dataDir, 'file'), '');
    await expect(exportTo(join(dataDir, 'file', 'out'), ledger, id)).rejects.toMatchObject({
      code: 'PLACE_UNUSABLE',
      exit: 2,
    });
  });
});
