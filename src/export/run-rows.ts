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
import { type Cell, type Column, ownColumn, type Row, type RowOf, rowOf, timestamp } from '../readers/table.js';
import { stages } from '../stages/list.js';
import { type ExactJson, isObject, stringifyExact } from '../util/exact-json.js';
import { isContactName, removeContacts, withoutEmails } from '../util/sanitize-text.js';
import type { CompanyFacts } from './company-at-a-glance.js';
import type { Outputs } from './outputs.js';
import { freeName } from './results-table.js';
import {
  callsTable,
  candidatesTable,
  errorsTable,
  membersTable,
  rowSpaces,
  statusColumn,
  watchEventsTable,
} from './run-tables.js';

/** Extra fields of a search may contain personal data. */
function withoutContacts(extra: string | null): string | null {
  const members = extra === null ? undefined : tryParse(Buffer.from(extra));
  if (members === undefined) return null;
  removeContacts(members);
  return isObject(members) && Object.keys(members).length === 0 ? null : stringifyExact(members);
}

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

export function plannedStages(run: RunRecord): readonly string[] {
  const place = { table: 'runs', column: 'settings', run: run.id };
  return readStored(run.settings, namesStages, place).pipeline?.stages ?? [];
}

const namesStages = (value: unknown): value is { readonly pipeline?: { readonly stages?: readonly string[] } } =>
  isRecord(value) && isRecord(value.pipeline ?? {});

export const candidateRow = (
  { extra = null, ...candidate }: SnapshotCandidate,
  includeContacts: boolean,
): RowOf<typeof candidatesTable> =>
  rowOf(candidatesTable, candidate, {
    api: candidate.space,
    extra: includeContacts ? extra : withoutContacts(extra),
  });

export function memberRow(
  member: SnapshotMember,
  judge: ((standing: MemberState) => DueDecision) | null,
): RowOf<typeof membersTable> {
  const { standing, leftAt } = member;
  const due = leftAt === null ? (judge?.(standing).due ?? null) : null;
  const fetched = Object.values(standing.fetched);
  return rowOf(membersTable, member, {
    row: leftAt === null ? String(standing.row) : null,
    due: judge === null ? null : String(due !== null),
    due_reason: due?.reason ?? null,
    oldest_fetched_at: fetched.length === 0 ? null : timestamp(Math.min(...fetched)),
    member: String(standing.member),
    extra: null,
  });
}

export const watchEventRow = (event: SnapshotWatchEvent, includeContacts: boolean): RowOf<typeof watchEventsTable> =>
  rowOf(watchEventsTable, event, {
    v2_company_id: event.companyId,
    run: event.runId,
    event: String(event.id),
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

export const callRow = (call: SnapshotCall): RowOf<typeof callsTable> =>
  rowOf(callsTable, call, { call_id: String(call.id), asked: describeRequest(call), extra: null });

interface Trouble
  extends Partial<Omit<SnapshotError, 'at' | 'code' | 'message'>>,
    Partial<Pick<Issue, 'pointer' | 'seen'>> {
  readonly code: string | null;
  readonly message: string | null;
  readonly at: number | null;
  readonly operation?: string;
  readonly rawSha256?: string | null;
}

const errorRow = (trouble: Trouble, position: number): RowOf<typeof errorsTable> =>
  rowOf(errorsTable, { attempts: 0, ...trouble }, { position: String(position), extra: null });

/** Adds rows of `errors`, numbered in the order of the file. */
export function writeErrors(outputs: Outputs, troubles: readonly Trouble[]): void {
  const before = outputs.count('errors');
  outputs.write(
    'errors',
    troubles.map((trouble, index) => errorRow(trouble, before + index + 1)),
  );
}

export const endOfRow = ({ row, stage, line, ...ended }: SnapshotRow): Trouble => ({
  row,
  stage,
  class: ended.outcome,
  code: ended.errorCode,
  message: ended.errorMessage,
  at: ended.updatedAt,
  line,
});

/** A place in an answer with an undocumented form. */
export const unexpectedPlace = ({ origin, unread, pointer, expected, seen }: Issue): Trouble => ({
  ...origin,
  class: unread === true ? 'not_exported' : 'unexpected_shape',
  code: unread === true ? 'ANSWER_NOT_READ' : 'UNEXPECTED_SHAPE',
  message: `${origin.operation} ${pointer === '' ? '(the whole body)' : pointer}: expected ${expected}, saw ${seen}`,
  at: origin.fetchedAt,
  pointer,
  seen,
});

/** A stored answer with damaged bytes: it is not in the tables, and it can be bought again. */
export const damagedAnswer = (answer: UnsoundAnswer): Trouble => ({
  row: answer.row,
  stage: answer.stage,
  class: 'not_exported',
  code: 'ANSWER_DAMAGED',
  message: `the stored answer of ${answer.operation} is damaged and not in these tables. ${askAgain(answer)}`,
  at: answer.fetchedAt,
  operation: answer.operation,
  rawSha256: answer.rawSha256,
});

/** If the request is damaged too, only its row can ask again. */
const askAgain = ({ api, operation, params }: UnsoundAnswer): string =>
  params === null
    ? 'Delete the run with `kybatch runs delete` and run the list again with `kybatch run <input>`: only this answer is bought again'
    : `To ask again: kybatch call ${api} ${operation} --params '${params.replaceAll("'", "'\\''")}'. It may be charged again. Then export again`;

/** A row with a damaged value in the ledger: that cell is empty, the rest is in the tables. */
export const damagedText = (place: StoredPlace, now: number): Trouble => ({
  row: place.row ?? null,
  stage: null,
  class: 'not_exported',
  code: 'ROW_DAMAGED',
  message: `${placeInWords(place)} is damaged in the ledger and is not in these tables. Restore a copy of the ledger, or ${dropAndRunInWords(place.run ?? 'RUN')}`,
  at: now,
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
