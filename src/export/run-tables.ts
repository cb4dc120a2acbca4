import { fieldsOf, IMPORTANT_CHANGES, type ItemChange, isImportant } from '../domain/change.js';
import { type IdSpace, idSpaces } from '../domain/provider.js';
import type { SnapshotChange } from '../ledger/answers/snapshot.js';
import { isRecord, isTexts, parseStored } from '../ledger/db/stored-json.js';
import type { RunRecord } from '../ledger/rows/runs.js';
import { column, companyKeyColumn, emptyExtra, ownColumn, type RowOf, rowOf, table } from '../readers/table.js';
import { stages } from '../stages/list.js';

/** `credit-report` → `credit_report_status` */
export const statusColumn = (stage: string): string => `${stage.replaceAll('-', '_')}_status`;

/** The stages and ID spaces before the input's columns. Those of later modules come after them. */
const LEADING_STAGES: readonly string[] = ['record', 'financials', 'credit-report'];
const LEADING_SPACES: readonly IdSpace[] = ['v1', 'v2', 'credit', 'report'];

const furtherStages = stages.map(({ name }) => name).filter((name) => !LEADING_STAGES.includes(name));

export const rowSpaces: readonly IdSpace[] = [
  ...new Set([...LEADING_SPACES, ...stages.flatMap(({ space, finds = [] }) => [space, ...finds])]),
];

const lineColumn = column('line', 'integer', 'Line of the file that the row begins on');

const stageColumn = (name: string) =>
  column(statusColumn(name), 'text', `Status of the stage ${name}. Empty if the pipeline has no such stage`);

export const idColumn = (space: IdSpace) => column(idSpaces[space].column, 'id', idSpaces[space].description);

const furtherColumns = [
  ...furtherStages.map(stageColumn),
  ...rowSpaces.filter((space) => !LEADING_SPACES.includes(space)).map(idColumn),
  column('matched_name', 'text', 'Name of the confirmed company: as its record has it, else as the search has it'),
  column('matched_registration_number', 'text', 'Its registration number'),
  column('company_status', 'text', 'Its status as the registry reports it, in the provider’s words'),
  lineColumn,
  companyKeyColumn,
];

export const rowsTable = table({
  name: 'rows',
  // The first column after those of the input. If there is none, `extra`.
  furtherBefore: furtherColumns[0]?.name ?? 'extra',
  onePer: 'input line',
  description: 'The rows of the list with their outcomes. The `input_*` columns have the input as written.',
  source: 'ledger',
  key: ['row'],
  keyAlwaysThere: true,
  columns: [
    column('row', 'integer', 'Number of the data line, 1 for the first'),
    column('outcome', 'text', 'complete, no_match, needs_review, invalid, failed or pending'),
    column('stage', 'text', 'The stage the row reached'),
    ...LEADING_STAGES.map(stageColumn),
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
    ownColumn('extra', 'json', 'Cells after the last column of the input, as `surplus_cells`'),
  ],
});

/** The ID spaces of companies. A report is no company. */
export const companySpaces: readonly IdSpace[] = rowSpaces.filter((space) => space !== 'report');

export const candidatesTable = table({
  name: 'candidates',
  onePer: 'candidate seen',
  description: 'The candidates of each row, how well they match, and the decisions.',
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
    column('jurisdiction', 'text', 'Registry jurisdiction, if it is not the country or state'),
    column('company_key', 'text', 'The company of the row. Only for a confirmed candidate'),
    column('extra', 'json', 'Other returned values, such as sources, status, address and further VAT numbers'),
  ],
});

