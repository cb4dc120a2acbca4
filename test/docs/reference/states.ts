import type { ParkReason } from '../../../src/calls/request.js';
import type { Charge } from '../../../src/domain/errors.js';
import { ExitCode } from '../../../src/domain/errors.js';
import type { GuardName, RowOutcome, StageStatus } from '../../../src/domain/outcomes.js';
import type { DueReason } from '../../../src/ledger/portfolio/portfolios.js';
import type { RunRecord } from '../../../src/ledger/rows/runs.js';
import { GENERATED, markdownTable, page } from './markdown.js';

/** The compiler asks for an entry for each state. */
type Meanings<State extends string> = Readonly<Record<State, readonly [meaning: string, next: string]>>;

const EXIT_CODES: Meanings<keyof typeof ExitCode> = {
  ok: ['Done. No row is invalid, failed or in review.', 'Nothing to do.'],
  internal: [
    'A full disk, a damaged ledger, or a bug. The message names the cause.',
    'Remove the cause, then `kybatch resume`.',
  ],
  usage: ['A wrong flag, setting or file, or a guard. Nothing was spent.', 'Correct what the message names.'],
  rowsOpen: ['Finished, but rows need a person.', '`kybatch status` names the command.'],
  allowance: ['An allowance or a limit is used up.', '`kybatch resume`, or the next run.'],
  credentials: ['The provider refuses the key, a scope or a permission.', '`kybatch doctor`, then `kybatch resume`.'],
  unavailable: ['The provider or the ledger server is unavailable.', '`kybatch resume`, or the next run.'],
  locked: ['Another kybatch process uses this data directory or run.', 'Wait for it, then repeat the command.'],
  hungUp: ['The terminal was closed.', '`kybatch resume`.'],
  interrupted: ['You pressed Ctrl-C.', '`kybatch resume`.'],
  terminated: ['The process was asked to stop.', '`kybatch resume`.'],
};

const OUTCOMES: Meanings<RowOutcome> = {
  complete: ['The company is confirmed, and every stage is finished.', 'Nothing to do.'],
  no_match: [
    'The provider has no such company, or a person refused every candidate.',
    'Correct the row, then `kybatch run FILE`. Or leave it: kybatch searches again when the search is stale.',
  ],
  needs_review: ['A person has to choose the company.', '`kybatch review`, then `kybatch resume`.'],
  invalid: [
    'The row cannot be searched for. It cost nothing.',
    '`kybatch plan FILE` names line and reason. Correct the list, then `kybatch run FILE`.',
  ],
  failed: ['A call failed and will not succeed as it is.', '`kybatch resume --failed`.'],
  pending: ['The row is not finished. It is to do, waiting or on hold.', '`kybatch resume`.'],
};

/** Reasons why a row is on hold. Draining and closing end within an attempt, so no row is left with them. */
export const HOLDS: Meanings<Exclude<ParkReason, 'draining' | 'closed'>> = {
  allowance: ['The allowance of the account is used up.', '`kybatch resume` after it is renewed.'],
  budget: ['The limit of the attempt is reached.', '`kybatch resume`, with `--max-units N` and `--max-reports N`.'],
  scope: ['The key has no scope or permission for an operation.', '`kybatch doctor` names it. Then `kybatch resume`.'],
  in_doubt: [
    'The charge of a call is unknown, and it was lost too often to send it again.',
    '`kybatch charges` lists the calls. Record what they cost, then `kybatch resume`.',
  ],
  unanswered: ['The answer was lost or unreadable. Other rows were answered.', '`kybatch resume`, or the next run.'],
  ask_provider: [
    'The provider sent an answer that its documents do not describe.',
    'Ask the provider. The table `errors` has the answer. Then `kybatch resume`.',
  ],
};

const STAGES: Meanings<StageStatus> = {
  done: ['The data was bought, or a stored answer was used.', 'Nothing to do.'],
  not_available: ['The provider has no such data for this company.', 'Nothing to do.'],
  skipped: ['The row ended before this stage.', 'See the outcome of the row.'],
  waiting: ['A credit report was bought and is not ready.', '`kybatch resume`. It is not bought again.'],
  parked: ['The row is on hold here.', 'See "Rows on hold".'],
  failed: ['A call of this stage failed.', '`kybatch resume --failed`.'],
  pending: ['Not reached yet.', '`kybatch resume`.'],
};

const RUNS: Meanings<RunRecord['state']> = {
  reading: ['kybatch stopped while it read the list. Nothing was spent.', '`kybatch run FILE`.'],
  open: ['Unfinished: rows are left. Bought answers are stored.', '`kybatch resume RUN`.'],
  finished: ['Every row has an outcome.', '`kybatch run FILE` updates the portfolio.'],
  superseded: ['A later run of the portfolio took over its open rows.', '`kybatch status` shows the later run.'],
};

