import type { Stages } from '../ledger.js';
import type {
  RunSnapshot,
  SnapshotAnswer,
  SnapshotBody,
  SnapshotCall,
  SnapshotCandidate,
  SnapshotError,
  SnapshotReport,
  SnapshotRow,
} from '../snapshot.js';
import { Bodies } from './bodies.js';
import { type Connection, connect } from './driver.js';
import { rowStore } from './rows.js';
import { runStore } from './runs.js';
import { Writer } from './writer.js';

/**
 * A connection of its own, in one read transaction: SQLite shows it the database as it was when the transaction began,
 * while the run goes on beside it.
 */
export async function openSnapshot(path: string, runId: string): Promise<RunSnapshot | undefined> {
  const database = connect(path, { readonly: true, timeout: 10_000 });
  database.exec('BEGIN');
  const writer = new Writer(database);
  const run = await runStore(database, writer).findRun(runId);
  if (run === undefined) {
    database.close();
    return undefined;
  }
  const bodies = new Bodies(database);
  return {
    run,
    progress: await rowStore(database, writer).progress(runId),
    rows: () => readRows(database, runId),
    candidates: () => inBatches<SnapshotCandidate>(database, CANDIDATES, [runId], BATCH),
    calls: () => inBatches<SnapshotCall>(database, CALLS, [runId], BATCH),
    errors: () => inBatches<SnapshotError>(database, ERRORS, [runId], BATCH),
    answers: (operations, idParam) => readAnswers(database, bodies, runId, operations, idParam),
    reports: () => readReports(database, bodies, runId),
    async close() {
      database.exec('COMMIT');
      database.close();
    },
  };
}

const BATCH = 1000;
/** Bodies may be large: only so many are held at a time. */
const BODIES_AT_ONCE = 16;

