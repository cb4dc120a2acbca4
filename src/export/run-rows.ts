import { unreachedStatus } from '../domain/outcomes.js';
import { idSpaces } from '../domain/provider.js';
import type {
  SnapshotCall,
  SnapshotCandidate,
  SnapshotError,
  SnapshotMember,
  SnapshotRow,
  SnapshotWatchEvent,
  UnsoundAnswer,
} from '../ledger/answers/snapshot.js';
import {
  dropAndRunInWords,
  isRecord,
  parseStored,
  placeInWords,
  readStored,
  type StoredPlace,
} from '../ledger/db/stored-json.js';
import type { DueDecision, MemberState } from '../ledger/portfolio/portfolios.js';
import type { RunRecord } from '../ledger/rows/runs.js';
import { tryParse } from '../readers/parts/open-answer.js';
import type { Issue } from '../readers/reader.js';
import { type Cell, type Column, ownColumn, type Row, type RowOf, timestamp } from '../readers/table.js';
import { stages } from '../stages/list.js';
import { type ExactJson, isObject, stringifyExact } from '../util/exact-json.js';
import { isContactName, removeContacts, withoutEmails } from '../util/sanitize-text.js';
import type { CompanyFacts } from './company-at-a-glance.js';
import { freeName } from './results-table.js';
import {
  type callsTable,
  type candidatesTable,
  type errorsTable,
  type membersTable,
  rowSpaces,
  statusColumn,
  type watchEventsTable,
} from './run-tables.js';

/** Extra fields of a search may contain personal data. */
function withoutContacts(extra: string | null): string | null {
  const members = extra === null ? undefined : tryParse(Buffer.from(extra));
  if (members === undefined) return null;
  removeContacts(members);
  return isObject(members) && Object.keys(members).length === 0 ? null : stringifyExact(members);
}

const text = (value: number | null): Cell => (value === null ? null : String(value));

/** `input_*`, one for each column of the input. */
export function inputColumns(headers: readonly string[]): readonly Column[] {
  const taken = new Set<string>();
  return headers.map((header, index) => {
    const name = freeName(`input_${header.trim() === '' ? `column_${index + 1}` : header}`, taken);
    return ownColumn(name, 'text', `The input’s column ${JSON.stringify(header)}, as written`, 'the input');
  });
}

export function inputRow(
  row: SnapshotRow,
  { name, registrationNumber, status: companyStatus, grade }: CompanyFacts,
  planned: readonly string[],
  columns: readonly Column[],
): Row {
  const status = (stage: string): Cell =>
    row.stages === null ? null : (row.stages[stage] ?? (planned.includes(stage) ? unreachedStatus(row.outcome) : null));
  return {
    row: String(row.row),
    outcome: row.outcome,
    stage: row.stage,
    ...Object.fromEntries(stages.map(({ name }) => [statusColumn(name), status(name)])),
    match_grade: grade,
    matched_on: row.matchedOn,
    ...Object.fromEntries(rowSpaces.map((space) => [idSpaces[space].column, row.ids[space] ?? null])),
    units_charged: String(row.unitsCharged),
    error_code: row.errorCode,
    error_message: row.errorMessage,
    // An empty cell of the input is null, not an empty text.
    ...Object.fromEntries(columns.map((column, index) => [column.name, row.values[index] || null])),
    matched_name: name,
    matched_registration_number: registrationNumber,
    company_status: companyStatus,
    line: String(row.line),
    company_key: row.companyKey,
    extra: surplusOf(row.values.slice(columns.length)),
  };
}

/** Cells beyond the last column of the input have no column. */
export const surplusOf = (cells: readonly string[]): Cell =>
  cells.length === 0 ? null : JSON.stringify({ surplus_cells: cells });

/** The stages of the run's pipeline. */
export function plannedStages(run: RunRecord): readonly string[] {
  const place = { table: 'runs', column: 'settings', run: run.id, row: null, id: null };
  return readStored(run.settings, namesStages, place).pipeline?.stages ?? [];
}

const namesStages = (value: unknown): value is { readonly pipeline?: { readonly stages?: readonly string[] } } =>
  isRecord(value) && isRecord(value.pipeline ?? {});

