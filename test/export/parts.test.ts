/** @module-tag long */
import { hash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ownFiles } from '../../src/export/atomic-folder.js';
import { exportRun } from '../../src/export/export-run.js';
import { openDuck } from '../../src/export/formats/duckdb.js';
import type { ExportFormat } from '../../src/export/formats/format.js';
import { companyLines, RECORDS, TABLES_VERSION, unpackRecord } from '../../src/export/parts.js';
import type { ExportSummary } from '../../src/export/summary.js';
import { boughtTables } from '../../src/export/tables.js';
import { ALL_PARTS, type ExportParts } from '../../src/export/write-answers.js';
import { READERS_VERSION, readers } from '../../src/readers/list.js';
import { DAY, decideAll, RUN } from '../app/nights.js';
import { type Job, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { openLedgerIn } from '../helpers/ledger-place.js';
import { withSnapshot } from '../ledger/support.js';
import { exportTo, fullRecord, withRun } from './support.js';

const NIGHTLY = [...RUN, '--no-export', '--concurrency', '2'];
const RUNS = Number(process.env.KYBATCH_PROPERTY_RUNS ?? 2);
const POOL = 14;
const BOUGHT = boughtTables(readers).map(({ name }) => name);

/** The tables of the newest run. `inParts`: with at most a few companies in a part. */
async function write(
  { cwd }: Pick<Job, 'cwd'>,
  folder: string,
  {
    earlier,
    ...more
  }: { earlier?: readonly string[]; formats?: readonly ExportFormat[]; contacts?: boolean; version?: string } = {},
): Promise<ExportSummary> {
  const ledger = await openLedgerIn({ dataDir: join(cwd, 'data'), now: 0, access: 'read' });
  try {
    const [run] = await ledger.runs.all();
    const inParts = earlier && { size: 3, folders: earlier.map((name) => join(cwd, name)), readersVersion: 1 };
    const parts: ExportParts = { ...ALL_PARTS, inParts };
    const options = {
      folder: join(cwd, folder),
      formats: more.formats ?? (['csv', 'ftm'] as const),
      csv: { delimiter: ',', bom: false },
      includeContacts: more.contacts ?? false,
      partitionByCountry: false,
      now: Date.parse('2026-01-31T12:00:00Z'),
      version: more.version ?? '0.0.0',
    };
    return await withSnapshot(ledger, run?.id ?? '', (snapshot) => exportRun(snapshot, options, parts));
  } finally {
    await ledger.close();
  }
}

/** The digest of every file, by its path. Records have the times of files, and the summary the count of linked parts. */
function contentOf(folder: string): ReadonlyMap<string, string> {
  const paths = ownFiles(folder).map((path) => path.slice(folder.length + 1));
  return new Map(
    paths.sort().map((path) => {
      if (path.startsWith('.parts/')) return [path, ''];
      const bytes = readFileSync(join(folder, path));
      if (path !== 'summary.json') return [path, hash('sha256', bytes)];
      const { parts, ...summary } = JSON.parse(bytes.toString()) as ExportSummary;
      return [path, JSON.stringify({ ...summary, records: parts?.records })];
    }),
  );
}

const filesOf = (folder: string, table: string): readonly string[] =>
  existsSync(join(folder, table))
    ? readdirSync(join(folder, table)).map((name) => join(folder, table, name))
    : [join(folder, `${table}.csv`)];

/** The rows of a table, in any order. */
const rowsOf = (folder: string, table: string): readonly string[] =>
  filesOf(folder, table)
    .flatMap((path) => parse(readFileSync(path), { columns: true }) as object[])
    .map((row) => JSON.stringify(row))
    .sort();

const idsIn = (folder: string): readonly (string | undefined)[] =>
  (parse(readFileSync(join(folder, 'companies.csv')), { columns: true }) as { v1_company_id?: string }[]).map(
    ({ v1_company_id }) => v1_company_id,
  );

interface Night {
  readonly days: number;
  readonly listed: readonly number[];
  readonly budget: number | null;
  readonly fails: 'nothing' | 'lostAnswer' | 503;
  /** Companies whose status changes before it. */
  readonly changes: readonly number[];
  /** A company that is erased before it. */
  readonly erased: number | null;
  /** A person's answer before it to all questions, or to the newest decision. */
  readonly review: 'nothing' | 'confirm' | 'none_of_these' | 'withdraw';
  readonly contacts: boolean;
}

/** Companies that are searched for by name, so that a person has to choose. */
const BY_NAME = POOL - 5;

const pool = Array.from({ length: POOL }, (_, index) => index);

const nights: fc.Arbitrary<readonly Night[]> = fc.array(
  fc.record({
    days: fc.integer({ min: 0, max: 9 }),
    listed: fc.shuffledSubarray(pool, { minLength: 2 }),
    budget: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 3 }),
    fails: fc.constantFrom<Night['fails']>('nothing', 'nothing', 'lostAnswer', 503),
    changes: fc.subarray(pool, { maxLength: 3 }),
    erased: fc.option(fc.integer({ min: 0, max: POOL - 1 }), { freq: 2 }),
    review: fc.constantFrom<Night['review']>('nothing', 'confirm', 'none_of_these', 'withdraw'),
    contacts: fc.boolean(),
  }),
  { minLength: 3, maxLength: 6 },
);

