import { FIRST_ROWS, type InvalidReason, ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import type { CorrectedTimes } from '../clock-ahead.js';
import type { Database, Script, Sql } from '../db/database.js';
import { JsonColumns, portfolioColumns, portfolioReading } from '../db/json-columns.js';
import { IS_DECIDED } from '../review/questions.js';
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
import type { Adoption, PortfolioRecord, PortfolioStore, RefusedAttempt } from './portfolios.js';

export function portfolioStore(
  database: Database,
  times: CorrectedTimes,
  findRun: (id: string) => Script<RunRecord | undefined>,
): PortfolioStore {
  const cells = new JsonColumns(database);
  const laid = new FileRows(database);
  const byName = database.prepare<[string, string], PortfolioRow>(
    'SELECT * FROM portfolios WHERE name = ? AND providers = ?',
  );
  const correctProviders = database.prepare(
    `UPDATE portfolios SET providers = @providers WHERE id = (SELECT max(id) FROM portfolios WHERE name = @name AND NOT EXISTS
       (SELECT 1 FROM runs JOIN run_environments ON run_environments.run_id = runs.id WHERE runs.portfolio_id = portfolios.id))
     AND NOT EXISTS (SELECT 1 FROM portfolios AS same WHERE same.name = @name AND same.providers = @providers)`,
  );
  const byId = database.prepare<[number], PortfolioRow>('SELECT * FROM portfolios WHERE id = ?');
  const all = database.prepare<[], PortfolioRow>(
    `SELECT * FROM portfolios ORDER BY ${times.sql('seen_at')} DESC, id DESC`,
  );
  const outcomes = database.prepare<[number], { outcome: RowOutcome; count: number }>(
    `SELECT outcome, count(*) AS count FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
     WHERE portfolio_id = ? AND left_at IS NULL GROUP BY outcome`,
  );
  // The first row of each reason gives the line and the message.
  const invalidReasons = database.prepare<[number], Omit<InvalidReason, 'firstRows'>>(
    `SELECT code, rows, row, line, message FROM (
       SELECT coalesce(error_code, '') AS code, count(*) OVER (PARTITION BY error_code) AS rows, members.row, members.line,
         coalesce(error_message, '') AS message, row_number() OVER (PARTITION BY error_code ORDER BY members.row) AS place
       FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE portfolio_id = ? AND left_at IS NULL AND outcome = 'invalid') AS reasons
     WHERE place <= ${FIRST_ROWS} ORDER BY 2 DESC, 3`,
  );
  const holders = database
    .prepare<[number], string>('SELECT DISTINCT run_id FROM members WHERE portfolio_id = ? AND left_at IS NULL')
    .pluck();
  const startedWith = database.prepare<[number], Pick<RunRecord, 'pipelineSha256' | 'settings'>>(
    `SELECT pipeline_sha256 AS pipelineSha256, settings FROM (
       SELECT pipeline_sha256, settings, rowid AS nth,
         row_number() OVER (PARTITION BY pipeline_sha256 ORDER BY rowid DESC) AS place
       FROM runs WHERE portfolio_id = ?) AS latest
     WHERE place = 1 ORDER BY nth`,
  );
  const lastRun = database
    .prepare<[number], string>('SELECT id FROM runs WHERE portfolio_id = ? ORDER BY rowid DESC LIMIT 1')
    .pluck();
  const runsWith = database
    .prepare<[number, string], string>(
      `SELECT id FROM runs WHERE id IN (
         SELECT members.run_id FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
         WHERE members.portfolio_id = ? AND left_at IS NULL AND outcome = ?)
       ORDER BY rowid DESC`,
    )
    .pluck();
  const askedBeside = database
    .prepare<[number], string>(
      `SELECT DISTINCT members.run_id FROM questions INDEXED BY questions_beside
       CROSS JOIN members ON members.run_id = questions.run_id AND run_row = questions.row
       WHERE beside = 1 AND answered = 0 AND portfolio_id = ? AND left_at IS NULL AND NOT ${IS_DECIDED} ORDER BY 1 DESC`,
    )
    .pluck();
  // Scans calls from the newest back: few are newer than the last run.
  const boughtElsewhere = database.prepare<[{ portfolioId: number; since: number }], 1>(
    `SELECT 1 FROM calls
     WHERE calls.id > coalesce((SELECT id FROM calls AS older WHERE older.started_at < @since ORDER BY id DESC LIMIT 1), 0)
       AND calls.subject_id IS NOT NULL AND calls.raw_sha256 IS NOT NULL AND calls.error_code IS NULL AND charge <> 'owned'
       AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = calls.run_id AND runs.portfolio_id = @portfolioId)
       AND EXISTS (SELECT 1 FROM row_ids JOIN members ON members.run_id = row_ids.run_id AND members.run_row = row_ids.row
         JOIN run_environments ON run_environments.run_id = members.run_id AND run_environments.environment_id = calls.environment_id
         WHERE row_ids.space = calls.subject_space AND row_ids.id = calls.subject_id AND portfolio_id = @portfolioId AND left_at IS NULL)
     LIMIT 1`,
  );
  const noteSuccess = database.prepare(
    'UPDATE portfolios SET last_success_at = ?, refused_at = NULL, refused_code = NULL WHERE id = ?',
  );
  const noteRefusal = database.prepare('UPDATE portfolios SET refused_at = ?, refused_code = ? WHERE name = ?');
  // As an attempt counts them: a row that named no company is no company that left.
  const departed = database
    .prepare<[number], number>(
      'SELECT count(*) FROM members JOIN portfolios ON portfolios.id = portfolio_id WHERE portfolio_id = ? AND left_at = seen_at AND company IS NOT NULL',
    )
    .pluck();
  // A member with a row in progress uses that one instead.
  const members = database
    .prepare<[number], number>('SELECT count(*) FROM members WHERE portfolio_id = ? AND left_at IS NULL')
    .pluck();
  const using = database
    .prepare<[object], number>(
      `SELECT count(*) FROM members WHERE run_id = @runId AND left_at IS NULL AND NOT EXISTS (
         SELECT 1 FROM rows WHERE rows.member_id = members.id AND outcome = 'pending' AND rows.run_id <> @runId)`,
    )
    .pluck();
  const forgetRefusal = database.prepare(
    'UPDATE portfolios SET refused_at = NULL, refused_code = NULL WHERE id = ? AND refused_at IS NOT NULL',
  );
  const oldestAnswer = database
    .prepare<[number], number | null>(
      `SELECT min(CAST(answered.value AS BIGINT))
       FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
         CROSS JOIN json_each(CASE WHEN json_valid(fetched) THEN fetched ELSE '{}' END) AS answered ON 1 = 1
       WHERE portfolio_id = ? AND left_at IS NULL`,
    )
    .pluck();
  const standings = database
    .prepare<[number, number, number], MemberStateColumns>(
      `SELECT ${MEMBER_STATES} AND members.row > ? ORDER BY members.row LIMIT ?`,
    )
    .raw();
  const toPortfolio = (row: PortfolioRow | undefined): PortfolioRecord | undefined =>
    row && {
      id: row.id,
      name: row.name,
      providers: row.providers,
      createdAt: row.created_at,
      inputKey: row.input_key,
      inputPath: row.input_path,
      columns: cells.read(portfolioColumns, row.columns, [row.id]),
      seenAt: row.seen_at,
      lastSuccessAt: row.last_success_at,
      refused: row.refused_at === null ? null : { at: row.refused_at, ...readRefusal(row.refused_code ?? '') },
      agreed: row.agreed_columns === null ? null : cells.read(portfolioReading, row.agreed_columns, [row.id]),
    };
  const findPortfolio = function* (id: number): Script<PortfolioRecord | undefined> {
    return toPortfolio(yield* byId.get(id));
  };
  return {
    find: (name, providers) =>
      database.read(function* () {
        return toPortfolio(yield* byName.get(name, providers));
      }),
    all: () =>
      database.read(function* () {
        return (yield* all.all()).flatMap((row) => toPortfolio(row) ?? []);
      }),
    loadRows: (rows, anew) => database.withTempTables(() => laid.lay(rows, anew)),
    repeatedIds: () => database.withTempTables(() => laid.repeatedIds()),
    async *compare(portfolioId) {
      const readStanding = await database.withTempTables(function* () {
        yield* laid.match(portfolioId);
        return yield* memberStateReader(database, times);
      });
      for (let after = 0; ; ) {
        const batch = await database.withTempTables(() => laid.compared(after, readStanding));
        const last = batch.at(-1);
        if (last === undefined) return;
        yield batch;
        after = last.row;
      }
    },
    usable: (portfolioId) => database.withTempTables(() => laid.usable(portfolioId)),
    runsInUse: (portfolioId) => database.read(() => holders.all(portfolioId)),
    startedWith: (portfolioId) => database.read(() => startedWith.all(portfolioId)),
    lastRun: (portfolioId) =>
      database.read(function* () {
        const id = yield* lastRun.get(portfolioId);
        return id === undefined ? undefined : yield* findRun(id);
      }),
    runsWith: (outcome, portfolioId) => database.read(() => runsWith.all(portfolioId, outcome)),
    runsWithOtherQuestions: (portfolioId) => database.read(() => askedBeside.all(portfolioId)),
    correctProviders: (name, providers) => database.write(() => correctProviders.run({ name, providers })),
    adopt: (adoption) => database.write(() => adopt(database, laid, adoption)),
    converge: (convergence) =>
      database.write(function* () {
        const readStanding = yield* memberStateReader(database, times);
        return yield* updatePortfolio({ database, laid, times, readStanding, findRun, findPortfolio }, convergence);
      }),
    async *standings(portfolioId) {
      const readStanding = await database.read(() => memberStateReader(database, times));
      for (let after = 0; ; ) {
        const batch = (await database.read(() => standings.all(portfolioId, after, BATCH))).map((row) =>
          readStanding(rowOfColumns(row)),
        );
        const last = batch.at(-1);
        if (last === undefined) return;
        yield batch;
        after = last.row;
      }
    },
    boughtElsewhere: (portfolioId, since) =>
      database.read(function* () {
        return (yield* boughtElsewhere.get({ portfolioId, since })) !== undefined;
      }),
    noteSuccess: (portfolioId, at) => database.write(() => noteSuccess.run(at, portfolioId)),
    noteRefusal: (name, refusal, at) => database.write(() => noteRefusal.run(at, refusalInText(refusal), name)),
    forgetRefusal: (portfolioId) => database.write(() => forgetRefusal.run(portfolioId)),
    oldestAnswer: async (portfolioId) => (await database.read(() => oldestAnswer.get(portfolioId))) ?? null,
    members: async (portfolioId) => (await database.read(() => members.get(portfolioId))) ?? 0,
    membersUsing: async (runId) => (await database.read(() => using.get({ runId }))) ?? 0,
    departed: (portfolioId) =>
      database.read(function* () {
        const { seen_at = 0 } = (yield* byId.get(portfolioId)) ?? {};
        const before = yield* untoldNews(database, portfolioId, seen_at);
        return before.left + ((yield* departed.get(portfolioId)) ?? 0);
      }),
    untoldNews: (portfolioId, until) => database.read(() => untoldNews(database, portfolioId, until)),
    invalidReasons: async (portfolioId) => {
      const found = await database.read(() => invalidReasons.all(portfolioId));
      const rowsOf = (code: string) => found.flatMap((one) => (one.code === code ? one.row : []));
      const firsts = found.filter(({ code }, index) => found.findIndex((one) => one.code === code) === index);
      return firsts.map((first) => ({ ...first, firstRows: rowsOf(first.code) }));
    },
    outcomes: async (portfolioId) => {
      const found = await database.read(() => outcomes.all(portfolioId));
      const counted = new Map(found.map(({ outcome, count }) => [outcome, count]));
      return Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, counted.get(outcome) ?? 0])) as Record<
        RowOutcome,
        number
      >;
    },
  };
}