export const membersTable = table({
  name: 'members',
  onePer: 'member of the portfolio',
  description:
    'The companies of the portfolio, since when they are in the list, and what is due. Companies that have left stay until they are pruned. kybatch recognises a company by your own ID, else by its number or name, else by its position.',
  source: 'ledger',
  key: ['member'],
  keyAlwaysThere: true,
  columns: [
    ownColumn('portfolio', 'text', 'Name of the portfolio: the value of --portfolio, else the path of the input'),
    ownColumn('input_id', 'text', 'Your own ID, if the list has one'),
    column('row', 'integer', 'Number of its row in the newest file. Empty if it has left'),
    column('first_seen', 'timestamp', 'When it was first in the list'),
    column('last_seen', 'timestamp', 'When it was last in the list'),
    column('left_at', 'timestamp', 'When it left the list. Empty while it is in the list'),
    column('due', 'boolean', 'Whether something was due at the time of the export. Empty in the tables of a past day'),
    column(
      'due_reason',
      'text',
      'unfinished (not finished yet), watch (the provider’s watch reports a change) or stale (an answer is older than its freshness)',
    ),
    column('oldest_fetched_at', 'timestamp', 'When its oldest answer was bought. Empty if there is none'),
    column('member', 'integer', 'Number of the member in the ledger: it stays the same from file to file'),
    companyKeyColumn,
    emptyExtra,
  ],
});

export const watchEventsTable = table({
  name: 'watch_events',
  onePer: 'event of the provider’s watch and company',
  description:
    'Changes that the provider reports for watched companies. `kybatch watch pull` reads them from the history, and `kybatch watch listen` receives notifications. The other tables have the new values after the next purchase.',
  source: 'ledger',
  key: ['row', 'event'],
  keyAlwaysThere: true,
  columns: [
    ownColumn('portfolio', 'text', 'Name of the portfolio'),
    column('row', 'integer', 'Number of the member’s data line'),
    ownColumn('input_id', 'text', 'Your own ID, if the list has one'),
    column('v2_company_id', 'id', 'The company that has changed'),
    column('event_type', 'text', 'The changed field, such as company_name'),
    column('status', 'text', 'As sent, such as UPDATED. A notification has UPDATE'),
    column('message', 'text', 'As sent'),
    column('date_created', 'text', 'When it changed, as sent'),
    column('heard_at', 'timestamp', 'When we read it'),
    column('run', 'text', 'The run that read it. Empty if `kybatch watch` read it'),
    column('raw_sha256', 'text', 'SHA-256 of the raw body'),
    column('event', 'integer', 'Number of the event in the ledger'),
    column('told_by', 'text', 'history or callback. A callback is not signed, so the history decides'),
    column('old_value', 'text', 'As sent in a notification. Phone, fax and e-mail only with --include-contacts'),
    column('new_value', 'text', 'The value after the change, as sent'),
    companyKeyColumn,
    column('extra', 'json', 'Other returned values'),
  ],
});

export const callsTable = table({
  name: 'calls',
  onePer: 'attempt',
  description: 'Every call of the run, and every use of a stored answer.',
  source: 'ledger',
  key: ['call_id'],
  keyAlwaysThere: true,
  columns: [
    column('row', 'integer', 'The row it was made for'),
    column('stage', 'text', 'The stage it was made in'),
    column('api', 'text', 'v1 or v2'),
    column('operation', 'text', 'Name of the operation'),
    column('attempt', 'integer', '1 for the first try. 0 if a stored answer was used'),
    column('started_at', 'timestamp', 'When it was about to be sent'),
    column('duration_ms', 'integer', 'Until the body was complete'),
    column('http_status', 'integer', 'Empty if no answer came'),
    column('error_code', 'text', 'Empty for a success'),
    column('request_id', 'text', 'To quote to the provider’s support'),
    column('units_charged', 'integer', 'v1 units. Empty for v2, and if the charge is unknown'),
    column(
      'charge',
      'text',
      'charged, free, unknown (the answer was lost, unreadable or a failure) or owned (a stored answer was used)',
    ),
    column('raw_sha256', 'text', 'SHA-256 of the raw body'),
    column('call_id', 'integer', 'Number of the call in the ledger'),
    column('error_class', 'text', 'What happens next: retry, slow_down, park, not_available, fail_row, …'),
    column('remaining_units', 'integer', 'Units left, as sent'),
    column('reconciled', 'text', 'How an unknown charge was settled later'),
    column('asked', 'text', 'The searched values, or the ID. Empty if the answer was removed'),
    emptyExtra,
  ],
});