export const candidateRow = (
  candidate: SnapshotCandidate,
  includeContacts: boolean,
): RowOf<typeof candidatesTable> => ({
  row: String(candidate.row),
  api: candidate.space,
  position: String(candidate.position),
  id: candidate.id,
  name: candidate.name,
  registration_number: candidate.registrationNumber,
  vat_number: candidate.vatNumber,
  country_code: candidate.countryCode,
  state: candidate.state,
  match_grade: candidate.matchGrade,
  decision: candidate.decision,
  evidence: candidate.evidence,
  jurisdiction: candidate.jurisdiction,
  company_key: candidate.companyKey,
  extra: includeContacts ? (candidate.extra ?? null) : withoutContacts(candidate.extra ?? null),
});

export function memberRow(
  member: SnapshotMember,
  judge: ((standing: MemberState) => DueDecision) | null,
): RowOf<typeof membersTable> {
  const { standing, leftAt } = member;
  const due = leftAt === null ? (judge?.(standing).due ?? null) : null;
  const fetched = Object.values(standing.fetched);
  return {
    portfolio: member.portfolio,
    input_id: member.inputId,
    row: leftAt === null ? String(standing.row) : null,
    first_seen: timestamp(member.firstSeen),
    last_seen: timestamp(member.lastSeen),
    left_at: leftAt === null ? null : timestamp(leftAt),
    due: judge === null ? null : String(due !== null),
    due_reason: due?.reason ?? null,
    oldest_fetched_at: fetched.length === 0 ? null : timestamp(Math.min(...fetched)),
    member: String(standing.member),
    company_key: member.companyKey,
    extra: null,
  };
}

export const watchEventRow = (event: SnapshotWatchEvent, includeContacts: boolean): RowOf<typeof watchEventsTable> => ({
  portfolio: event.portfolio,
  row: String(event.row),
  input_id: event.inputId,
  v2_company_id: event.companyId,
  event_type: event.eventType,
  status: event.status,
  message: event.message,
  date_created: event.dateCreated,
  heard_at: timestamp(event.heardAt),
  run: event.runId,
  raw_sha256: event.rawSha256,
  event: String(event.id),
  company_key: event.companyKey,
  ...saidBeside(event, includeContacts),
});

function saidBeside({ eventType, extra }: SnapshotWatchEvent, includeContacts: boolean) {
  const parsed = extra === null ? {} : tryParse(Buffer.from(extra));
  const said = isObject(parsed) ? parsed : {};
  if (!includeContacts) removeContacts(said);
  const notification = isObject(said.notification) ? said.notification : undefined;
  const { old_value, new_value, ...rest } = notification ?? { ...said };
  const mayShow = includeContacts || !isContactName(eventType ?? '');
  const cell = (value: ExactJson | undefined): Cell => {
    if (value === undefined || value === null || !mayShow) return null;
    return typeof value === 'string' ? value : stringifyExact(value);
  };
  const others = Object.keys(rest).length === 0 ? null : stringifyExact(rest);
  return {
    told_by: notification === undefined ? 'history' : 'callback',
    old_value: cell(old_value),
    new_value: cell(new_value),
    extra: others,
  };
}

export const callRow = (call: SnapshotCall): RowOf<typeof callsTable> => ({
  row: text(call.row),
  stage: call.stage,
  api: call.api,
  operation: call.operation,
  attempt: String(call.attempt),
  started_at: timestamp(call.startedAt),
  duration_ms: text(call.durationMs),
  http_status: text(call.httpStatus),
  error_code: call.errorCode,
  request_id: call.requestId,
  units_charged: text(call.unitsCharged),
  charge: call.charge,
  raw_sha256: call.rawSha256,
  call_id: String(call.id),
  error_class: call.errorClass,
  remaining_units: text(call.remainingUnits),
  reconciled: call.reconciled,
  asked: describeRequest(call),
  extra: null,
});

export const errorRow = (error: SnapshotError, position: number): RowOf<typeof errorsTable> => ({
  row: text(error.row),
  stage: error.stage,
  class: error.class,
  code: error.code,
  message: error.message,
  request_id: error.requestId,
  attempts: String(error.attempts),
  at: timestamp(error.at),
  position: String(position),
  operation: null,
  pointer: null,
  seen: null,
  raw_sha256: null,
  line: text(error.line),
  extra: null,
});