/** Returns the number of decisions in force. */
async function review({ kybatch, cwd }: Job, verdict: Night['review']): Promise<number> {
  type Decisions = { readonly decisions: readonly { readonly id: number; readonly withdrawn_at: string | null }[] };
  const inForce = async () =>
    jsonOf<Decisions>(await kybatch(['review', 'decisions', '--json'])).decisions.filter((one) => !one.withdrawn_at);
  const [first] = await inForce();
  if (verdict === 'withdraw' && first !== undefined) await kybatch(['review', 'withdraw', String(first.id)]);
  if (verdict === 'confirm' || verdict === 'none_of_these') await decideAll({ kybatch, cwd }, verdict);
  return (await inForce()).length;
}

const PIPELINE = ['stages: [record, financials]', 'freshness: {fullKyb: 5d, financial: 7d}'];

test('after any nights, an export that links parts equals a complete one', {
  timeout: 120_000 * RUNS,
}, async () => {
  let linked = 0;
  let decided = 0;
  const property = fc.asyncProperty(nights, async (history) => {
    const clock = new JumpingClock('2026-01-05T01:00:00Z');
    await withJob({ clock, pipeline: PIPELINE }, async (job) => {
      const { rows, writeCsv, kybatch, sandbox, cwd } = job;
      let hasQuestions = false;
      for (const [night, { days, listed, budget, fails, changes, erased, contacts, ...more }] of history.entries()) {
        clock.advance(days * DAY);
        const ids = night === 0 ? [] : idsIn(join(cwd, `single-${night - 1}`));
        for (const index of changes) {
          const { v2Id } = sandbox.registry.byV1Id(ids[index] ?? '') ?? {};
          if (v2Id !== undefined) await sandbox.changeCompany(v2Id, 'company_status', `status ${night}`);
        }
        if (erased !== null && ids[erased] !== undefined)
          await kybatch(['erase', '--entity', `v1:${ids[erased]}`, '--yes']);
        if (night > 0 && hasQuestions) decided += await review(job, more.review);
        writeCsv(
          'in.csv',
          listed.map((index) => ({ ...rows[index], ...(index >= BY_NAME && { registration_number: '' }) })),
        );
        if (fails !== 'nothing') sandbox.script('fullKyb', ['none', fails]);
        const bound = budget === null ? [] : ['--max-units', String(budget)];
        const { code } = await kybatch([...NIGHTLY, ...bound]);
        sandbox.clearScript();
        expect([0, 3, 4, 6]).toContain(code);
        hasQuestions = code === 3;
        const earlier = night === 0 ? [] : [`linked-${night - 1}`];
        const summary = await write(job, `linked-${night}`, { earlier, contacts });
        linked += summary.parts?.taken_over ?? 0;
        await write(job, `whole-${night}`, { earlier: [], contacts });
        await write(job, `single-${night}`, { contacts });
        expect(contentOf(join(cwd, `linked-${night}`))).toEqual(contentOf(join(cwd, `whole-${night}`)));
        for (const table of [...BOUGHT, 'rows', 'results', 'errors', 'relations'])
          expect([table, rowsOf(join(cwd, `linked-${night}`), table)]).toEqual([
            table,
            rowsOf(join(cwd, `single-${night}`), table),
          ]);
      }
    });
  });
  await fc.assert(property, { numRuns: RUNS, seed: Number(process.env.KYBATCH_PROPERTY_SEED ?? 7) });
  expect(linked).toBeGreaterThan(RUNS);
  expect(decided).toBeGreaterThan(0);
});

