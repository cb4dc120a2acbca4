import { fieldsOf, IMPORTANT_CHANGES, type ItemChange, isImportant } from '../domain/change.js';
import { type IdSpace, idSpaces } from '../domain/provider.js';
import { isRecord, isTexts, parseStored } from '../ledger/db/stored-json.js';
import type { MemberChange } from '../ledger/portfolio/changes.js';
import type { RunRecord } from '../ledger/rows/runs.js';
import { column, emptyExtra, ownColumn, type RowOf, table, timestamp } from '../readers/table.js';
import { stages } from '../stages/list.js';

/** `credit-report` → `credit_report_status` */
export const statusColumn = (stage: string): string => `${stage.replaceAll('-', '_')}_status`;

/** The stages and ID spaces before the input's columns. Those of later modules come after them. */
const LEADING_STAGES: readonly string[] = ['record', 'financials', 'credit-report'];
const LEADING_SPACES: readonly IdSpace[] = ['v1', 'v2', 'credit', 'report'];

const furtherStages = stages.map(({ name }) => name).filter((name) => !LEADING_STAGES.includes(name));

/** The ID spaces in which rows can have an ID. */
export const rowSpaces: readonly IdSpace[] = [
  ...new Set([...LEADING_SPACES, ...stages.flatMap(({ space, finds = [] }) => [space, ...finds])]),
];

const lineColumn = column('line', 'integer', 'Line of the file that the row begins on');

const STATUSES =
  'done, not_available, skipped, waiting, parked, failed, pending; empty if the pipeline has no such stage';

const idColumn = (space: IdSpace) => column(idSpaces[space].column, 'id', idSpaces[space].description);

const furtherColumns = [
  ...furtherStages.map((name) => column(statusColumn(name), 'text', `Stage ${name}, as record_status`)),
  ...rowSpaces.filter((space) => !LEADING_SPACES.includes(space)).map(idColumn),
  column('matched_name', 'text', 'Name of the confirmed company: as its record has it, else as the search has it'),
  column('matched_registration_number', 'text', 'Its registration number, likewise'),
  column('company_status', 'text', 'Its status as the registry reports it, in the provider’s words'),
  lineColumn,
];

export const rowsTable = table({
  name: 'rows',
  // The first column after those of the input. If there is none, `extra`.
  furtherBefore: furtherColumns[0]?.name ?? 'extra',
  onePer: 'input line',
  description: 'The input, line by line, and what became of each. The `input_*` columns carry the input as written.',
  source: 'ledger',
  key: ['row'],
  keyAlwaysThere: true,
  columns: [
    column('row', 'integer', 'Number of the data line, 1 for the first'),
    column('outcome', 'text', 'complete, no_match, needs_review, invalid, failed or pending'),
    column('stage', 'text', 'The stage the row reached'),
    ...LEADING_STAGES.map((name, index) =>
      column(statusColumn(name), 'text', `Stage ${name}${index === 0 ? `: ${STATUSES}` : ', likewise'}`),
    ),
    column(
      'match_grade',
      'text',
      'One letter each for registration number, name, VAT, country, locality: A same, B similar or repaired, F different, Z not comparable',
    ),
    column('matched_on', 'text', 'registration_number, registration_number_repaired, vat_number or review'),
    ...LEADING_SPACES.map(idColumn),
    column('units_charged', 'integer', 'v1 units that this row was charged'),
    column('error_code', 'text', 'Why the row is not complete'),
    column('error_message', 'text', 'The same in words'),
    ...furtherColumns,
    ownColumn('extra', 'json', 'What stood behind the last column of the input, as `surplus_cells`'),
  ],
});

export const candidatesTable = table({
  name: 'candidates',
  onePer: 'candidate seen',
  description: 'What the searches offered for each row, how well it matches, and what was decided.',
  source: 'ledger',
  key: ['row', 'api', 'position'],
  keyAlwaysThere: true,
  columns: [
    column('row', 'integer', 'The row that searched'),
    column(
      'api',
      'text',
      `Which ID space the candidate is of: ${rowSpaces.filter((space) => space !== 'report').join(', ')}`,
    ),
    column('position', 'integer', 'Place among the candidates, from 1'),
    column('id', 'id', 'ID of the candidate in that space'),
    column('name', 'text', 'Registered name'),
    column('registration_number', 'text', 'Registration number, as sent'),
    column('vat_number', 'text', 'VAT, tax or EIN number'),
    column('country_code', 'text', 'ISO alpha-2'),
    column('state', 'text', 'State, province or registry region'),
    column('match_grade', 'text', 'See rows.match_grade'),
    column('decision', 'text', 'confirmed, rejected, needs_review or no_match'),
    column('evidence', 'text', 'What agreed and what did not, in words'),
    column('jurisdiction', 'text', 'Registry jurisdiction, where it is not the country or state'),
    column(
      'extra',
      'json',
      'What else the search said: the source, with provenance; status, address and further VAT numbers of a hit among credit reports; status of one in the companies module',
    ),
  ],
});

