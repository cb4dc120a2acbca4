import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Operation } from '../../src/api/operation.js';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { requestKey } from '../../src/calls/request.js';
import { ID_SPACES, type IdSpace } from '../../src/domain/provider.js';
import { exportRun } from '../../src/export/export-run.js';
import type { ExportOptions } from '../../src/export/formats/format.js';
import type { ExportSummary } from '../../src/export/summary.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { CallContext } from '../../src/ledger/money/intent.js';
import type { Checkpoint, RowSettlement } from '../../src/ledger/rows/runs.js';
import { beginRun } from '../helpers/begin-run.js';
import { dropLedgersIn, openLedgerIn } from '../helpers/ledger-place.js';
import { withSnapshot } from '../ledger/support.js';

export const NOW = Date.parse('2026-01-31T12:00:00Z');

export interface Bought {
  /** Null: a direct call. */
  readonly row: number | null;
  readonly api: 'v1' | 'v2';
  readonly operation: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** For an undeclared operation. */
  readonly subject?: CallContext['subject'];
  /** The exact text of the body. */
  readonly body: string;
}

export interface RunFixture {
  readonly columns?: readonly string[];
  readonly rows: readonly {
    readonly values: readonly string[];
    readonly fields?: Readonly<Record<string, string>>;
    readonly state?: Partial<Checkpoint>;
    readonly ids?: Readonly<Partial<Record<IdSpace, string>>>;
  }[];
  readonly bought?: readonly Bought[];
}

/** Lines with a broken foreign key of the data package, and tables in which no line has a key. */
export function orphansIn(folder: string): readonly string[] {
  interface Resource {
    readonly name: string;
    readonly format: string;
    readonly schema?: {
      readonly foreignKeys?: readonly {
        readonly fields: readonly [string];
        readonly reference: { readonly resource: string; readonly fields: readonly [string] };
      }[];
    };
  }
  const { resources } = JSON.parse(readFileSync(join(folder, 'datapackage.json'), 'utf8')) as { resources: Resource[] };
  return resources
    .filter(({ format }) => format === 'csv')
    .flatMap(({ name, schema }) =>
      (schema?.foreignKeys ?? []).flatMap(({ fields: [field], reference }) => {
        const known = new Set(readTable(folder, reference.resource).map((line) => line[reference.fields[0]]));
        const lines = readTable(folder, name);
        const keys = lines.map((line) => line[field] ?? null).filter((key) => key !== null);
        if (lines.length > 0 && keys.length === 0) return [`${name}: no line has a key`];
        return keys.filter((key) => !known.has(key)).map((key) => `${name}: ${key}`);
      }),
    );
}

/** A data directory with one run, as the engine would have left it. */
export async function withRun(
  fixture: RunFixture,
  use: (run: { dataDir: string; ledger: Ledger; id: string }) => Promise<void>,
): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'kybatch-export-'));
  const ledger = await openLedgerIn({ dataDir, now: NOW, access: 'write' });
  try {
    const id = '2026-01-31-abcdef';
    await createRun(ledger, id, fixture);
    await use({ dataDir, ledger, id });
  } finally {
    await ledger.close();
    await dropLedgersIn(dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  }
}

export async function createRun(
  ledger: Ledger,
  id: string,
  { columns = ['name'], rows, bought = [] }: RunFixture,
): Promise<void> {
  const settings = JSON.stringify({ pipeline: { stages: ['record', 'financials', 'credit-report'] } });
  await beginRun(
    ledger,
    { id, inputPath: '/in.csv', inputSha256: 'a', pipelineName: 'analyst', settings, columns, now: NOW },
    rows.map(({ values, fields = {} }) => ({ values, fields })),
  );
  const apis = ['v1', 'v2'] as const;
  const used = apis.map(async (api) => ({ api, environmentId: await ledger.calls.environment(api, 'test') }));
  await ledger.runs.useEnvironments(id, await Promise.all(used));
  for (const [index, { state, ids = {} }] of rows.entries())
    await ledger.runs.settleRow(id, index + 1, {
      ...nothing,
      checkpoint: { ...settled, ...state, updatedAt: NOW },
      ids: ID_SPACES.flatMap((space) => {
        const of = ids[space];
        return of === undefined ? [] : [{ space, id: of, grade: null, matchedOn: null }];
      }),
    });
  for (const answer of bought) await buy(ledger, id, answer);
}