/** Batches for asynchronous readers, from one statement that is read to its end. */
async function* inBatches<T>(
  database: Connection,
  sql: string,
  parameters: readonly unknown[],
  size: number,
): AsyncGenerator<readonly T[]> {
  let batch: T[] = [];
  for (const record of database.prepare<unknown[], T>(sql).iterate(...parameters)) {
    batch.push(record);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function* readRows(database: Connection, runId: string): AsyncGenerator<readonly SnapshotRow[]> {
  type Stored = Omit<SnapshotRow, 'values' | 'stages'> & { readonly values: string; readonly stages: string };
  for await (const batch of inBatches<Stored>(database, ROWS, [runId], BATCH)) {
    yield batch.map((row) => ({
      ...row,
      values: JSON.parse(row.values) as string[],
      stages: JSON.parse(row.stages) as Stages,
    }));
  }
}

async function* readAnswers(
  database: Connection,
  bodies: Bodies,
  runId: string,
  operations: readonly string[],
  idParam: string,
): AsyncGenerator<readonly SnapshotAnswer[]> {
  const sql = ANSWERS.replace('@operations', operations.map(() => '?').join(', '));
  const parameters = [`$.${idParam}`, runId, ...operations];
  for await (const batch of inBatches<Omit<SnapshotAnswer, 'body'>>(database, sql, parameters, BODIES_AT_ONCE)) {
    yield batch.flatMap((answer) => {
      const body = bodies.read(answer.rawSha256);
      return body === undefined ? [] : [{ ...answer, body }];
    });
  }
}

async function* readReports(
  database: Connection,
  bodies: Bodies,
  runId: string,
): AsyncGenerator<readonly SnapshotReport[]> {
  type Stored = Pick<SnapshotReport, 'id' | 'sourceId' | 'row' | 'country'>;
  const newest = database.prepare<[string, number, string], Omit<SnapshotBody, 'body'>>(NEWEST_OF_ROW);
  const find = (row: number, operation: string): SnapshotBody | null => {
    const call = newest.get(runId, row, operation);
    const body = call && bodies.read(call.rawSha256);
    return call === undefined || body === undefined ? null : { ...call, body };
  };
  for await (const batch of inBatches<Stored>(database, REPORTS, [runId, runId], BODIES_AT_ONCE)) {
    yield batch.map((report) => ({
      ...report,
      generated: find(report.row, 'creditReportGenerate'),
      fetched: find(report.row, 'creditReportFetch'),
    }));
  }
}

const ROWS = `SELECT row, input_values AS "values", outcome, stage, stages, match_grade AS matchGrade, matched_on AS matchedOn,
    v1_company_id AS v1CompanyId, v2_company_id AS v2CompanyId, credit_source_id AS creditSourceId, credit_report_id AS creditReportId,
    units_charged AS unitsCharged, error_code AS errorCode, error_message AS errorMessage
  FROM rows WHERE run_id = ? ORDER BY row`;

const CANDIDATES = `SELECT row, api, position, id, name, registration_number AS registrationNumber, vat_number AS vatNumber,
    country_code AS countryCode, state, match_grade AS matchGrade, decision, evidence
  FROM candidates WHERE run_id = ? ORDER BY row, api, position`;

// A call that is still under way has no charge yet: it is not known.
const CALLS = `SELECT calls.id, row, stage, api, operation, attempt, started_at AS startedAt, duration_ms AS durationMs,
    http_status AS httpStatus, error_class AS errorClass, error_code AS errorCode, request_id AS requestId,
    units_charged AS unitsCharged, coalesce(charge, 'unknown') AS charge, remaining_units AS remainingUnits, reconciled,
    iif(raw_sha256 IS NULL, NULL, lower(hex(raw_sha256))) AS rawSha256
  FROM calls JOIN environments ON environments.id = environment_id WHERE run_id = ? ORDER BY calls.id`;

const ERRORS = `SELECT row, stage, class, code, message, request_id AS requestId, attempts, at
  FROM errors WHERE run_id = ? ORDER BY row, id`;

const COUNTRY = `(SELECT country_code FROM candidates
    WHERE candidates.run_id = rows.run_id AND candidates.row = rows.row AND decision = 'confirmed' AND country_code IS NOT NULL LIMIT 1)`;

// An owned answer was bought at another time than it was used.
const FETCHED_AT = `CASE WHEN calls.charge = 'charged' THEN calls.settled_at
    WHEN bought.raw_sha256 = calls.raw_sha256 THEN bought.settled_at ELSE bodies.stored_at END`;

const BOUGHT = `LEFT JOIN answers ON answers.environment_id = calls.environment_id AND answers.request_key = calls.request_key
  LEFT JOIN calls AS bought ON bought.id = answers.call_id`;

const ANSWERS = `SELECT calls.operation, coalesce(CAST(json_extract(bought.params, ?) AS TEXT), '') AS id, coalesce(bought.params, '{}') AS params,
    first_row AS row, calls.stage, rows.v1_company_id AS v1CompanyId, ${COUNTRY} AS country,
    lower(hex(calls.raw_sha256)) AS rawSha256, ${FETCHED_AT} AS fetchedAt
  FROM (SELECT max(id) AS id, min(row) AS first_row FROM calls
        WHERE run_id = ? AND raw_sha256 IS NOT NULL AND error_code IS NULL AND operation IN (@operations)
        GROUP BY environment_id, request_key) AS newest
  JOIN calls ON calls.id = newest.id
  JOIN bodies ON bodies.sha256 = calls.raw_sha256
  ${BOUGHT}
  LEFT JOIN rows ON rows.run_id = calls.run_id AND rows.row = first_row
  ORDER BY 2, calls.operation, calls.id`;

const REPORTS = `SELECT rows.credit_report_id AS id, credit_source_id AS sourceId, rows.row, ${COUNTRY} AS country
  FROM (SELECT min(row) AS row FROM rows WHERE run_id = ? AND credit_report_id IS NOT NULL GROUP BY credit_report_id) AS first
  JOIN rows ON rows.run_id = ? AND rows.row = first.row
  ORDER BY rows.credit_report_id`;

const NEWEST_OF_ROW = `SELECT lower(hex(calls.raw_sha256)) AS rawSha256, ${FETCHED_AT} AS fetchedAt
  FROM calls JOIN bodies ON bodies.sha256 = calls.raw_sha256
  ${BOUGHT}
  WHERE calls.run_id = ? AND calls.row = ? AND calls.operation = ? AND calls.error_code IS NULL
  ORDER BY calls.id DESC LIMIT 1`;