export const membersTable = table({
  name: 'members',
  onePer: 'member of the portfolio',
  description:
    'Who is in the list, since when, and what is due; also those that have left, until they are pruned. A member is known again from file to file by your own ID, else by what identifies the company, else by its position.',
  source: 'ledger',
  key: ['member'],
  keyAlwaysThere: true,
  columns: [
    ownColumn('portfolio', 'text', 'Name of the portfolio: what --portfolio said, else the path of the input'),
    ownColumn('input_id', 'text', 'Your own ID, where the input has one'),
    column('row', 'integer', 'Number of its data line in the newest file; empty once it has left'),
    column('first_seen', 'timestamp', 'When it was first in the list'),
    column('last_seen', 'timestamp', 'When it was last in the list'),
    column('left_at', 'timestamp', 'When it was found to have left; empty while it is in the list'),
    column('due', 'boolean', 'Whether something is to be asked for, at the time of the export'),
    column(
      'due_reason',
      'text',
      'unfinished (it has not come to an end yet), watch (the provider’s watch says that it has changed) or stale (an answer is older than its freshness)',
    ),
    column('oldest_fetched_at', 'timestamp', 'When the oldest of its answers was fetched; empty if there is none'),
    column('member', 'integer', 'Number of the member in the ledger: it stays the same from file to file'),
    emptyExtra,
  ],
});

export const watchEventsTable = table({
  name: 'watch_events',
  onePer: 'event that the provider’s watch told, and member that it concerns',
  description:
    'What the provider says has changed about watched companies, as `kybatch watch pull` has read it in their histories and in the notifications that `kybatch watch listen` received. What it is now is in the tables of what was bought, once that was bought again.',
  source: 'ledger',
  key: ['row', 'event'],
  keyAlwaysThere: true,
  columns: [
    ownColumn('portfolio', 'text', 'Name of the portfolio'),
    column('row', 'integer', 'Number of the member’s data line'),
    ownColumn('input_id', 'text', 'Your own ID, where the input has one'),
    column('v2_company_id', 'id', 'The company that has changed'),
    column('event_type', 'text', 'What has changed, such as company_name; an open set. Of a notification its `field`'),
    column('status', 'text', 'As sent; the document shows UPDATED, and UPDATE in a notification'),
    column('message', 'text', 'As sent'),
    column('date_created', 'text', 'When it changed, as sent'),
    column('heard_at', 'timestamp', 'When we read it'),
    column('run', 'text', 'The run that began with it; empty if it was read by hand'),
    column('raw_sha256', 'text', 'SHA-256 of the raw body'),
    column('event', 'integer', 'Number of the event in the ledger'),
    column(
      'told_by',
      'text',
      'history, or callback: a notification, which is not signed; whoever it is about is due once the history says so',
    ),
    column('old_value', 'text', 'As a notification has it; of phone, fax and e-mail only with --include-contacts'),
    column('new_value', 'text', 'Likewise'),
    column('extra', 'json', 'What else the record said'),
  ],
});

export const callsTable = table({
  name: 'calls',
  onePer: 'attempt',
  description: 'Every call of the run, and every use of an answer that was owned already.',
  source: 'ledger',
  key: ['call_id'],
  keyAlwaysThere: true,
  columns: [
    column('row', 'integer', 'The row it was made for'),
    column('stage', 'text', 'The stage it was made in'),
    column('api', 'text', 'v1 or v2'),
    column('operation', 'text', 'Name of the operation'),
    column('attempt', 'integer', '1 for the first; 0 for the use of an owned answer'),
    column('started_at', 'timestamp', 'When it was about to be sent'),
    column('duration_ms', 'integer', 'Until the body was complete'),
    column('http_status', 'integer', 'Empty if no answer came'),
    column('error_code', 'text', 'Empty for a success'),
    column('request_id', 'text', 'To quote to the provider’s support'),
    column('units_charged', 'integer', 'v1 units; empty where v2 does not count in units, or the charge is unknown'),
    column(
      'charge',
      'text',
      'charged, free, unknown (the answer was lost or cannot be read, or v2, or a gateway before v1, answered with a failure) or owned (nothing was sent)',
    ),
    column('raw_sha256', 'text', 'SHA-256 of the raw body'),
    column('call_id', 'integer', 'Number of the call in the ledger'),
    column('error_class', 'text', 'What happens next: retry, slow_down, park, not_available, fail_row, …'),
    column('remaining_units', 'integer', 'Units left, as the provider said'),
    column('reconciled', 'text', 'How an unknown charge was settled later'),
    column(
      'asked',
      'text',
      'What was asked for, in short: what was searched by, or the ID; empty where the answer is not owned any more and no ID was asked by',
    ),
    emptyExtra,
  ],
});

