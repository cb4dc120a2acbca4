// Finds rows for display: those about a company, and those that a search and filters select.

import { type IdSpace, idSpaces, type Meter } from '../../domain/provider.js';
import type { RunRowKey } from '../answers/snapshot.js';
import { ID_IS_VISIBLE } from '../answers/visible-answer.js';
import { type Database, statements } from '../db/database.js';
import { AMONG_ROWS, ROW_KEYS, type RowKey, rowsJson } from '../erase/identifiers.js';
import { type DecisionRow, SELECT_DECISION, SELECT_HELD, toEntry } from '../review/questions.js';
import type { DecisionEntry } from '../review/review.js';
import { countUsed } from './read-rows.js';

export type RowFinder = ReturnType<typeof rowFinder>;

/** A row, and its place in the newest file of its list. */
export interface FoundRow extends RunRowKey {
  readonly row: number;
  readonly line: number;
  /** Null: its run has no portfolio, or its company uses another row by now. */
  readonly portfolioId: number | null;
  readonly unitsCharged: number;
  readonly outcome: string;
  readonly stage: string | null;
  /** The code of its error, question or hold. */
  readonly reason: string | null;
}

export interface RowCount extends Pick<FoundRow, 'outcome' | 'stage' | 'reason'> {
  readonly rows: number;
}

export interface NumberedCompany {
  readonly space: IdSpace;
  readonly id: string;
  readonly countryCode: string;
  readonly number: string;
}

export interface RowAbout extends Omit<FoundRow, 'outcome' | 'stage' | 'reason'> {
  /** Null while it is in the list, or if it has none. */
  readonly leftAt: number | null;
  readonly updatedAt: number | null;
  readonly environment: string;
}

export interface RowQuery {
  /** Rows of these portfolios, or all rows of one run. */
  readonly scope: { readonly portfolioIds: readonly number[] } | { readonly runId: string };
  /** A part of a name, a number in any spelling, the list's own ID or an ID of the provider. */
  readonly search?: string | undefined;
  /** What `keysFound` gave for the search, so that no other statement reads every row. */
  readonly among?: string | undefined;
}