/** Why a row is invalid or needs review. */
export const endRow = (row: SnapshotRow, position: number): RowOf<typeof errorsTable> => ({
  row: String(row.row),
  stage: row.stage,
  class: row.outcome,
  code: row.errorCode,
  message: row.errorMessage,
  request_id: null,
  attempts: '0',
  at: row.updatedAt === null ? null : timestamp(row.updatedAt),
  position: String(position),
  operation: null,
  pointer: null,
  seen: null,
  raw_sha256: null,
  line: String(row.line),
  extra: null,
});

/** A place in an answer with an undocumented form. */
export const issueRow = ({ origin, ...issue }: Issue, position: number): RowOf<typeof errorsTable> => ({
  row: text(origin.row),
  stage: origin.stage,
  class: issue.unread === true ? 'not_exported' : 'unexpected_shape',
  code: issue.unread === true ? 'ANSWER_NOT_READ' : 'UNEXPECTED_SHAPE',
  message: `${origin.operation} ${issue.pointer === '' ? '(the whole body)' : issue.pointer}: expected ${issue.expected}, saw ${issue.seen}`,
  request_id: null,
  attempts: '0',
  at: timestamp(origin.fetchedAt),
  position: String(position),
  operation: origin.operation,
  pointer: issue.pointer,
  seen: issue.seen,
  raw_sha256: origin.rawSha256,
  line: null,
  extra: null,
});

/** A stored answer with damaged bytes: it is not in the tables, and it can be bought again. */
export const damagedRow = (answer: UnsoundAnswer, position: number): RowOf<typeof errorsTable> => ({
  row: text(answer.row),
  stage: answer.stage,
  class: 'not_exported',
  code: 'ANSWER_DAMAGED',
  message: `the stored answer of ${answer.operation} is damaged and not in these tables. ${askAgain(answer)}`,
  request_id: null,
  attempts: '0',
  at: timestamp(answer.fetchedAt),
  position: String(position),
  operation: answer.operation,
  pointer: null,
  seen: null,
  raw_sha256: answer.rawSha256,
  line: null,
  extra: null,
});

/** If the request is damaged too, only its row can ask again. */
const askAgain = ({ api, operation, params }: UnsoundAnswer): string =>
  params === null
    ? 'Delete the run with `kybatch runs delete` and run the list again with `kybatch run <input>`: only this answer is bought again'
    : `To ask again: kybatch call ${api} ${operation} --params '${params.replaceAll("'", "'\\''")}'. It may be charged again. Then export again`;

/** A row with a damaged value in the ledger: that cell is empty, the rest is in the tables. */
export const damagedTextRow = (place: StoredPlace, position: number, now: number): RowOf<typeof errorsTable> => ({
  row: text(place.row),
  stage: null,
  class: 'not_exported',
  code: 'ROW_DAMAGED',
  message: `${placeInWords(place)} is damaged in the ledger and is not in these tables. Restore a copy of the ledger, or ${dropAndRunInWords(place.run === null ? [] : [place.run])}`,
  request_id: null,
  attempts: '0',
  at: timestamp(now),
  position: String(position),
  operation: null,
  pointer: null,
  seen: null,
  raw_sha256: null,
  line: null,
  extra: null,
});

/** The request parameters that may be shown, in this order. Contact data is not among them. */
const TOLD = [
  'id',
  'source_id',
  'report_id',
  'registration_number',
  'vat_number',
  'ticker',
  'lei_number',
  'name',
  'company',
  'website',
  'location',
  'country_code',
  'page',
] as const;

/** `registration_number 00445790, location GB`, or the ID alone if nothing else is known. */
function describeRequest({ params, subjectId }: Pick<SnapshotCall, 'params' | 'subjectId'>): string | null {
  const said = params === null ? undefined : parseStored(params, isRecord);
  const told = TOLD.flatMap((name) => {
    const value = said?.[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
  if (told.length > 0) return withoutEmails(told.join(', '));
  return subjectId === null ? null : `id ${subjectId}`;
}
