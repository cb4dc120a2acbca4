// Updates a portfolio from its file and decides which run continues or begins.

import { isDeepStrictEqual } from 'node:util';
import type { Database, Script, Sql } from '../db/database.js';
import { isRecord, parseStored, rowFetched, rowFields, rowStages } from '../db/stored-json.js';
import { mustHaveNoWorkersOn } from '../rows/attempts.js';
import { beginRun, type RunToBegin } from '../rows/begin-run.js';
import { STILL_LISTED } from '../rows/read-rows.js';
import type { RunRecord } from '../rows/runs.js';
import {
  type FileRows,
  MEMBER_STATES,
  type MemberStateColumns,
  type MemberStateReader,
  rowOfColumns,
} from './members.js';
import type {
  AgreedReading,
  Convergence,
  Due,
  DueReason,
  LeftMember,
  MemberState,
  PortfolioRecord,
  PortfolioUpdate,
} from './portfolios.js';

interface Parts {
  readonly database: Database;
  readonly laid: FileRows;
  readonly readStanding: MemberStateReader;
  readonly findRun: (id: string) => Script<RunRecord | undefined>;
  readonly findPortfolio: (id: number) => Script<PortfolioRecord | undefined>;
}

/**
 * Updates the portfolio from a file and begins what is due, in one transaction. Unchanged rows are judged by their
 * state, new and changed rows are resolved, and missing rows leave.
 */
export function* updatePortfolio(parts: Parts, convergence: Convergence): Script<PortfolioUpdate> {
  const { database, laid, findPortfolio } = parts;
  const { now } = convergence;
  const portfolioId = yield* openPortfolio(database, convergence);
  const untold = yield* untoldNews(database, portfolioId, now);
  let { left, leftFirst } = untold;
  if (convergence.isLoaded) {
    yield* laid.match(portfolioId);
    const first = yield* firstToLeave(database, portfolioId);
    left += first.length === 0 ? 0 : yield* countCompaniesThatLeft(database, portfolioId);
    leftFirst = [...leftFirst, ...first].slice(0, NAMED_AT_MOST);
    yield* noteDeparted(database, portfolioId, now);
    yield* noteBack(database, portfolioId, now);
    yield* noteWhatIsThere(database, portfolioId);
  }
  const open = yield* openRuns(database, portfolioId);
  const candidate = mayGoOn(open, convergence);
  const found = yield* findDue(parts, convergence, portfolioId, candidate);
  const going = isCovered(found) ? candidate : undefined;
  const portfolio = function* (): Script<PortfolioRecord> {
    const noted = yield* findPortfolio(portfolioId);
    if (noted === undefined) throw new Error('the portfolio vanished');
    return noted;
  };
  const told = function* () {
    yield* noteSeen(database, portfolioId, convergence);
    yield* noteReading(database, yield* portfolio(), convergence);
    return {
      left,
      leftFirst,
      members: yield* countMembers(database, portfolioId),
      due: found.counts,
      invalid: untold.invalid + found.invalid,
      nextAt: found.nextAt,
      portfolio: yield* portfolio(),
    };
  };
  if (going !== undefined || isNothing(found)) {
    if (going === undefined) yield* endEmpty(database, portfolioId, now);
    yield* noteReadingOptions(database, portfolioId, convergence);
    const run = going === undefined ? null : ((yield* parts.findRun(going.id)) ?? null);
    return { ...(yield* told()), run, goesOn: run !== null, superseded: [] };
  }
  yield* mustHaveNoWorkersOn(
    database,
    open.map(({ id }) => id),
    now,
  );
  yield* beginRun(database, { ...found, portfolioId, convergence });
  const run = (yield* parts.findRun(convergence.run.id)) ?? null;
  return { ...(yield* told()), run, goesOn: false, superseded: open.map(({ id }) => id) };
}