const settled: Checkpoint = {
  outcome: 'complete',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: 'record',
  stages: { record: 'done' },
  fetched: {},
  matchGrade: 'AAAAA',
  matchedOn: 'registration_number',
  errorCode: null,
  errorMessage: null,
  updatedAt: NOW,
};

const nothing = { candidates: [], questions: [], errors: [], uses: [], asked: [], ended: [], verdicts: [] };

/** The present row with further values. */
export async function settleAgain(
  ledger: Ledger,
  runId: string,
  row: number,
  more: Partial<RowSettlement>,
): Promise<void> {
  const found = await ledger.runs.row(runId, row);
  if (found === undefined) throw new Error(`no row ${row}`);
  await ledger.runs.settleRow(runId, row, { ...nothing, checkpoint: found, ids: found.ids, ...more });
}

const operations: Readonly<Record<string, Operation>> = { ...v1Operations, ...v2Operations };

/** The subject of a call, by the declaration of its operation. */
export async function contextOf(
  ledger: Ledger,
  runId: string,
  { row, api, operation, params, subject: given = null }: Omit<Bought, 'body'>,
): Promise<CallContext> {
  const { meter = 'not_told', subject = null } = operations[operation] ?? {};
  return {
    environmentId: await ledger.calls.environment(api, 'test'),
    runId: row === null ? null : runId,
    row,
    stage: row === null ? null : 'record',
    operation,
    meter,
    requestKey: requestKey(operation, params),
    subject: subject === null ? given : { space: subject.space, id: String(params[subject.param]) },
  };
}

export async function buy(ledger: Ledger, runId: string, bought: Bought): Promise<void> {
  const { api, params, body } = bought;
  const context = await contextOf(ledger, runId, bought);
  const attemptId = await ledger.calls.begin({ runId: context.runId, begunAt: NOW, leaseUntil: NOW + 1 });
  const sent = { reusableSince: Infinity, lookedSince: Infinity, lostAtMost: Infinity };
  const call = { ...context, ...sent, attemptId, attempt: 1, startedAt: NOW };
  const intended = await ledger.calls.intend(call, { units: null, reports: null });
  if (intended.kind !== 'intent') throw new Error(`the call was not let through: ${intended.kind}`);
  await ledger.calls.settle(intended.intent, {
    settledAt: NOW,
    durationMs: 5,
    httpStatus: 200,
    errorClass: null,
    errorCode: null,
    requestId: 'req',
    charge: 'charged',
    unitsCharged: api === 'v1' ? 1 : null,
    remainingUnits: null,
    inDoubt: false,
    body: Buffer.from(body),
    answer: { params: JSON.stringify(params) },
    allowance: null,
  });
  await ledger.calls.end(attemptId, NOW);
}

export async function exportTo(
  folder: string,
  ledger: Ledger,
  runId: string,
  options: Partial<ExportOptions> = {},
  write: typeof exportRun = exportRun,
): Promise<ExportSummary> {
  return await withSnapshot(ledger, runId, (snapshot) =>
    write(snapshot, {
      folder,
      formats: ['csv'],
      csv: { delimiter: ',', bom: false },
      includeContacts: false,
      partitionByCountry: false,
      now: NOW,
      version: '0.0.0',
      ...options,
    }),
  );
}

/** Cells by column name. An unquoted empty field is null, `""` is an empty text. */
export function readTable(folder: string, table: string): Record<string, string | null>[] {
  return parse(readFileSync(join(folder, `${table}.csv`)), {
    columns: true,
    bom: true,
    cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
  }) as unknown as Record<string, string | null>[];
}

export const fullRecord = (members: string): string =>
  `{"lite":{"id":77,"name":"Acme","registration_number":"00045590","country_code":"GB"}${members === '' ? '' : `,${members}`}}`;