const DUE: Meanings<DueReason> = {
  new: ['The row is new in the list.', 'searches and buys'],
  changed: ['The row has another name, number or country than before.', 'searches and buys'],
  unfinished: ['An earlier run did not finish the row.', 'continues'],
  watch: ['The watch reports a change.', 'buys the stages of `watch.refresh` again'],
  stale: ['An answer is older than its freshness.', 'buys the answer again'],
  asked: ['You asked for it with `--rebuy`.', 'buys everything again'],
};

const GUARDS: Meanings<GuardName> = {
  rows_lost: [
    'The list lost more rows than `guards.rows_lost` allows, has none of the known rows, or breaks off in its last line.',
    'Send the right file, or add `--accept rows_lost`.',
  ],
  new_provider: [
    'The base URL is another one than before. Stored answers would be bought again.',
    'Set the base URL back. If the provider moved: `kybatch ledger provider-moved`. Else `--accept new_provider`.',
  ],
  new_ledger: [
    'Logs, exports or the metrics file name work that the ledger does not know.',
    'Name the right data directory, or restore the newest backup. Else `--accept new_ledger`.',
  ],
  clock: ['The clock differs from the provider’s by more than a day.', 'Set the clock. Else `--accept clock`.'],
};

const CHARGES: Meanings<Charge | 'owned'> = {
  charged: ['The provider charged for the call.', 'Nothing to do.'],
  free: ['The provider did not charge for it.', 'Nothing to do.'],
  unknown: ['The answer was lost or unreadable, so the charge is unknown.', '`kybatch charges`.'],
  owned: ['A stored answer was used. Nothing was sent.', 'Nothing to do.'],
};

export const describeStates = (): string =>
  page(
    '# States and exit codes',
    GENERATED,
    'Every state of a row, a run and a call, with its next step. `kybatch status` names the command.',
    '## Exit codes',
    markdownTable(
      ['code', 'meaning', 'next step'],
      Object.entries(EXIT_CODES).map(([name, [meaning, next]]) => [
        String(ExitCode[name as keyof typeof ExitCode]),
        meaning,
        next,
      ]),
    ),
    'A run that ends with 4, 5, 6, 129, 130 or 143 can be resumed. kybatch does not buy stored answers again.',
    '## Rows',
    ROW_STATES,
    stateTable('outcome', 'next step', OUTCOMES),
    '## Rows on hold',
    [
      'A row on hold is `pending`. In `--json` it counts as `parked`, with one of these reasons.',
      'A row that waits for a credit report has the hold `waiting`: `kybatch resume` asks for the report again, free.',
    ].join(' '),
    stateTable('reason', 'next step', HOLDS),
    '## Stages',
    'The columns `<stage>_status` of the table [rows](tables/rows.md), and the table of `kybatch status`.',
    stateTable('status', 'next step', STAGES),
    '## Runs',
    stateTable('state', 'next step', RUNS),
    '## Why a row is due',
    '`kybatch run` works on the rows that are due. `kybatch portfolios` counts them.',
    stateTable('reason', 'kybatch', DUE),
    '## Guards',
    'A guard refuses an attempt with exit code 2, before anything is spent. `--accept GUARD` lets one attempt pass.',
    stateTable('guard', 'next step', GUARDS),
    '## Charges',
    CALL_CHARGE,
    stateTable('charge', 'next step', CHARGES),
  );

const stateTable = (heading: string, next: string, meanings: Meanings<string>): string =>
  markdownTable(
    [heading, 'meaning', next],
    Object.entries(meanings).map(([state, [meaning, way]]) => [`\`${state}\``, meaning, way]),
  );

const ROW_STATES = `\`\`\`mermaid
stateDiagram-v2
  [*] --> pending: kybatch run
  [*] --> invalid: cannot be read
  pending --> complete
  pending --> no_match
  pending --> needs_review
  pending --> failed
  pending --> on_hold: limit, allowance, scope, unknown charge
  on_hold --> pending: kybatch resume
  needs_review --> pending: kybatch review, then resume
  failed --> pending: kybatch resume --failed
  no_match --> pending: correct the list, kybatch run
  invalid --> pending: correct the list, kybatch run
  complete --> pending: stale, kybatch run
\`\`\``;

const CALL_CHARGE = `\`\`\`mermaid
flowchart TD
  asked[A stage needs an answer] --> stored{Fresh answer stored?}
  stored -- yes --> owned[owned: nothing is sent]
  stored -- no --> written[The call is recorded, then sent]
  written --> came{What came back?}
  came -- an answer --> charged
  came -- a refusal that is documented as free --> free
  came -- nothing, or unreadable --> unknown
  unknown -- the provider's counter decides --> charged
  unknown -- the provider's counter decides --> free
  unknown -- kybatch charges charged --> charged
  unknown -- kybatch charges free --> free
\`\`\``;
