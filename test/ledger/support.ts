import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Checkpoint, Ledger, NewIntent, Settlement } from '../../src/ledger/ledger.js';
import { connect } from '../../src/ledger/sqlite/driver.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { ledgerPath } from '../../src/ledger/sqlite/open.js';

/** The key of a request: a SHA-256. */
export const KEY = 'ab'.repeat(32);

export const NOW = Date.parse('2026-01-05T09:00:00Z');

export async function withDataDir<T>(use: (dataDir: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-ledger-'));
  try {
    return await use(join(folder, 'data'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function withLedger<T>(use: (ledger: Ledger, dataDir: string) => Promise<T>): Promise<T> {
  return await withDataDir(async (dataDir) => {
    const ledger = openLedger(dataDir, NOW);
    try {
      return await use(ledger, dataDir);
    } finally {
      await ledger.close();
    }
  });
}

/** What another process sees: only what is committed. */
export function look<T>(dataDir: string, sql: string): T[] {
  const database = connect(ledgerPath(dataDir), { readonly: true });
  try {
    return database.prepare<[], T>(sql).all();
  } finally {
    database.close();
  }
}

export const intent = (environmentId: number, more: Partial<NewIntent> = {}): NewIntent => ({
  environmentId,
  runId: null,
  row: null,
  stage: null,
  operation: 'fullKyb',
  requestKey: KEY,
  attempt: 1,
  startedAt: NOW,
  ...more,
});

export const settlement = (more: Partial<Settlement> = {}): Settlement => ({
  settledAt: NOW,
  durationMs: 1,
  httpStatus: 200,
  errorClass: null,
  errorCode: null,
  requestId: null,
  charge: 'charged',
  unitsCharged: 1,
  remainingUnits: null,
  body: Buffer.from('{}'),
  answer: { params: '{}' },
  ...more,
});

export const checkpoint = (more: Partial<Checkpoint> = {}): Checkpoint => ({
  outcome: 'pending',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: null,
  stages: {},
  matchGrade: null,
  matchedOn: null,
  v1CompanyId: null,
  v2CompanyId: null,
  creditSourceId: null,
  creditReportId: null,
  errorCode: null,
  errorMessage: null,
  updatedAt: NOW,
  ...more,
});

/** An open run with this many pending rows. */
export async function withRows(ledger: Ledger, count: number, id = 'run'): Promise<string> {
  await ledger.createRun({
    id,
    inputPath: 'in.csv',
    inputSha256: id,
    pipelineName: 'p',
    pipelineSha256: 'p',
    settings: '{}',
    columns: ['id'],
    createdAt: NOW,
  });
  const rows = Array.from({ length: count }, (_, index) => ({
    row: index + 1,
    line: index + 2,
    values: ['x'],
    fields: {},
  }));
  await ledger.addRows(id, rows);
  await ledger.openRun(id, count);
  return id;
}