export interface RowPageQuery extends RowQuery {
  readonly filter: Readonly<Partial<Record<'outcome' | 'stage' | 'reason', string | undefined>>>;
  readonly order: RowOrder;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

export const ROW_ORDERS = ['row', 'name', 'outcome', 'updated', 'units'] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

export interface StoredAnswerRecord {
  readonly callId: number;
  readonly api: string;
  readonly operation: string;
  readonly stage: string | null;
  readonly runId: string | null;
  readonly fetchedAt: number;
  readonly meter: Meter;
  readonly charge: string;
  readonly unitsCharged: number | null;
  readonly rawSha256: string;
  /** 0: a later answer to the same request replaced it. */
  readonly newest: 0 | 1;
}

const ROWS_ABOUT = `SELECT row_ids.run_id, row_ids.row AS run_row, coalesce(members.row, rows.row) AS row, coalesce(members.line, rows.line) AS line,
    members.portfolio_id AS portfolioId, members.left_at AS leftAt, units_charged AS unitsCharged, rows.updated_at AS updatedAt, environments.name AS environment
  FROM row_ids JOIN rows ON rows.run_id = row_ids.run_id AND rows.row = row_ids.row
  LEFT JOIN members ON members.run_id = row_ids.run_id AND members.run_row = row_ids.row
  JOIN run_environments ON run_environments.run_id = row_ids.run_id AND run_environments.api = @api
  JOIN environments ON environments.id = run_environments.environment_id
  WHERE row_ids.space = @space AND row_ids.id = @id AND ${ID_IS_VISIBLE}
  ORDER BY CASE WHEN members.id IS NULL THEN 2 WHEN members.left_at IS NOT NULL THEN 1 ELSE 0 END,
    coalesce(rows.updated_at, 0) DESC, row_ids.run_id DESC, row_ids.row LIMIT 50`;

const NUMBERED = `SELECT DISTINCT row_ids.space AS space, row_ids.id AS id, country_code AS countryCode, registration_number AS number
  FROM candidates JOIN row_ids ON row_ids.run_id = candidates.run_id AND row_ids.row = candidates.row
    AND row_ids.space = candidates.space AND row_ids.id = candidates.id
  WHERE decision = 'confirmed' AND registration_number IN (SELECT value FROM json_each(@numbers)) AND country_code IS NOT NULL`;

/** Of calls: those about the companies of the rows, those asked for them, and the searches of the rows themselves. */
const BOUGHT_FOR = `id IN (
    SELECT calls.id FROM (SELECT space, id FROM row_ids WHERE ${AMONG_ROWS}) AS company
      CROSS JOIN calls INDEXED BY calls_by_subject ON calls.subject_space = company.space AND calls.subject_id = company.id
        AND calls.subject_id IS NOT NULL AND calls.params IS NOT NULL
    UNION SELECT answers.call_id FROM (SELECT space, id FROM row_ids WHERE ${AMONG_ROWS}) AS company
      CROSS JOIN asked_for ON asked_for.space = company.space AND asked_for.id = company.id
      CROSS JOIN answers ON answers.environment_id = asked_for.environment_id AND answers.request_key = asked_for.request_key
    UNION SELECT id FROM calls WHERE ${AMONG_ROWS})`;

const STORED_ANSWERS = `SELECT bought.id AS callId, environments.api, operation, stage, run_id AS runId, settled_at AS fetchedAt, meter, charge,
    units_charged AS unitsCharged, lower(hex(raw_sha256)) AS rawSha256,
    EXISTS (SELECT 1 FROM answers WHERE answers.environment_id = bought.environment_id
      AND answers.request_key = bought.request_key AND answers.call_id = bought.id) AS newest
  FROM (SELECT * FROM calls WHERE ${BOUGHT_FOR}) AS bought JOIN environments ON environments.id = bought.environment_id
  WHERE raw_sha256 IS NOT NULL AND charge <> 'owned' AND error_code IS NULL
    AND environment_id IN (SELECT environment_id FROM run_environments WHERE run_environments.run_id IN
      (SELECT run_id FROM rows WHERE ${AMONG_ROWS}))
  ORDER BY settled_at DESC, bought.id DESC LIMIT 500`;

const OF_THEIR_QUESTIONS = `(environment_id, entity_key) IN (SELECT environment_id, entity_key FROM questions WHERE ${AMONG_ROWS})`;

const DECISIONS = `${SELECT_DECISION} WHERE ${OF_THEIR_QUESTIONS}
  UNION ALL ${SELECT_HELD} WHERE settled_by IS NULL AND ${OF_THEIR_QUESTIONS} ORDER BY id DESC`;

export function rowFinder(database: Database) {
  const { rows } = statements(database);
  const about = rows<[object], RowAbout>(ROWS_ABOUT);
  const numbered = rows<[object], NumberedCompany>(NUMBERED);
  const stored = rows<[object], StoredAnswerRecord>(STORED_ANSWERS);
  const decisions = rows<[object], DecisionRow>(DECISIONS);
  return {
    /** The rows with a company ID: current rows of lists first, then rows of companies that left, then replaced rows. */
    rowsAbout: (space: IdSpace, id: string) => about({ space, id, api: idSpaces[space].api }),
    /** The keys of the rows that a search finds. Undefined: there is none, or it finds very many. */
    keysFound: async (query: RowQuery): Promise<string | undefined> => {
      if (!query.search?.trim()) return undefined;
      const { sql, given } = selected(query);
      const keys = rows<[object], RowKey>(`SELECT rows.run_id, rows.row ${sql} LIMIT ${KEYS_AT_MOST + 1}`);
      const found = await keys(given);
      return found.length > KEYS_AT_MOST ? undefined : rowsJson(found);
    },
    /** A part of the rows that fit, in order. */
    findRows: (query: RowPageQuery) => {
      const { filter, order, descending, offset, limit } = query;
      const { sql, given, place } = selected(query);
      const chosen = FILTERS.flatMap(([name, column]) =>
        filter[name] === undefined ? [] : [`AND ${column} = @${name}`],
      );
      const ordered = [...ORDERED_BY[order], '5', '3'].map((key) => `${key} ${descending ? 'DESC' : 'ASC'}`);
      const found = rows<[object], FoundRow>(
        `SELECT rows.run_id, rows.row AS run_row, ${place}, units_charged AS unitsCharged, outcome, stage,
           ${REASON} AS reason ${sql} ${chosen.join(' ')} ORDER BY ${ordered.join(', ')} LIMIT @limit OFFSET @offset`,
      );
      return found({ ...given, ...withoutUndefined(filter), offset, limit });
    },
    /** How many rows each combination has. It reads all rows of the scope, so callers keep it while nothing changes. */
    countRows: async (query: RowQuery): Promise<readonly RowCount[]> => {
      const { sql, given } = selected(query);
      const isAll = 'portfolioIds' in query.scope && !query.search?.trim();
      const counted = rows<
        [object],
        Pick<RowCount, 'outcome' | 'stage'> & Record<'error_code' | 'hold_reason', string | null> & { count: number }
      >(
        isAll
          ? countUsed(LISTS, COUNTED, 'outcome, hold, hold_reason, error_code, stage')
          : `SELECT ${COUNTED}, count(*) AS count ${sql} GROUP BY ${COUNTED}`,
      );
      return (await counted(given)).map(({ error_code, hold_reason, count, ...one }) => ({
        ...one,
        reason: error_code ?? hold_reason,
        rows: count,
      }));
    },
    /** The confirmed companies with these numbers, spelled alike. It reads all candidates. */
    companiesNumbered: (numbers: readonly string[]) => numbered({ numbers: JSON.stringify(numbers) }),
    /** All answers that were bought for the companies of these rows, newest first. */
    storedAnswers: (of: readonly RunRowKey[]) => stored({ rows: rowsJson(of.map(toKey)) }),
    /** The decisions on questions of these rows, newest first, including withdrawn and waiting ones. */
    decisionsAbout: async (of: readonly RunRowKey[]): Promise<readonly DecisionEntry[]> =>
      (await decisions({ rows: rowsJson(of.map(toKey)) })).map(toEntry),
  };
}

/** More are a long text to pass on. */
const KEYS_AT_MOST = 10_000;

const toKey = ({ run_id, run_row }: RunRowKey) => ({ run_id, row: run_row });

const fieldOf = (name: string) => `CASE WHEN json_valid(rows.fields) THEN json_extract(rows.fields, '$.${name}') END`;

const LISTS = 'SELECT CAST(value AS BIGINT) FROM json_each(@portfolios)';

const COUNTED = 'outcome, stage, error_code, hold_reason';

const REASON = 'coalesce(error_code, hold_reason)';

const FILTERS = [
  ['outcome', 'outcome'],
  ['stage', 'stage'],
  ['reason', REASON],
] as const;

const withoutUndefined = (filter: RowPageQuery['filter']) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));