const BATCH = 1000;

/** One column, so that an earlier version shows it readably: `ROWS_LOST (2): in.csv has 58 usable rows`. */
/** "FILE_EMPTY (2): in.csv is empty", with the options on a line of their own before the colon. */
const refusalInText = ({ code, exit, message, given }: Omit<RefusedAttempt, 'at'>): string =>
  `${code}${exit === null ? '' : ` (${exit})`}${given === null ? '' : `\n${given}\n`}${message === null ? '' : `: ${message}`}`;

function readRefusal(text: string): Omit<RefusedAttempt, 'at'> {
  const parts = /^(\w+)(?: \((\d{1,3})\))?(?:\n(\{[^\n]*\})\n)?(?:: (.*))?$/s.exec(text);
  const [, code = text, exit, given, message] = parts ?? [];
  return { code, exit: exit === undefined ? null : Number(exit), message: message ?? null, given: given ?? null };
}

interface PortfolioRow {
  readonly id: number;
  readonly name: string;
  readonly providers: string;
  readonly created_at: number;
  readonly input_key: string | null;
  readonly input_path: string;
  readonly columns: string;
  readonly seen_at: number;
  readonly last_success_at: number | null;
  readonly refused_at: number | null;
  readonly refused_code: string | null;
  readonly agreed_columns: string | null;
}

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