async function withFirstNight(use: (job: Job, clock: JumpingClock) => Promise<void>): Promise<void> {
  const clock = new JumpingClock('2026-01-05T01:00:00Z');
  await withJob({ clock, pipeline: [...PIPELINE, 'export: {parts_above: 5}'] }, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, POOL));
    await job.kybatch(NIGHTLY);
    await use(job, clock);
  });
}

/** Changed files or records of unchanged rows need a higher version, and a new golden file here. */
test('files and records of parts match their version', async () => {
  const v2 = { row: 1, api: 'v2', operation: 'financial', params: { id: '9' } } as const;
  const v1 = { row: 1, api: 'v1', operation: 'fullKyb', params: { id: '7' } } as const;
  const lists =
    '"officers":[{"id":1,"first_name":"Ada","last_name":"Lo, \\"Ä\\""}],"shareholders":[{"id":2,"name":"=C","percentage":1.10}]';
  const bought = [
    { ...v2, body: '{"2024":{"A":"","B":-1.10,"C":null,"D":"x","E":123456789012345678901234567890.5}}' },
    { ...v1, body: fullRecord(lists) },
  ];
  await withRun(
    { rows: [{ values: ['Acme'], ids: { v1: '7', v2: '9' } }], bought },
    async ({ dataDir, ledger, id }) => {
      const folder = join(dataDir, 'out');
      const inParts = { size: 5, folders: [], readersVersion: READERS_VERSION };
      await exportTo(folder, ledger, id, { formats: ['csv', 'parquet'] }, (snapshot, options) =>
        exportRun(snapshot, options, { ...ALL_PARTS, inParts }),
      );
      const duck = await openDuck({ scratch: dataDir, threads: 1 });
      const shown: unknown[] = [];
      for (const table of ['companies', 'flat_financials', 'officers', 'shareholders']) {
        for (const path of filesOf(folder, table))
          shown.push(
            table,
            path.endsWith('.csv') ? readFileSync(path, 'utf8') : await duck.rows(`DESCRIBE FROM '${path}'`),
          );
      }
      duck.close();
      for (const name of readdirSync(join(folder, RECORDS)).sort()) {
        const record = unpackRecord(readFileSync(join(folder, RECORDS, name)));
        const files = record.files.map(({ table, format, rows }) => ({ table, format, rows }));
        shown.push({ ...record, files, companies: [...companyLines(record)] });
      }
      const text = shown.map((one) => (typeof one === 'string' ? one : JSON.stringify(one, null, 1))).join('\n');
      await expect(text).toMatchFileSnapshot(`golden/tables-${TABLES_VERSION}.txt`);
    },
  );
});