/** What comes before list and row: the position in the newest file, in a run its own. */
const ORDERED_BY: Readonly<Record<RowOrder, readonly string[]>> = {
  row: [],
  name: [`lower(coalesce(${fieldOf('name')}, ''))`],
  outcome: ['outcome', "coalesce(stage, '')"],
  updated: ['coalesce(updated_at, 0)'],
  units: ['units_charged'],
};

function selected(query: RowQuery) {
  const { scope } = query;
  const inLists = 'portfolioIds' in scope;
  const found = { sql: `(rows.run_id, rows.row) IN (${ROW_KEYS})`, given: { rows: query.among } };
  const search = query.among !== undefined ? found : query.search?.trim() ? searchOf(query.search.trim()) : undefined;
  const tables = ['members AS listed', 'rows'];
  const [first, second] = query.among === undefined ? tables : tables.reverse();
  const from = inLists
    ? `FROM ${first} CROSS JOIN ${second} ON rows.run_id = listed.run_id AND rows.row = listed.run_row`
    : 'FROM rows';
  const conditions = [
    inLists ? `listed.left_at IS NULL AND listed.portfolio_id IN (${LISTS})` : 'rows.run_id = @run',
    ...(search === undefined ? [] : [search.sql]),
  ];
  return {
    sql: `${from} WHERE ${conditions.join(' AND ')}`,
    place: inLists
      ? 'listed.row AS row, listed.line AS line, listed.portfolio_id AS portfolioId'
      : 'rows.row AS row, rows.line AS line, (SELECT portfolio_id FROM runs WHERE runs.id = rows.run_id) AS portfolioId',
    given: {
      ...(inLists ? { portfolios: JSON.stringify(scope.portfolioIds) } : { run: scope.runId }),
      ...search?.given,
    },
  };
}

