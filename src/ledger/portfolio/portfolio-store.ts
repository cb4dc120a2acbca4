import { FIRST_ROWS, type InvalidReason, ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import { type Database, type Script, type Sql, statements } from '../db/database.js';
import { namedAsFields, portfolioColumns, portfolioReading, readCell, type Unparsed } from '../db/stored-json.js';
import { IS_DECIDED } from '../review/questions.js';
import { countUsed } from '../rows/read-rows.js';
import type { RunRecord } from '../rows/runs.js';
import { untoldNews, updatePortfolio } from './converge.js';
import {
  FileRows,
  MEMBER_STATES,
  type MemberStateColumns,
  memberStateReader,
  recordMatches,
  rowOfColumns,
} from './members.js';
import type {
  Adoption,
  ComparedRow,
  Convergence,
  FileRow,
  MemberState,
  PortfolioRecord,
  PortfolioUpdate,
  RefusedAttempt,
} from './portfolios.js';

export type PortfolioStore = ReturnType<typeof portfolioStore>;

export function portfolioStore(database: Database, findRun: (id: string) => Script<RunRecord | undefined>) {
  const { count, row, rows, value, values, run } = statements(database);
  const laid = new FileRows(database);
  const byName = row<[string, string], PortfolioRow>(`${SELECT_PORTFOLIO} WHERE name = ? AND providers = ?`);
  const byId = database.prepare<[number], PortfolioRow>(`${SELECT_PORTFOLIO} WHERE id = ?`);
  const all = rows<[], PortfolioRow>(`${SELECT_PORTFOLIO} ORDER BY seen_at DESC, id DESC`);
  const correctProviders = run(
    `UPDATE portfolios SET providers = @providers WHERE id = (SELECT max(id) FROM portfolios WHERE name = @name AND NOT EXISTS
       (SELECT 1 FROM runs JOIN run_environments ON run_environments.run_id = runs.id WHERE runs.portfolio_id = portfolios.id))
     AND NOT EXISTS (SELECT 1 FROM portfolios AS same WHERE same.name = @name AND same.providers = @providers)`,
  );
  const outcomes = rows<[object], { outcome: RowOutcome; count: number }>(countUsed('@id', 'outcome', 'outcome'));
  // The first row of each reason gives the line and the message.
  const invalidReasons = rows<[number], Omit<InvalidReason, 'firstRows'>>(
    `SELECT code, rows, row, line, message FROM (
       SELECT coalesce(error_code, '') AS code, count(*) OVER (PARTITION BY error_code) AS rows, members.row, members.line,
         coalesce(error_message, '') AS message, row_number() OVER (PARTITION BY error_code ORDER BY members.row) AS place
       FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE portfolio_id = ? AND left_at IS NULL AND outcome = 'invalid') AS reasons
     WHERE place <= ${FIRST_ROWS} ORDER BY 2 DESC, 3`,
  );
  const lastRun = database
    .prepare<[number], string>('SELECT id FROM runs WHERE portfolio_id = ? ORDER BY rowid DESC LIMIT 1')
    .pluck();
  const runsWith = values<[number, string], string>(
    `SELECT id FROM runs WHERE id IN (
       SELECT members.run_id FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE members.portfolio_id = ? AND left_at IS NULL AND outcome = ?)
     ORDER BY rowid DESC`,
  );
  // Scans calls from the newest back: few are newer than the last run.
  const boughtElsewhere = row<[object], 1>(
    `SELECT 1 FROM calls
     WHERE calls.id > coalesce((SELECT id FROM calls AS older WHERE older.started_at < @since ORDER BY id DESC LIMIT 1), 0)
       AND calls.subject_id IS NOT NULL AND calls.raw_sha256 IS NOT NULL AND calls.error_code IS NULL AND charge <> 'owned'
       AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = calls.run_id AND runs.portfolio_id = @portfolioId)
       AND EXISTS (SELECT 1 FROM row_ids JOIN members ON members.run_id = row_ids.run_id AND members.run_row = row_ids.row
         JOIN run_environments ON run_environments.run_id = members.run_id AND run_environments.environment_id = calls.environment_id
         WHERE row_ids.space = calls.subject_space AND row_ids.id = calls.subject_id AND portfolio_id = @portfolioId AND left_at IS NULL)
     LIMIT 1`,
  );
  const noteSuccess = run(
    'UPDATE portfolios SET last_success_at = ?, refused_at = NULL, refused_code = NULL WHERE id = ?',
  );
  const noteRefusal = run('UPDATE portfolios SET refused_at = ?, refused_code = ? WHERE name = ?');
  // As an attempt counts them: a row that named no company is no company that left.
  const departed = database
    .prepare<[number], number>(
      'SELECT count(*) FROM members JOIN portfolios ON portfolios.id = portfolio_id WHERE portfolio_id = ? AND left_at = seen_at AND company IS NOT NULL',
    )
    .pluck();
  const using = count<[object]>(
    `SELECT count(*) FROM members WHERE run_id = @runId AND left_at IS NULL AND NOT EXISTS (
       SELECT 1 FROM rows WHERE rows.member_id = members.id AND outcome = 'pending' AND rows.run_id <> @runId)`,
  );
  const standings = database
    .prepare<[number, number, number], MemberStateColumns>(
      `SELECT ${MEMBER_STATES} AND members.row > ? ORDER BY members.row LIMIT ?`,
    )
    .raw();
  const toPortfolio = ({ refusedAt, refusedCode, ...found }: PortfolioRow): PortfolioRecord => ({
    ...found,
    columns: readCell(portfolioColumns, found.columns, { id: found.id }),
    refused: refusedAt === null ? null : { at: refusedAt, ...readRefusal(refusedCode ?? '') },
    agreed: found.agreed === null ? null : readCell(portfolioReading, found.agreed, { id: found.id }),
  });
  const findPortfolio = function* (id: number): Script<PortfolioRecord | undefined> {
    const found = yield* byId.get(id);
    return found && toPortfolio(found);
  };
  return {
    find: async (name: string, providers: string): Promise<PortfolioRecord | undefined> => {
      const found = await byName(name, providers);
      return found && toPortfolio(found);
    },
    /** Newest first. */
    all: async (): Promise<readonly PortfolioRecord[]> => (await all()).map(toPortfolio),
    /** Loads rows of a file into a temporary table for comparison. The first batch (`anew`) replaces an earlier file. */
    loadRows: (fileRows: readonly FileRow[], anew: boolean) => database.withTempTables(() => laid.lay(fileRows, anew)),
    /** The IDs that several loaded rows share, in the order of the file. */
    repeatedIds: () => database.withTempTables(() => laid.repeatedIds()),
    /** Compares the loaded file with a portfolio, row by row, without changes. */
    async *compare(portfolioId: number | null): AsyncGenerator<readonly ComparedRow[]> {
      const readStanding = await database.withTempTables(function* () {
        yield* laid.match(portfolioId);
        return yield* memberStateReader(database);
      });
      yield* inBatches((after) => database.withTempTables(() => laid.compared(after, readStanding)));
    },
    /** The number of usable members, and how many of them the loaded file still has as usable rows. */
    usable: (portfolioId: number) => database.withTempTables(() => laid.usable(portfolioId)),
    /** The distinct settings of its runs, latest last. */
    startedWith: rows<[portfolioId: number], Pick<RunRecord, 'pipelineSha256' | 'settings'>>(
      `SELECT pipeline_sha256 AS pipelineSha256, settings FROM (
         SELECT pipeline_sha256, settings, rowid AS nth,
           row_number() OVER (PARTITION BY pipeline_sha256 ORDER BY rowid DESC) AS place
         FROM runs WHERE portfolio_id = ?) AS latest
       WHERE place = 1 ORDER BY nth`,
    ),
    lastRun: (portfolioId: number) =>
      database.read(function* () {
        const id = yield* lastRun.get(portfolioId);
        return id === undefined ? undefined : yield* findRun(id);
      }),
    /** The runs with current members of this outcome, newest first. */
    runsWith: (outcome: RowOutcome, portfolioId: number) => runsWith(portfolioId, outcome),
    /** The runs with current members that have an open question of another pipeline. */
    runsWithOtherQuestions: values<[portfolioId: number], string>(
      `SELECT DISTINCT members.run_id FROM questions INDEXED BY questions_beside
       CROSS JOIN members ON members.run_id = questions.run_id AND run_row = questions.row
       WHERE beside = 1 AND answered = 0 AND portfolio_id = ? AND left_at IS NULL AND NOT ${IS_DECIDED} ORDER BY 1 DESC`,
    ),
    /**
     * Gives the portfolio of this name these providers, if no provider was ever asked for it and no other portfolio of
     * the name has them: the address before was a typo.
     */
    correctProviders: (name: string, providers: string) => correctProviders({ name, providers }),
    /**
     * Makes a portfolio of a run from before portfolios: its rows, loaded before, become the members. Other unfinished
     * runs of the same list end.
     */
    adopt: (adoption: Adoption) => database.write(() => adopt(database, laid, adoption)),
    /** Updates the portfolio from the file and begins what is due, in one transaction. */
    converge: (convergence: Convergence): Promise<PortfolioUpdate> =>
      database.write(function* () {
        const readStanding = yield* memberStateReader(database);
        return yield* updatePortfolio({ database, laid, readStanding, findRun, findPortfolio }, convergence);
      }),
    /** The current members, in file order. */
    async *standings(portfolioId: number): AsyncGenerator<readonly MemberState[]> {
      const readStanding = await database.read(() => memberStateReader(database));
      const read = (after: number) => database.read(() => standings.all(portfolioId, after, BATCH));
      yield* inBatches(async (after) => (await read(after)).map((columns) => readStanding(rowOfColumns(columns))));
    },
    /** Has another portfolio, or a call outside a run, bought data since then that this portfolio's tables show? */
    boughtElsewhere: async (portfolioId: number, since: number) =>
      (await boughtElsewhere({ portfolioId, since })) !== undefined,
    /** An attempt ended regularly: its run is finished, or nothing was due. */
    noteSuccess: (portfolioId: number, at: number) => noteSuccess(at, portfolioId),
    /** An attempt on portfolios of this name was refused before it began. */
    noteRefusal: (name: string, refusal: Omit<RefusedAttempt, 'at'>, at: number) =>
      noteRefusal(at, refusalInText(refusal), name),
    /** An attempt has begun since. */
    forgetRefusal: run<[portfolioId: number]>(
      'UPDATE portfolios SET refused_at = NULL, refused_code = NULL WHERE id = ? AND refused_at IS NOT NULL',
    ),
    /** When the oldest answer that current members use was fetched. */
    oldestAnswer: value<[portfolioId: number], number | null>(
      `SELECT min(CAST(answered.value AS BIGINT))
       FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
         CROSS JOIN json_each(CASE WHEN json_valid(fetched) THEN fetched ELSE '{}' END) AS answered ON 1 = 1
       WHERE portfolio_id = ? AND left_at IS NULL`,
    ),
    members: count<[portfolioId: number]>('SELECT count(*) FROM members WHERE portfolio_id = ? AND left_at IS NULL'),
    /** Companies of the list whose current state is a row of this run. A row in progress replaces it. */
    membersUsing: (runId: string) => using({ runId }),
    /** Companies that left the file when it was last read, or when it was read by attempts that died before. */
    departed: (portfolioId: number) =>
      database.read(function* () {
        const { seenAt = 0 } = (yield* byId.get(portfolioId)) ?? {};
        const before = yield* untoldNews(database, portfolioId, seenAt);
        return before.left + ((yield* departed.get(portfolioId)) ?? 0);
      }),
    /** What the file brought to attempts that died, and no attempt before `until` has reported since. */
    untoldNews: (portfolioId: number, until: number) => database.read(() => untoldNews(database, portfolioId, until)),
    /** Why current members are invalid, most frequent reason first. */
    invalidReasons: async (portfolioId: number): Promise<readonly InvalidReason[]> => {
      const found = await invalidReasons(portfolioId);
      const rowsOf = (code: string) => found.flatMap((one) => (one.code === code ? one.row : []));
      const firsts = found.filter(({ code }, index) => found.findIndex((one) => one.code === code) === index);
      return firsts.map((first) => ({ ...first, firstRows: rowsOf(first.code) }));
    },
    outcomes: async (portfolioId: number) => {
      const counted = new Map((await outcomes({ id: portfolioId })).map((one) => [one.outcome, one.count]));
      const each = ROW_OUTCOMES.map((outcome) => [outcome, counted.get(outcome) ?? 0]);
      return Object.fromEntries(each) as Readonly<Record<RowOutcome, number>>;
    },
  };
}

const BATCH = 1000;

async function* inBatches<T extends { readonly row: number }>(read: (after: number) => Promise<readonly T[]>) {
  for (let after = 0; ; ) {
    const batch = await read(after);
    const last = batch.at(-1);
    if (last === undefined) return;
    yield batch;
    after = last.row;
  }
}

/**
 * One column, so that an earlier version shows it readably. "FILE_EMPTY (2): in.csv is empty", with the options on a line of
 * their own before the colon.
 */
const refusalInText = ({ code, exit, message, given }: Omit<RefusedAttempt, 'at'>): string =>
  `${code}${exit === null ? '' : ` (${exit})`}${given === null ? '' : `\n${given}\n`}${message === null ? '' : `: ${message}`}`;

function readRefusal(text: string): Omit<RefusedAttempt, 'at'> {
  const parts = /^(\w+)(?: \((\d{1,3})\))?(?:\n(\{[^\n]*\})\n)?(?:: (.*))?$/s.exec(text);
  const [, code = text, exit, given, message] = parts ?? [];
  return { code, exit: exit === undefined ? null : Number(exit), message: message ?? null, given: given ?? null };
}

type PortfolioRow = Unparsed<Omit<PortfolioRecord, 'refused' | 'agreed'>, 'columns'> & {
  readonly refusedAt: number | null;
  readonly refusedCode: string | null;
  readonly agreed: string | null;
};

const SELECT_PORTFOLIO = `SELECT ${namedAsFields(
  'id, name, providers, input_key, input_path, columns, seen_at, last_success_at, refused_at, refused_code',
)}, agreed_columns AS agreed FROM portfolios`;

/** Makes the run's rows the members of a new portfolio. */
function* adopt(database: Sql, laid: FileRows, { name, providers, now, run, older }: Adoption): Script<void> {
  const insert = database
    .prepare<unknown[], number>(
      `INSERT INTO portfolios (name, providers, created_at, input_path, columns, seen_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
    )
    .pluck();
  const columns = JSON.stringify(run.columns);
  const portfolioId = (yield* insert.get(name, providers, run.createdAt, run.inputPath, columns, now)) as number;
  yield* laid.match(portfolioId);
  yield* database
    .prepare(
      `INSERT INTO members (portfolio_id, known_by, company, says, cells, row, line, first_seen, run_id, run_row)
       SELECT ?, known_by, company, says, cells, row, line, ?, ?, row FROM temp.laid ORDER BY row`,
    )
    .run(portfolioId, run.createdAt, run.id);
  yield* database
    .prepare(
      `UPDATE rows SET member_id = members.id FROM members
       WHERE rows.run_id = ? AND members.run_id = rows.run_id AND members.run_row = rows.row`,
    )
    .run(run.id);
  yield* recordMatches(database, portfolioId);
  const join = database.prepare('UPDATE runs SET portfolio_id = ? WHERE id = ?');
  for (const id of [run.id, ...older]) yield* join.run(portfolioId, id);
  const end = database.prepare(
    "UPDATE runs SET state = 'finished', finished_at = ?, superseded_by = ? WHERE id = ? AND state = 'open'",
  );
  for (const id of older) yield* end.run(now, run.id, id);
}