describe('parts', () => {
  test('of one night survive when the list grows, and one is written for the new companies', async () => {
    await withFirstNight(async (job, clock) => {
      const before = await write(job, 'a', { earlier: [] });
      expect(before.parts).toMatchObject({ taken_over: 0 });
      clock.advance(DAY);
      job.writeCsv('in.csv', [job.rows[POOL] ?? {}, ...job.rows.slice(0, POOL)]);
      await job.kybatch(NIGHTLY);
      // Every row has another number now.
      const after = await write(job, 'b', { earlier: ['a'] });
      expect(after.parts).toMatchObject({ written: 2, taken_over: before.parts?.written });
      const [file = ''] = filesOf(join(job.cwd, 'a'), 'companies');
      expect(statSync(file).nlink).toBe(2);
    });
  });

  test('that a person has edited are written again, and the edited file stays as it is', async () => {
    await withFirstNight(async (job) => {
      await write(job, 'a', { earlier: [] });
      const whole = contentOf(join(job.cwd, 'a'));
      const [file = ''] = filesOf(join(job.cwd, 'a'), 'officers');
      writeFileSync(file, 'edited');
      const { parts } = await write(job, 'b', { earlier: ['a'] });
      expect(parts?.written).toBe(1);
      expect(contentOf(join(job.cwd, 'b'))).toEqual(whole);
      expect(readFileSync(file, 'utf8')).toBe('edited');
    });
  });

  test('are written again for other options or after an upgrade, and copied if they cannot be linked', async () => {
    await withFirstNight(async (job) => {
      const { parts } = await write(job, 'a', { earlier: [] });
      const other = await write(job, 'b', { earlier: ['a'], contacts: true });
      expect(other.parts).toMatchObject({ taken_over: 0 });
      const upgraded = await write(job, 'upgraded', { earlier: ['a'], version: '0.0.1' });
      expect(upgraded.parts).toMatchObject({ taken_over: 0 });
      // A folder from a copy keeps the times of its files.
      cpSync(join(job.cwd, 'a'), join(job.cwd, 'moved'), { recursive: true, preserveTimestamps: true });
      const again = await write(job, 'c', { earlier: ['gone', 'moved'] });
      expect(again.parts).toMatchObject({ written: 0, taken_over: parts?.written });
    });
  });

  test('are in the data package, and DuckDB reads them with one pattern', async () => {
    await withFirstNight(async (job) => {
      const { tables } = await write(job, 'a', { earlier: [], formats: ['csv', 'parquet'] });
      const folder = join(job.cwd, 'a');
      const { resources } = JSON.parse(readFileSync(join(folder, 'datapackage.json'), 'utf8')) as {
        resources: readonly { readonly name: string; readonly path: string | readonly string[] }[];
      };
      const duck = await openDuck({ scratch: job.cwd, threads: 1 });
      for (const name of BOUGHT) {
        const paths = [resources.find((one) => one.name === name)?.path ?? []].flat();
        expect(paths.map((path) => join(folder, path)).sort()).toEqual(
          filesOf(folder, name).filter((path) => path.endsWith('.csv')),
        );
        const [[inCsv, inParquet] = []] = await duck.rows(
          `SELECT (SELECT count(*)::INTEGER FROM read_csv('${folder}/${name}/*.csv', all_varchar = true)),
                  (SELECT count(*)::INTEGER FROM '${folder}/${name}/*.parquet')`,
        );
        expect([name, inCsv, inParquet]).toEqual([name, tables[name as 'companies'], tables[name as 'companies']]);
      }
      duck.close();
    });
  });

  test('are used by run and export if the list is long, and go with their folder', async () => {
    await withFirstNight(async ({ kybatch, cwd }) => {
      const summaryOf = (folder: string) =>
        JSON.parse(readFileSync(join(folder, 'summary.json'), 'utf8')) as ExportSummary;
      const files = join(cwd, 'data', 'exports', 'latest', 'in');
      await kybatch(['export']);
      expect(summaryOf(files).parts).toMatchObject({ taken_over: 0 });
      await kybatch(['export', '--out', 'elsewhere']);
      expect(summaryOf(join(cwd, 'elsewhere')).parts).toMatchObject({ written: 0 });
      await kybatch(['export']);
      expect(summaryOf(files).parts).toMatchObject({ written: 0 });
      expect(readdirSync(join(files, 'companies'))).toHaveLength(1);
      await kybatch(['export', '--out', 'elsewhere', '--format', 'parquet', '--partition-by', 'country']);
      expect(summaryOf(join(cwd, 'elsewhere')).parts).toBeUndefined();
      expect(existsSync(join(cwd, 'elsewhere', '.parts'))).toBe(false);
    });
  });
});