function* openPortfolio(database: Sql, { name, providers, now, input }: Convergence): Script<number> {
  const find = database.prepare<[string, string], number>('SELECT id FROM portfolios WHERE name = ? AND providers = ?');
  const known = yield* find.pluck().get(name, providers);
  if (known !== undefined) return known;
  const open = database.prepare<unknown[], number>(
    'INSERT INTO portfolios (name, providers, created_at, input_path, columns, seen_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id',
  );
  return (yield* open.pluck().get(name, providers, now, input.path, JSON.stringify(input.columns), now)) as number;
}

const noteSeen = (database: Sql, id: number, { input, now, secondPerson = false }: Convergence): Script<void> =>
  database
    .prepare(
      'UPDATE portfolios SET input_key = ?, input_path = ?, columns = ?, seen_at = ?, second_person = ? WHERE id = ?',
    )
    .run(input.key, input.path, JSON.stringify(input.columns), now, secondPerson ? 1 : 0, id);

/** An unchanged reading keeps its date. */
function* noteReading(
  database: Sql,
  { id, agreed }: PortfolioRecord,
  { input: { reading }, now }: Convergence,
): Script<void> {
  if (reading === undefined) return;
  if (agreed !== null && isDeepStrictEqual(agreed, { ...reading, at: agreed.at })) return;
  const isSame = isDeepStrictEqual([agreed?.fields, agreed?.country], [reading.fields, reading.country]);
  const text = JSON.stringify({ ...reading, at: (isSame && agreed?.at) || now } satisfies AgreedReading);
  yield* database.prepare('UPDATE portfolios SET agreed_columns = ? WHERE id = ?').run(text, id);
}

/** The newest run keeps how its list was read the last time, because suggested commands repeat it. */
function* noteReadingOptions(database: Sql, portfolioId: number, { run }: Convergence): Script<void> {
  const last = yield* database
    .prepare<[number], { id: string; settings: string }>(
      'SELECT id, settings FROM runs WHERE portfolio_id = ? AND superseded_by IS NULL ORDER BY rowid DESC LIMIT 1',
    )
    .get(portfolioId);
  const stored = last && parseStored(last.settings, isRecord);
  const reading = parseStored(run.settings, isRecord)?.reading;
  if (stored === undefined || isDeepStrictEqual(stored.reading, reading)) return;
  yield* database
    .prepare('UPDATE runs SET settings = ? WHERE id = ?')
    .run(JSON.stringify({ ...stored, reading }), last?.id);
}

const NOT_IN_FILE =
  'portfolio_id = ? AND left_at IS NULL AND NOT EXISTS (SELECT 1 FROM temp.laid WHERE laid.member_id = members.id)';

/** Enough to show that the end of a file is missing. The table `members` has all of them. */
const NAMED_AT_MOST = 20;

const firstToLeave = (database: Sql, portfolioId: number): Script<readonly LeftMember[]> =>
  firstMembers(database, NOT_IN_FILE, [portfolioId]);

function* firstMembers(database: Sql, which: string, given: readonly number[]): Script<readonly LeftMember[]> {
  const found = yield* database
    .prepare<unknown[], { line: number; fields: string | null }>(
      `SELECT members.line AS line, rows.fields AS fields FROM members
       LEFT JOIN rows ON rows.run_id = members.run_id AND rows.row = members.run_row
       WHERE ${which} AND members.company IS NOT NULL ORDER BY members.row LIMIT ?`,
    )
    .all(...given, NAMED_AT_MOST);
  return found.map(({ line, fields }) => {
    const { id, name } = (fields === null ? undefined : parseStored(fields, rowFields.fits)) ?? {};
    return { line, inputId: id ?? null, name: name ?? null };
  });
}

/** What the file brought to attempts that died before they could report it. */
export type UntoldNews = Pick<PortfolioUpdate, 'left' | 'leftFirst' | 'invalid'>;

const NO_NEWS: UntoldNews = { left: 0, leftFirst: [], invalid: 0 };

