import type { InvalidReason } from '../../domain/invalid-reason.js';
import { ROW_OUTCOMES, type RowOutcome } from '../../domain/outcomes.js';
import type { PortfolioRecord, PortfolioStore } from '../portfolios.js';
import type { RunRecord } from '../runs.js';
import { adopt } from './adopt.js';
import { Cells, portfolioColumns, portfolioReading } from './cells.js';
import { converge } from './converge.js';
import { IS_DECIDED } from './decision-rows.js';
import type { Connection } from './driver.js';
import { LaidRows } from './laid-rows.js';

import { STANDING_COLUMNS, type StandingRow, standingReader } from './standings.js';
import type { BelievedTimes } from './times.js';
import type { Writer } from './writer.js';

/** Portfolios and their members. */
export function portfolioStore(
  database: Connection,
  writer: Writer,
  times: BelievedTimes,
  findRun: (id: string) => RunRecord | undefined,
): PortfolioStore {
  const cells = new Cells(database);
  const laid = new LaidRows(database);
  const readStanding = standingReader(database, times);
  const byName = database.prepare<[string, string], PortfolioRow>(
    'SELECT * FROM portfolios WHERE name = ? AND providers = ?',
  );
  const byId = database.prepare<[number], PortfolioRow>('SELECT * FROM portfolios WHERE id = ?');
  const all = database.prepare<[], PortfolioRow>(
    `SELECT * FROM portfolios ORDER BY ${times.sql('seen_at')} DESC, id DESC`,
  );
  const outcomes = database.prepare<[number], { outcome: RowOutcome; count: number }>(
    `SELECT outcome, count(*) AS count FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
     WHERE portfolio_id = ? AND left_at IS NULL GROUP BY outcome`,
  );
  // Beside min() the other columns are those of the row that has it.
  const invalidReasons = database.prepare<[number], InvalidReason>(
    `SELECT coalesce(error_code, '') AS code, count(*) AS rows, min(members.row) AS row, members.line AS line, coalesce(error_message, '') AS message
     FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
     WHERE portfolio_id = ? AND left_at IS NULL AND outcome = 'invalid' GROUP BY error_code ORDER BY 2 DESC, 3`,
  );
  const holders = database.prepare<[number], string>(
    'SELECT DISTINCT run_id FROM members WHERE portfolio_id = ? AND left_at IS NULL',
  );
  const startedWith = database.prepare<[number], Pick<RunRecord, 'pipelineSha256' | 'settings'>>(
    'SELECT pipeline_sha256 AS pipelineSha256, settings, max(rowid) AS latest FROM runs WHERE portfolio_id = ? GROUP BY pipeline_sha256 ORDER BY latest',
  );
  const lastRun = database.prepare<[number], string>(
    'SELECT id FROM runs WHERE portfolio_id = ? ORDER BY rowid DESC LIMIT 1',
  );
  const runsWith = database.prepare<[number, string], string>(
    `SELECT DISTINCT runs.id FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row JOIN runs ON runs.id = members.run_id
     WHERE members.portfolio_id = ? AND left_at IS NULL AND outcome = ? ORDER BY runs.rowid DESC`,
  );
  const askedBeside = database.prepare<[number], string>(
    `SELECT DISTINCT members.run_id FROM questions INDEXED BY questions_beside
     CROSS JOIN members ON members.run_id = questions.run_id AND run_row = questions.row
     WHERE beside = 1 AND answered = 0 AND portfolio_id = ? AND left_at IS NULL AND NOT ${IS_DECIDED} ORDER BY 1 DESC`,
  );
  // Calls are read from the newest back: those since the last night are few.
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
  const forgetRefusal = database.prepare(
    'UPDATE portfolios SET refused_at = NULL, refused_code = NULL WHERE id = ? AND refused_at IS NOT NULL',
  );
  const oldestAnswer = database.prepare<[number], number | null>(
    `SELECT min(answered.value) FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       JOIN json_each(iif(json_valid(fetched), fetched, '{}')) AS answered
     WHERE portfolio_id = ? AND left_at IS NULL`,
  );
  const standings = database.prepare<[number, number, number], StandingRow>(
    `SELECT members.run_id, members.run_row, ${STANDING_COLUMNS} FROM members JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
     WHERE portfolio_id = ? AND left_at IS NULL AND members.row > ? ORDER BY members.row LIMIT ?`,
  );
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
      refused: row.refused_at === null ? null : { at: row.refused_at, code: row.refused_code ?? '' },
      agreed: row.agreed_columns === null ? null : cells.read(portfolioReading, row.agreed_columns, [row.id]),
    };
  const findPortfolio = (id: number) => toPortfolio(byId.get(id));
  return {
    find: async (name, providers) => toPortfolio(byName.get(name, providers)),
    all: async () => all.all().flatMap((row) => toPortfolio(row) ?? []),
    lay: async (rows, anew) => laid.lay(rows, anew),
    repeatedId: async () => laid.repeatedId(),
    async *compare(portfolioId) {
      laid.match(portfolioId);
      for (let after = 0; ; ) {
        const batch = laid.compared(after, readStanding);
        const last = batch.at(-1);
        if (last === undefined) return;
        yield batch;
        after = last.row;
      }
    },
    usable: async (portfolioId) => laid.usable(portfolioId),
    holders: async (portfolioId) => holders.pluck().all(portfolioId),
    startedWith: async (portfolioId) => startedWith.all(portfolioId),
    lastRun: async (portfolioId) => {
      const id = lastRun.pluck().get(portfolioId);
      return id === undefined ? undefined : findRun(id);
    },
    runsWith: async (outcome, portfolioId) => runsWith.pluck().all(portfolioId, outcome),
    runsAskedBeside: async (portfolioId) => askedBeside.pluck().all(portfolioId),
    adopt: (adoption) => writer.write(() => adopt(database, laid, adoption)),
    converge: (convergence) =>
      writer.write(() => converge({ database, laid, times, readStanding, findRun, findPortfolio }, convergence)),
    async *standings(portfolioId) {
      for (let after = 0; ; ) {
        const batch = standings.all(portfolioId, after, BATCH).map(readStanding);
        const last = batch.at(-1);
        if (last === undefined) return;
        yield batch;
        after = last.row;
      }
    },
    boughtElsewhere: async (portfolioId, since) => boughtElsewhere.get({ portfolioId, since }) !== undefined,
    noteSuccess: (portfolioId, at) => writer.write(() => void noteSuccess.run(at, portfolioId)),
    noteRefusal: (name, code, at) => writer.write(() => void noteRefusal.run(at, code, name)),
    forgetRefusal: (portfolioId) => writer.write(() => void forgetRefusal.run(portfolioId)),
    oldestAnswer: async (portfolioId) => oldestAnswer.pluck().get(portfolioId) ?? null,
    invalidReasons: async (portfolioId) => invalidReasons.all(portfolioId),
    outcomes: async (portfolioId) => {
      const counted = new Map(outcomes.all(portfolioId).map(({ outcome, count }) => [outcome, count]));
      return Object.fromEntries(ROW_OUTCOMES.map((outcome) => [outcome, counted.get(outcome) ?? 0])) as Record<
        RowOutcome,
        number
      >;
    },
  };
}

const BATCH = 1000;

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
