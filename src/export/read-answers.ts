import type { RunSnapshot, SnapshotAnswer, SnapshotBody, SnapshotReport } from '../ledger/snapshot.js';
import { type ExactJson, ExactNumber, parseExact } from '../util/exact-json.js';
import { timestamp } from './ledger-rows.js';
import { company } from './normalise/company.js';
import { removeContacts } from './normalise/contacts.js';
import { creditReport, type Report, type ReportRecord, readHistory } from './normalise/credit-report.js';
import { flatFinancials } from './normalise/financials.js';
import { type Answer, Gathered, isObject, Place } from './normalise/reading.js';
import { scanFlat } from './normalise/scan-flat.js';
import { v2Company } from './normalise/v2-company.js';

/** What one company, or one report, gave, and the row it was bought for. */
export interface Harvest {
  readonly gathered: Gathered;
  readonly origin: Pick<SnapshotAnswer, 'row' | 'stage' | 'country' | 'fetchedAt'>;
}

const V1 = ['fullKyb', 'liteKyb', 'officersKyb', 'shareholdersKyb', 'groupFullKyb', 'groupLiteKyb', 'financialKyb'];
const V2 = ['kybOfficers', 'kybShareholders', 'kybFinancial'];

/** What the raw bodies of the run say, company by company, in the order of their IDs; all but flat financials. */
export async function* readAnswers(snapshot: RunSnapshot, includeContacts: boolean): AsyncGenerator<Harvest> {
  for await (const answers of byCompany(snapshot, V1)) {
    const [first] = answers;
    if (first === undefined) continue;
    const gathered = new Gathered();
    company(
      newestOfEach(answers).flatMap((answer) => open(answer, includeContacts, gathered) ?? []),
      gathered,
    );
    yield { gathered, origin: first };
  }
  for await (const answers of byCompany(snapshot, V2)) {
    for (const answer of newestOfEach(answers)) {
      const gathered = new Gathered();
      const opened = open(answer, includeContacts, gathered);
      if (opened !== undefined) v2Company(opened, answer.v1CompanyId, gathered);
      yield { gathered, origin: answer };
    }
  }
  yield* readReports(snapshot, includeContacts);
}

/** The answers that flat financials are read from, a few companies at a time. */
export async function* flatAnswers(snapshot: RunSnapshot): AsyncGenerator<readonly SnapshotAnswer[]> {
  let batch: SnapshotAnswer[] = [];
  for await (const answers of byCompany(snapshot, ['financial'])) {
    batch.push(...newestOfEach(answers));
    if (batch.length < COMPANIES_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const COMPANIES_AT_ONCE = 16;

export function readFlat(answer: SnapshotAnswer): Gathered {
  const gathered = new Gathered();
  const rows = scanFlat(answer.body, answer.id);
  if (rows !== undefined) {
    gathered.rows.flat_financials = rows;
    return gathered;
  }
  // Figures only: there are no contacts to take out.
  const opened = open(answer, true, gathered);
  if (opened !== undefined) flatFinancials(opened, gathered);
  return gathered;
}

async function* readReports(snapshot: RunSnapshot, includeContacts: boolean): AsyncGenerator<Harvest> {
  let history: ReadonlyMap<string, ReportRecord> | undefined;
  for await (const reports of snapshot.reports()) {
    for (const report of reports) {
      const gathered = new Gathered();
      let record = readGenerated(report);
      if (record === undefined) {
        history ??= await readHistories(snapshot);
        record = history.get(report.id);
      }
      const fetched = report.fetched === null ? undefined : readReportBody(report, report.fetched, gathered);
      if (fetched !== undefined && !includeContacts && fetched.body !== 'html') removeContacts(fetched.body);
      creditReport({ id: report.id, sourceId: report.sourceId, record, fetched }, gathered);
      const fetchedAt = report.fetched?.fetchedAt ?? report.generated?.fetchedAt ?? 0;
      yield { gathered, origin: { row: report.row, stage: 'credit-report', country: report.country, fetchedAt } };
    }
  }
}

/** The record in the generate call's answer, if it is about this report and no earlier one. */
function readGenerated({ id, generated }: SnapshotReport): ReportRecord | undefined {
  const object = generated === null ? undefined : tryParse(generated.body);
  if (generated === null || !isObject(object)) return undefined;
  const own = object.id instanceof ExactNumber ? object.id.text : object.id;
  if (own !== id) return undefined;
  return { object, answer: { operation: 'creditReportGenerate', rawSha256: generated.rawSha256 }, pointer: '' };
}

/** Later pages and later looks come after earlier ones, and stand. */
async function readHistories(snapshot: RunSnapshot): Promise<ReadonlyMap<string, ReportRecord>> {
  const records = new Map<string, ReportRecord>();
  for await (const answers of snapshot.answers(['creditReportHistory'], 'page')) {
    for (const { operation, rawSha256, body } of answers) {
      const parsed = tryParse(body);
      if (parsed === undefined) continue;
      for (const [id, record] of readHistory({ operation, rawSha256, body: parsed })) records.set(id, record);
    }
  }
  return records;
}

function readReportBody({ id }: SnapshotReport, fetched: SnapshotBody, gathered: Gathered): Report['fetched'] {
  const answer = {
    operation: 'creditReportFetch',
    id,
    params: {},
    rawSha256: fetched.rawSha256,
    fetchedAt: timestamp(fetched.fetchedAt),
  };
  const body = tryParse(fetched.body);
  if (body !== undefined) return { ...answer, body };
  if (fetched.body.toString('latin1', 0, 64).trimStart().startsWith('<')) return { ...answer, body: 'html' };
  new Place(answer, gathered).unexpected('JSON or HTML', fetched.body.toString('utf8', 0, 60));
  return { ...answer, body: {} };
}

/** Consecutive answers with the same ID. */
async function* byCompany(
  snapshot: RunSnapshot,
  operations: readonly string[],
): AsyncGenerator<readonly SnapshotAnswer[]> {
  let group: SnapshotAnswer[] = [];
  for await (const answers of snapshot.answers(operations, 'id')) {
    for (const answer of answers) {
      if (group.length > 0 && group[0]?.id !== answer.id) {
        yield group;
        group = [];
      }
      group.push(answer);
    }
  }
  if (group.length > 0) yield group;
}

/** The same question with and without provenance is one question here: the later answer stands. */
function newestOfEach(answers: readonly SnapshotAnswer[]): readonly SnapshotAnswer[] {
  if (answers.length === 1) return answers;
  const newest = new Map<string, SnapshotAnswer>();
  for (const answer of answers) {
    const { include_provenance: _, ...asked } = JSON.parse(answer.params) as Record<string, unknown>;
    newest.set(`${answer.operation} ${JSON.stringify(asked)}`, answer);
  }
  return [...newest.values()];
}

function open(answer: SnapshotAnswer, includeContacts: boolean, gathered: Gathered): Answer | undefined {
  const { operation, id, rawSha256 } = answer;
  const body = tryParse(answer.body);
  if (body === undefined) {
    new Place({ operation, rawSha256 }, gathered).unexpected('JSON', answer.body.toString('utf8', 0, 60));
    return undefined;
  }
  if (!includeContacts) removeContacts(body);
  const params = JSON.parse(answer.params) as Record<string, unknown>;
  return { operation, id, params, body, rawSha256, fetchedAt: timestamp(answer.fetchedAt) };
}

function tryParse(body: Buffer): ExactJson | undefined {
  try {
    return parseExact(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