export const errorsTable = table({
  name: 'errors',
  onePer: 'error',
  description:
    'What went wrong, and every place in an answer whose form the document does not describe (class `unexpected_shape`: the rest of the record is exported all the same). Rows that cannot be asked about (class `invalid`) and those that wait for a person (class `needs_review`) are in it with their reason. Class `not_exported`: a stored answer that is damaged or could not be read, of which nothing is in the tables, or a damaged cell of a row (`ROW_DAMAGED`), which is empty.',
  source: 'ledger, and the reading of the raw bodies',
  key: ['position'],
  keyAlwaysThere: true,
  columns: [
    column('row', 'integer', 'The row concerned; for an answer that several rows share, the first'),
    column('stage', 'text', 'The stage it happened in'),
    column(
      'class',
      'text',
      'What follows from it; invalid and needs_review for rows that ended so, unexpected_shape for places in an answer, not_exported for answers and cells that the tables lack',
    ),
    column('code', 'text', 'Stable code'),
    column('message', 'text', 'In words'),
    column('request_id', 'text', 'To quote to the provider’s support'),
    column('attempts', 'integer', 'How often it was tried'),
    column('at', 'timestamp', 'When'),
    column('position', 'integer', 'Number of the entry, from 1'),
    column('operation', 'text', 'The operation whose answer is meant'),
    column('pointer', 'text', 'JSON pointer to the place in the raw body'),
    column('seen', 'text', 'What was seen there'),
    column('raw_sha256', 'text', 'SHA-256 of the raw body'),
    lineColumn,
    emptyExtra,
  ],
});

export const changesTable = table({
  name: 'changes',
  onePer: 'field that differs from the answer before',
  description:
    'What a new answer says otherwise than the one that it took the place of, for each member whose company it is, from when that was known, and while it is in the list. An item of a list that came or went has a line of its own, without `column`, and one for each of its fields.',
  source: 'ledger',
  key: ['changed_at', 'portfolio', 'row', 'input_id', 'new_raw_sha256', 'table', 'key', 'column'],
  keyAlwaysThere: false,
  columns: [
    column('changed_at', 'timestamp', 'When the new answer came'),
    ownColumn('portfolio', 'text', 'The portfolio'),
    column('row', 'integer', 'Number of the data line in the newest file; empty: it is not in the list any more'),
    ownColumn('input_id', 'text', 'Your own key for it'),
    column('v1_company_id', 'id', 'The company, in v1’s ID space, as it is known now'),
    column('v2_company_id', 'id', 'The company, in v2’s ID space, as it is known now'),
    column('table', 'text', 'The table in which it shows'),
    column(
      'key',
      'json',
      'What the line is known again by: columns and their cells; `copy` counts from 2 where several are alike. Of lists also the `operation` that the line is from, or was, where it is gone',
    ),
    column(
      'column',
      'text',
      'The column; `extra.<field>` for a field that has none; empty: the item as a whole came or went',
    ),
    column(
      'kind',
      'text',
      'added, removed, changed; respelled: the same number, written in another way (`1.10`, `1.1`)',
    ),
    column('old_value', 'text', 'As the answer before had it; empty: not returned'),
    column('new_value', 'text', 'As the new answer has it; empty: not returned'),
    column('old_raw_sha256', 'text', 'SHA-256 of the raw body that the old value stands in'),
    column('new_raw_sha256', 'text', 'SHA-256 of the raw body that the new value stands in'),
    column('run', 'text', 'The run that bought the new answer; empty: bought by hand'),
    column('important', 'boolean', 'Whether it is among the `changes.important` of the pipeline'),
    emptyExtra,
  ],
});

export function changeRows(
  change: MemberChange,
  important: ReadonlySet<string>,
): readonly RowOf<typeof changesTable>[] {
  const shared = {
    changed_at: timestamp(change.changedAt),
    portfolio: change.portfolio,
    row: change.row === null ? null : String(change.row),
    input_id: change.inputId,
    v1_company_id: change.ids.v1 ?? null,
    v2_company_id: change.ids.v2 ?? null,
    run: change.runId,
    extra: null,
  };
  return change.items.flatMap((item: ItemChange) =>
    fieldsOf(item).map((field) => ({
      ...shared,
      table: field.table,
      key: JSON.stringify(field.key),
      column: field.column,
      kind: field.kind,
      old_value: field.oldValue,
      new_value: field.newValue,
      old_raw_sha256: item.oldRawSha256 ?? change.oldRawSha256,
      new_raw_sha256: item.newRawSha256 ?? change.newRawSha256,
      important: String(isImportant(field, important)),
    })),
  );
}

/** The important changes of a run's pipeline. Runs of older versions use the default. */
export function importantNames({ settings }: Pick<RunRecord, 'settings'>): ReadonlySet<string> {
  const said = parseStored(settings, isRecord)?.pipeline;
  const names = isRecord(said) ? said.importantChanges : undefined;
  return new Set(isTexts(names) ? names : IMPORTANT_CHANGES);
}