/** A search reads every row, so only the comparisons that the text needs are made. */
function searchOf(text: string) {
  const plain = text.toUpperCase().replaceAll(/[ ./-]/g, '');
  const isNumber = /\d/.test(plain) && plain.length >= SHORTEST_NUMBER;
  const says = (cell: string) => `instr(${inSmallLetters(cell, text)}, @lower) > 0`;
  // Most cells lack the digits in this order. That is found out much faster than their spelling is compared.
  const saysNumber = (cell: string) => `(${cell} LIKE @digits AND instr(${withoutSeparators(cell)}, @number) > 0)`;
  const fields = isNumber ? [says('rows.fields'), saysNumber('rows.fields')] : [says('rows.fields')];
  const named = ['name', 'id'].map((name) => says(`coalesce(${fieldOf(name)}, '')`));
  const numbered = isNumber
    ? ['registration_number', 'vat_number'].map((name) => saysNumber(`coalesce(${fieldOf(name)}, '')`))
    : [];
  const found = [says("coalesce(name, '')"), ...(isNumber ? [saysNumber("coalesce(registration_number, '')")] : [])];
  return {
    // The whole JSON is searched first: most rows do not fit, and taking it apart takes longer.
    sql: `((${fields.join(' OR ')}) AND (${[...named, ...numbered].join(' OR ')})
      OR outcome = 'invalid' AND ${says('rows.input_values')}
      OR (rows.run_id, rows.row) IN (SELECT run_id, row FROM candidates WHERE decision = 'confirmed' AND (${found.join(' OR ')}))
      OR (rows.run_id, rows.row) IN (SELECT run_id, row FROM row_ids WHERE space IN (${SPACES}) AND id = @exact))`,
    given: {
      lower: text.toLowerCase(),
      exact: text,
      ...(isNumber ? { number: plain, digits: `%${plain.replaceAll(/\D/g, '').split('').join('%')}%` } : {}),
    },
  };
}

/** SQLite changes the case of ASCII alone, so the other letters of the text are replaced one by one. */
function inSmallLetters(cell: string, text: string): string {
  const letters = new Set([...text.toLowerCase()].filter((letter) => letter > '\u007f' && /^\p{L}$/u.test(letter)));
  const capitals = [...letters].filter((letter) => letter.toUpperCase() !== letter);
  return capitals.reduce(
    (small, letter) => `replace(${small}, '${letter.toUpperCase()}', '${letter}')`,
    `lower(${cell})`,
  );
}

/** Shorter ones are found as a part of a name or as an ID. */
const SHORTEST_NUMBER = 4;

const SPACES = Object.keys(idSpaces)
  .map((space) => `'${space}'`)
  .join(', ');

const withoutSeparators = (cell: string) =>
  ['.', '/', '-'].reduce((text, mark) => `replace(${text}, '${mark}', '')`, `replace(upper(${cell}), ' ', '')`);