/** Since the last attempt before `until` that reported how it ended. Without an attempt that died since, there is none. */
export function* untoldNews(database: Sql, portfolioId: number, until: number): Script<UntoldNews> {
  const since = yield* diedSince(database, portfolioId, until);
  if (since === undefined) return NO_NEWS;
  const leftSince = 'portfolio_id = ? AND left_at > ? AND left_at < ?';
  const left = database
    .prepare<unknown[], number>(`SELECT count(*) FROM members WHERE ${leftSince} AND company IS NOT NULL`)
    .pluck();
  const invalid = database
    .prepare<unknown[], number>(
      `SELECT count(*) FROM runs JOIN rows ON rows.run_id = runs.id
         JOIN members ON members.run_id = rows.run_id AND members.run_row = rows.row
       WHERE runs.portfolio_id = ? AND runs.created_at > ? AND runs.created_at < ? AND outcome = 'invalid' AND left_at IS NULL`,
    )
    .pluck();
  const span = [portfolioId, since, until] as const;
  return {
    left: (yield* left.get(...span)) ?? 0,
    leftFirst: yield* firstMembers(database, leftSince, span),
    invalid: (yield* invalid.get(...span)) ?? 0,
  };
}

function* diedSince(database: Sql, portfolioId: number, until: number): Script<number | undefined> {
  const attempts = 'FROM starts JOIN runs ON runs.id = run_id WHERE portfolio_id = @portfolioId AND purse_id IS NULL';
  const told = database
    .prepare<[object], number | null>(
      `SELECT max(at) FROM (
         SELECT begun_at AS at ${attempts} AND ending IS NOT NULL AND begun_at < @until
         UNION ALL SELECT last_success_at FROM portfolios WHERE id = @portfolioId AND last_success_at < @until) AS told`,
    )
    .pluck();
  const died = database.prepare<[object], 1>(
    `SELECT 1 ${attempts} AND ending IS NULL AND begun_at >= @since AND begun_at < @until LIMIT 1`,
  );
  const since = (yield* told.get({ portfolioId, until })) ?? 0;
  return (yield* died.get({ portfolioId, until, since })) === undefined ? undefined : since;
}

/** They were last seen in the previous file. */
const noteDeparted = (database: Sql, portfolioId: number, now: number): Script<number> =>
  database
    .prepare(
      `UPDATE members SET left_at = ?, last_seen = (SELECT seen_at FROM portfolios WHERE id = portfolio_id)
       WHERE ${NOT_IN_FILE}`,
    )
    .change(now, portfolioId);

/** A row that named no company is no company that left, if it names one now. */
function* countCompaniesThatLeft(database: Sql, portfolioId: number): Script<number> {
  const count = database
    .prepare<[number], number>(`SELECT count(*) FROM members WHERE ${NOT_IN_FILE} AND company IS NOT NULL`)
    .pluck();
  return (yield* count.get(portfolioId)) ?? 0;
}

/** Changes during an absence do not count for the member. */
const noteBack = (database: Sql, portfolioId: number, now: number): Script<void> =>
  database
    .prepare(
      `INSERT INTO absences (member_id, left_at, back_at)
       SELECT members.id, left_at, ? FROM members JOIN temp.laid ON laid.member_id = members.id
       WHERE portfolio_id = ? AND left_at IS NOT NULL ON CONFLICT (member_id, space, left_at) DO UPDATE SET back_at = excluded.back_at`,
    )
    .run(now, portfolioId);

/** Updates positions, keys and cells of unchanged members. */
function* noteWhatIsThere(database: Sql, portfolioId: number): Script<void> {
  const run = (sql: string) => database.prepare(sql).run(portfolioId);
  yield* run(`UPDATE rows SET input_values = laid.input_values, input_kinds = laid.input_kinds, fields = laid.fields, line = laid.line FROM members JOIN temp.laid ON laid.member_id = members.id
       WHERE rows.run_id = members.run_id AND rows.row = members.run_row AND members.portfolio_id = ?
         AND members.says = laid.says AND members.cells <> laid.cells`);
  yield* run(`UPDATE members SET row = laid.row, line = laid.line, known_by = laid.known_by, company = laid.company, cells = laid.cells,
         left_at = NULL, last_seen = NULL
       FROM temp.laid WHERE laid.member_id = members.id AND members.portfolio_id = ?
         AND (members.row <> laid.row OR members.line <> laid.line OR members.known_by <> laid.known_by OR members.company IS DISTINCT FROM laid.company
           OR members.cells <> laid.cells OR left_at IS NOT NULL)`);
}

