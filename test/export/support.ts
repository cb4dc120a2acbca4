import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { requestKey } from '../../src/calls/request-key.js';
import { type ExportOptions, exportRun } from '../../src/export/export-run.js';
import type { ExportSummary } from '../../src/export/summary.js';
import type { Checkpoint, Ledger } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';

export const NOW = Date.parse('2026-01-31T12:00:00Z');

export interface Bought {
  readonly row: number;
  readonly api: 'v1' | 'v2';
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The exact text of the body. */
  readonly body: string;
}

export interface RunFixture {
  readonly columns?: readonly string[];
  readonly rows: readonly {
    readonly values: readonly string[];
    readonly fields?: Readonly<Record<string, string>>;
    readonly state?: Partial<Checkpoint>;
  }[];
  readonly bought?: readonly Bought[];
}

/** A data directory with one run in it, as the engine would have left it. */
export async function withRun(
  fixture: RunFixture,
  use: (run: { dataDir: string; ledger: Ledger; id: string }) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kybatch-export-'));
  const ledger = openLedger(dataDir, NOW);
  try {
    const id = '2026-01-31-abcdef';
    await createRun(ledger, id, fixture);
    await use({ dataDir, ledger, id });
  } finally {
    await ledger.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

export async function createRun(
  ledger: Ledger,
  id: string,
  { columns = ['name'], rows, bought = [] }: RunFixture,
): Promise<void> {
  await ledger.createRun({
    id,
    inputPath: '/in.csv',
    inputSha256: 'a',
    pipelineName: 'analyst',
    pipelineSha256: 'b',
    settings: JSON.stringify({ pipeline: { stages: ['record', 'financials', 'credit-report'] } }),
    columns,
    createdAt: NOW,
  });
  const lines = rows.map(({ values, fields = {} }, index) => ({ row: index + 1, line: index + 2, values, fields }));
  await ledger.addRows(id, lines);
  await ledger.openRun(id, rows.length);
  for (const [index, { state }] of rows.entries())
    await ledger.checkpoint(id, index + 1, { ...settled, ...state, updatedAt: NOW });
  for (const answer of bought) await buy(ledger, id, answer);
}

const settled: Checkpoint = {
  outcome: 'complete',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: 'record',
  stages: { record: 'done' },
  matchGrade: 'AAAAA',
  matchedOn: 'registration_number',
  v1CompanyId: null,
  v2CompanyId: null,
  creditSourceId: null,
  creditReportId: null,
  errorCode: null,
  errorMessage: null,
  updatedAt: NOW,
};

export async function buy(ledger: Ledger, runId: string, { row, api, operation, params, body }: Bought): Promise<void> {
  const intent = await ledger.intend({
    environmentId: await ledger.environment(api, 'test'),
    runId,
    row,
    stage: 'record',
    operation,
    requestKey: requestKey(operation, params),
    attempt: 1,
    startedAt: NOW,
  });
  await ledger.settle(intent, {
    settledAt: NOW,
    durationMs: 5,
    httpStatus: 200,
    errorClass: null,
    errorCode: null,
    requestId: 'req',
    charge: 'charged',
    unitsCharged: api === 'v1' ? 1 : null,
    remainingUnits: null,
    body: Buffer.from(body),
    answer: { params: JSON.stringify(params) },
  });
}

export async function exportTo(
  folder: string,
  ledger: Ledger,
  runId: string,
  options: Partial<ExportOptions> = {},
  write: typeof exportRun = exportRun,
): Promise<ExportSummary> {
  const snapshot = await ledger.snapshot(runId);
  if (snapshot === undefined) throw new Error(`no run ${runId}`);
  try {
    return await write(snapshot, {
      folder,
      formats: ['csv'],
      csv: { delimiter: ',', bom: false },
      includeContacts: false,
      partitionByCountry: false,
      now: NOW,
      version: '0.0.0',
      ...options,
    });
  } finally {
    await snapshot.close();
  }
}

/** Cells by column name; an unquoted empty field is null, `""` is an empty text. */
export function readTable(folder: string, table: string): Record<string, string | null>[] {
  return parse(readFileSync(join(folder, `${table}.csv`)), {
    columns: true,
    bom: true,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  }) as unknown as Record<string, string | null>[];
}

export const fullRecord = (members: string): string =>
  `{"lite":{"id":77,"name":"Acme","registration_number":"00045590","country_code":"GB"}${members === '' ? '' : `,${members}`}}`;