export const errorsTable = table({
  name: 'errors',
  onePer: 'error',
  description:
    'Errors, and rows that need a person. Class `invalid`: the row cannot be searched for. Class `needs_review`: a review question. Class `unexpected_shape`: a part of an answer that the provider does not document. The rest of that answer is exported. Class `not_exported`: a stored answer or a cell is damaged, and missing in the tables.',
  source: 'ledger, and the reading of the raw bodies',
  key: ['position'],
  keyAlwaysThere: true,
  columns: [
    column('row', 'integer', 'The row. If several rows share an answer, the first of them'),
    column('stage', 'text', 'The stage it happened in'),
    column('class', 'text', 'The kind of error, as described above'),
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
    'Differences between a new answer and the answer before it. They are recorded once the company is confirmed, while the row is in the list. An added or removed list item has a line without `column`, and a line for each of its fields.',
  source: 'ledger',
  key: ['changed_at', 'portfolio', 'row', 'input_id', 'new_raw_sha256', 'table', 'key', 'column'],
  keyAlwaysThere: false,
  columns: [
    column('changed_at', 'timestamp', 'When the new answer came'),
    ownColumn('portfolio', 'text', 'The portfolio'),
    column('row', 'integer', 'Number of the row in the newest file. Empty if it has left the list'),
    ownColumn('input_id', 'text', 'Your own key for it'),
    column('v1_company_id', 'id', 'The company, in v1’s ID space, as it is known now'),
    column('v2_company_id', 'id', 'The company, in v2’s ID space, as it is known now'),
    column('table', 'text', 'The table that shows it'),
    column(
      'key',
      'json',
      'The columns that identify the line, with their cells. `copy` counts equal lines from 2. Lines of lists also have their `operation`',
    ),
    column('column', 'text', 'The column, or `extra.<field>`. Empty if the whole item was added or removed'),
    column('kind', 'text', 'added, removed, changed, or respelled: the same number in another form (`1.10`, `1.1`)'),
    column('old_value', 'text', 'The value of the answer before. Empty if it was not returned'),
    column('new_value', 'text', 'The value of the new answer. Empty if it was not returned'),
    column('old_raw_sha256', 'text', 'SHA-256 of the raw answer with the old value'),
    column('new_raw_sha256', 'text', 'SHA-256 of the raw answer with the new value'),
    column('run', 'text', 'The run that bought the new answer. Empty if `kybatch call` bought it'),
    column('important', 'boolean', 'Whether it is among the `changes.important` of the pipeline'),
    companyKeyColumn,
    emptyExtra,
  ],
});

export function changeRows(
  change: SnapshotChange,
  important: ReadonlySet<string>,
): readonly RowOf<typeof changesTable>[] {
  const { runId: run, ids, row, ...shared } = change;
  return change.items.flatMap((item: ItemChange) =>
    fieldsOf(item).map((field) => {
      const { key, ...cells } = field;
      const digests = {
        oldRawSha256: item.oldRawSha256 ?? change.oldRawSha256,
        newRawSha256: item.newRawSha256 ?? change.newRawSha256,
      };
      return rowOf(
        changesTable,
        { ...shared, row, run, ...cells, ...digests },
        {
          v1_company_id: ids.v1 ?? null,
          v2_company_id: ids.v2 ?? null,
          key: JSON.stringify(key),
          important: String(isImportant(field, important)),
          extra: null,
        },
      );
    }),
  );
}

/** The important changes of a run's pipeline. Runs of older versions use the default. */
export function importantNames({ settings }: Pick<RunRecord, 'settings'>): ReadonlySet<string> {
  const said = parseStored(settings, isRecord)?.pipeline;
  const names = isRecord(said) ? said.importantChanges : undefined;
  return new Set(isTexts(names) ? names : IMPORTANT_CHANGES);
}