type Found = Pick<RunToBegin, 'stale'> & {
  readonly arrived: number;
  /** The part of `arrived` that is invalid. */
  readonly invalid: number;
  readonly unfinished: number;
  /** The due members that the candidate run already covers. */
  readonly covered: number;
  readonly counts: Record<DueReason, number>;
  readonly nextAt: number | null;
};

function* findDue(
  { database, readStanding }: Parts,
  convergence: Convergence,
  portfolioId: number,
  going: OpenRun | undefined,
): Script<Found> {
  const limit = convergence.limit ?? Number.MAX_SAFE_INTEGER;
  const counts: Record<DueReason, number> = { new: 0, changed: 0, unfinished: 0, watch: 0, stale: 0, asked: 0 };
  const stale: RunToBegin['stale'][number][] = [];
  let nextAt = Number.POSITIVE_INFINITY;
  let invalid = 0;
  if (convergence.isLoaded) {
    const arrived = database.prepare<[number], { known: number; invalid: number; count: number }>(
      `SELECT member_id IS NOT NULL AS known, count(code) AS invalid, count(*) AS count FROM temp.laid LEFT JOIN members ON members.id = member_id
       WHERE (member_id IS NULL OR members.says <> laid.says) AND laid.row <= ? GROUP BY 1`,
    );
    for (const row of yield* arrived.all(limit)) {
      counts[row.known === 1 ? 'changed' : 'new'] += row.count - row.invalid;
      invalid += row.invalid;
    }
  }
  const same = convergence.isLoaded
    ? 'AND NOT EXISTS (SELECT 1 FROM temp.laid WHERE laid.member_id = members.id AND laid.says <> members.says)'
    : '';
  const standings = database.prepare<[number, number], MemberStateColumns>(
    `SELECT ${MEMBER_STATES} AND members.row <= ? ${same}`,
  );
  const again: MemberState[] = [];
  const otherwise: (readonly [MemberState, Due])[] = [];
  let unfinished = 0;
  let covered = 0;
  const visit = (columns: MemberStateColumns): void => {
    const row = rowOfColumns(columns);
    const standing = readStanding(row);
    const judged = convergence.decideDue(standing);
    if (judged.due === null) {
      if (judged.nextAt !== null && judged.nextAt < nextAt) nextAt = judged.nextAt;
      return;
    }
    counts[judged.due.reason] += 1;
    if (judged.due.goesOn && standing.onItsWay?.runId === going?.id) covered += 1;
    if (judged.due.goesOn) unfinished += 1;
    if (judged.due.goesOn && row.outcome !== 'pending') again.push(standing);
    if (judged.due.goesOn && Object.keys(judged.due.stages).length > 0 && row.outcome === 'pending')
      otherwise.push([standing, judged.due]);
    if (!judged.due.goesOn) stale.push({ member: row.member, due: judged.due, underWay: row.outcome === 'pending' });
  };
  yield* standings.raw().walk(visit, portfolioId, limit);
  const widen = stageExtender(database, convergence.decideDue);
  for (const standing of again) yield* widen(standing);
  const doAgain = stageReopener(database);
  for (const [standing, due] of otherwise) yield* doAgain(standing, due);
  const arrived = counts.new + counts.changed + invalid;
  return { stale, arrived, invalid, unfinished, covered, counts, nextAt: Number.isFinite(nextAt) ? nextAt : null };
}

const isNothing = ({ stale, arrived, unfinished }: Found): boolean => stale.length + arrived + unfinished === 0;

interface OpenRun {
  readonly id: string;
  readonly input_sha256: string;
  readonly pipeline_sha256: string;
  readonly later: number;
}

const openRuns = (database: Sql, portfolioId: number): Script<readonly OpenRun[]> =>
  database
    .prepare<[number], OpenRun>(
      `SELECT id, input_sha256, pipeline_sha256,
         (SELECT count(*) FROM runs AS other WHERE other.portfolio_id = runs.portfolio_id AND other.rowid > runs.rowid) AS later
       FROM runs WHERE portfolio_id = ? AND state = 'open' ORDER BY rowid DESC`,
    )
    .all(portfolioId);

/** The only open run, if it is the newest of the list and has the same input and pipeline. */
function mayGoOn([only, ...others]: readonly OpenRun[], { continuesIf, isLoaded }: Convergence): OpenRun | undefined {
  if (continuesIf === null || isLoaded || only?.later !== 0 || others.length > 0) return undefined;
  const same = only.input_sha256 === continuesIf.inputSha256 && only.pipeline_sha256 === continuesIf.pipelineSha256;
  return same ? only : undefined;
}

/** All their unfinished rows belong to companies that left. */
const endEmpty = (database: Sql, portfolioId: number, now: number): Script<void> =>
  database
    .prepare(
      `UPDATE runs SET state = 'finished', finished_at = ? WHERE portfolio_id = ? AND state = 'open'
         AND NOT EXISTS (SELECT 1 FROM rows WHERE rows.run_id = runs.id AND outcome = 'pending' AND ${STILL_LISTED})`,
    )
    .run(now, portfolioId);

const isCovered = (found: Found): boolean =>
  !isNothing(found) && found.arrived === 0 && found.covered === found.stale.length + found.unfinished;

function* countMembers(database: Sql, portfolioId: number): Script<number> {
  const count = database.prepare<[number], number>(
    'SELECT count(*) FROM members WHERE portfolio_id = ? AND left_at IS NULL',
  );
  return (yield* count.pluck().get(portfolioId)) ?? 0;
}

/** Adds stages that became stale since the row was reopened. A row that starts over buys them anyway. */
export function stageExtender(database: Sql, judge: Convergence['decideDue']): (standing: MemberState) => Script<void> {
  const find = database.prepare<[string, number], { stages: string; fetched: string; pipelineSha256: string }>(
    `SELECT stages, fetched, pipeline_sha256 AS pipelineSha256 FROM rows JOIN runs ON runs.id = run_id WHERE run_id = ? AND row = ?`,
  );
  const save = database.prepare('UPDATE rows SET stages = ? WHERE run_id = ? AND row = ?');
  return function* (standing) {
    const { onItsWay } = standing;
    if (onItsWay === null) return;
    const { runId, row } = onItsWay;
    const under = yield* find.get(runId, row);
    const stages = under && parseStored(under.stages, rowStages.fits);
    const fetched = under && parseStored(under.fetched, rowFetched.fits);
    if (under === undefined || stages === undefined || fetched === undefined || Object.keys(stages).length === 0)
      return;
    // Finished stages there followed that run's settings.
    const { pipelineSha256 } = under;
    const { due } = judge({ ...standing, outcome: 'complete', stages, fetched, pipelineSha256, onItsWay: null });
    const isSettledHere = (stage: string) => stages[stage] === 'done' || stages[stage] === 'not_available';
    const more = Object.entries(due?.stages ?? {}).filter(
      ([stage, status]) => status === 'pending' && isSettledHere(stage),
    );
    if (more.length > 0) yield* save.run(JSON.stringify({ ...stages, ...Object.fromEntries(more) }), runId, row);
  };
}

/** Reopens stages that a row in progress finished under other settings. */
function stageReopener(database: Sql): (standing: MemberState, due: Due) => Script<void> {
  const open = database.prepare('UPDATE rows SET stages = json_patch(stages, ?) WHERE run_id = ? AND row = ?');
  const forget = database.prepare(
    'DELETE FROM row_ids WHERE run_id = ? AND row = ? AND space IN (SELECT value FROM json_each(?))',
  );
  return function* ({ onItsWay }, { stages, forget: spaces }) {
    if (onItsWay === null) return;
    yield* open.run(JSON.stringify(stages), onItsWay.runId, onItsWay.row);
    yield* forget.run(onItsWay.runId, onItsWay.row, JSON.stringify(spaces));
  };
}
