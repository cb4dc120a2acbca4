// Questions and decisions in SQL: questions with their candidates or as light rows, and decisions, also those that wait for a second person.

import { type Correction, correctedNumber, followCorrections } from '../../domain/entity-key.js';
import type { IdOwner } from '../../domain/identity-mismatch.js';
import { idSpaces } from '../../domain/provider.js';
import { type RowFields, readSearchSubject } from '../../domain/search-subject.js';
import type { RowQuestion } from '../answers/snapshot.js';
import { type Database, forEachItem, type Script, type Sql } from '../db/database.js';
import {
  decisionShown,
  namedAsFields,
  parseStored,
  readCell,
  rowFields,
  rowValues,
  runColumns,
  type Unparsed,
} from '../db/stored-json.js';
import { LEFT, STILL_LISTED } from '../rows/read-rows.js';
import type { CandidateRecord, IdClaim } from '../rows/runs.js';
import type {
  AskedQuestion,
  DecisionEntry,
  FindCorrections,
  KnownRows,
  NewDecision,
  PlaceOfRow,
  QuestionKey,
  RowRef,
  WaitingRow,
} from './review.js';
import { isSamePerson, isSingleConfirmation, SECOND_PERSON, waitingInWords } from './second-person.js';

type Key = Pick<NewDecision, 'environmentId' | 'entityKey'>;

/** The next ID of a decision, whether in force or waiting for a second person. */
export const NEXT_NUMBER =
  'SELECT 1 + max(coalesce((SELECT max(id) FROM decisions), 0), coalesce((SELECT max(id) FROM held_decisions), 0))';

const WAITS = 'withdrawn_at IS NULL AND settled_by IS NULL';

export const SELECT_HELD = `SELECT id, environment_id AS environmentId, entity_key AS entityKey, space, stage, decision,
  candidate_id AS candidateId, shown, summary, decided_by AS decidedBy, decided_at AS decidedAt, note, CAST(NULL AS TEXT) AS secondBy, batch,
  withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy, 1 AS held, CAST(NULL AS TEXT) AS firstBatch, CAST(NULL AS BIGINT) AS firstAt FROM held_decisions`;

/**
 * Of a question: a list that asks it requires a second person, or did when it asked. A run without the rule that finds
 * nothing due must not lift it.
 */
const NEEDS_SECOND_PERSON = `EXISTS (SELECT 1 FROM questions AS asking JOIN runs AS asked_in ON asked_in.id = asking.run_id
    JOIN portfolios ON portfolios.id = asked_in.portfolio_id
    WHERE asking.environment_id = questions.environment_id AND asking.entity_key = questions.entity_key
      AND (portfolios.second_person = 1 OR asking.second_person = 1 AND EXISTS (SELECT 1 FROM members
        WHERE members.run_id = asking.run_id AND members.run_row = asking.row AND left_at IS NULL)))`;

/** Decisions that wait for a second person, and the messages of their rows. Everything runs inside a transaction. */
export function heldDecisions(database: Sql) {
  const needsTwo = database.prepare<[number, string], unknown>(
    `SELECT 1 FROM questions WHERE environment_id = ? AND entity_key = ? AND ${NEEDS_SECOND_PERSON} LIMIT 1`,
  );
  const waiting = database.prepare<[number, string], DecisionRow>(
    `${SELECT_HELD} WHERE environment_id = ? AND entity_key = ? AND ${WAITS} ORDER BY id`,
  );
  const inForce = database.prepare<[number, string], DecisionRow>(
    `${SELECT_DECISION} WHERE environment_id = ? AND entity_key = ? AND withdrawn_at IS NULL ORDER BY id DESC LIMIT 1`,
  );
  const one = database.prepare<[number], DecisionRow>(`${SELECT_HELD} WHERE id = ? AND ${WAITS}`);
  const insert = database
    .prepare<[object], number>(
      `INSERT INTO held_decisions (id, environment_id, entity_key, space, stage, decision, candidate_id, shown, summary, decided_by, decided_at, note, batch)
     VALUES ((${NEXT_NUMBER}), @environmentId, @entityKey, @space, @stage, @decision, @candidateId, @shown, @summary, @decidedBy, @decidedAt, @note, @batch) RETURNING id`,
    )
    .pluck();
  const withdraw = database.prepare('UPDATE held_decisions SET withdrawn_at = ?, withdrawn_by = ? WHERE id = ?');
  const settle = database.prepare(
    `UPDATE held_decisions SET settled_by = ? WHERE environment_id = ? AND entity_key = ? AND ${WAITS}`,
  );
  const reopen = database.prepare('UPDATE held_decisions SET settled_by = NULL WHERE settled_by = ?');
  const asking = database.prepare<[number, string], RowRef & { code: string; message: string }>(
    `SELECT questions.run_id AS runId, questions.row AS row, code, message FROM questions JOIN rows USING (run_id, row)
     WHERE environment_id = ? AND entity_key = ? AND answered = 0 AND beside = 0 AND outcome = 'needs_review'`,
  );
  const tell = database.prepare('UPDATE rows SET error_code = ?, error_message = ? WHERE run_id = ? AND row = ?');

  const asksForTwo = function* ({ environmentId, entityKey }: Key): Script<boolean> {
    return (yield* needsTwo.get(environmentId, entityKey)) !== undefined;
  };
  /** A decision that is in force for lists that need one person, and is the first of two for this one. */
  const saidAlone = function* (key: Key): Script<DecisionEntry | undefined> {
    const found = (yield* asksForTwo(key)) ? yield* inForce.get(key.environmentId, key.entityKey) : undefined;
    const decision = found && toEntry(found);
    return decision !== undefined && isSingleConfirmation(decision) ? decision : undefined;
  };
  const waitingFor = function* (key: Key): Script<readonly DecisionEntry[]> {
    const held = (yield* waiting.all(key.environmentId, key.entityKey)).map(toEntry);
    const alone = yield* saidAlone(key);
    // A person's later decision replaces the earlier one.
    return alone === undefined || held.some(({ decidedBy }) => isSamePerson(decidedBy, alone.decidedBy))
      ? held
      : [alone, ...held];
  };
  /** Shows on waiting rows that they need a second person, or the original question if no decision waits. */
  const tellRows = function* (key: Key): Script<void> {
    const words = yield* waitingFor(key);
    for (const { runId, row, code, message } of yield* asking.all(key.environmentId, key.entityKey)) {
      const told = words.length === 0 ? { code, message } : waitingInWords(words);
      yield* tell.run(told.code, told.message, runId, row);
    }
  };
  const withdrawOwn = function* (key: Key, by: string, at: number): Script<void> {
    for (const { id, decidedBy } of yield* waitingFor(key))
      if (isSamePerson(decidedBy, by)) yield* withdraw.run(at, by, id);
  };

  return {
    waitingFor,
    tellRows,
    /**
     * True if a list requires two people, or a decision waits. A person never completes their own decision, whichever
     * list asks.
     */
    *needsTwo(key: Key): Script<boolean> {
      return (yield* asksForTwo(key)) || (yield* waitingFor(key)).length > 0;
    },
    /** Withdraws the person's earlier decision. */
    *hold(made: NewDecision): Script<number> {
      yield* withdrawOwn(made, made.decidedBy, made.decidedAt);
      const id = yield* insert.get({
        ...made,
        stage: made.stage ?? '',
        shown: JSON.stringify(made.shown),
        batch: made.batch ?? null,
      });
      yield* tellRows(made);
      return id as number;
    },
    /** The question is decided, so waiting decisions end. `not_sure` only withdraws the person's earlier decision. */
    *settle(made: NewDecision, decision: number): Script<void> {
      // An earlier, different decision of the same person stays listed as withdrawn.
      yield* withdrawOwn(made, made.decidedBy, made.decidedAt);
      if (made.decision !== 'not_sure') yield* settle.run(decision, made.environmentId, made.entityKey);
      else yield* tellRows(made);
    },
    /** Undefined if no such decision waits. */
    *withdraw(id: number, by: string, at: number): Script<DecisionEntry | undefined> {
      const found = yield* one.get(id);
      if (found === undefined) return undefined;
      yield* withdraw.run(at, by, id);
      const word = toEntry(found);
      yield* tellRows(word);
      return word;
    },
    /** If the second person withdraws, the first person's decision waits again. */
    *unsettle(decision: DecisionEntry, by: string): Script<void> {
      if (decision.secondBy !== null && isSamePerson(decision.secondBy, by)) yield* reopen.run(decision.id);
      yield* tellRows(decision);
    },
  };
}

/** Restores the original question on rows that waited for a second person, if no decision waits any more. */
export const restoreQuestions = (database: Sql): Script<void> =>
  database
    .prepare(
      `UPDATE rows SET error_code = code, error_message = message FROM questions
       WHERE questions.run_id = rows.run_id AND questions.row = rows.row AND answered = 0 AND beside = 0 AND error_code = ?
         AND NOT EXISTS (SELECT 1 FROM held_decisions WHERE held_decisions.environment_id = questions.environment_id
           AND held_decisions.entity_key = questions.entity_key AND ${WAITS})
         AND NOT ${IS_DECIDED}`,
    )
    .run(SECOND_PERSON);

/** Of a decision by two people: a column of the first person's entry. */
const ofFirst = (column: 'batch' | 'decided_at'): string =>
  `(SELECT first.${column} FROM held_decisions AS first WHERE first.settled_by = decisions.id
    AND decisions.second_by IS NOT NULL AND first.decided_by = decisions.decided_by ORDER BY first.id DESC LIMIT 1)`;

export const SELECT_DECISION = `SELECT id, environment_id AS environmentId, entity_key AS entityKey, space, stage, decision,
  candidate_id AS candidateId, shown, summary, decided_by AS decidedBy, decided_at AS decidedAt, note, second_by AS secondBy, batch,
  withdrawn_at AS withdrawnAt, withdrawn_by AS withdrawnBy, 0 AS held, ${ofFirst('batch')} AS firstBatch, ${ofFirst('decided_at')} AS firstAt FROM decisions`;

/** Of a question. A decision about another pipeline's question counts when that pipeline runs again. */
export const IS_DECIDED = `EXISTS (SELECT 1 FROM decisions WHERE decisions.environment_id = questions.environment_id
    AND decisions.entity_key = questions.entity_key AND withdrawn_at IS NULL AND decision <> 'not_sure')`;

export type DecisionRow = Omit<DecisionEntry, 'shown' | 'stage' | 'held'> & {
  readonly shown: string;
  readonly stage: string;
  readonly held: number;
};

export const toEntry = (row: DecisionRow): DecisionEntry => ({
  ...row,
  stage: row.stage === '' ? null : row.stage,
  held: row.held === 1,
  // A damaged decision can still be shown and withdrawn.
  shown: parseStored(row.shown, decisionShown.fits) ?? [],
});

const AT_MOST = 100;

/**
 * The companies that other rows use an ID for, in any run of the same provider. Earlier matches of the row's own member
 * do not count.
 */
export function idHolders(database: Sql) {
  const holders = database.prepare<[object], IdOwner>(
    `SELECT DISTINCT candidates.registration_number, candidates.country_code, candidates.state, candidates.jurisdiction
     FROM row_ids JOIN rows ON rows.run_id = row_ids.run_id AND rows.row = row_ids.row
     JOIN run_environments ON run_environments.run_id = row_ids.run_id AND api = @api AND environment_id = @environmentId
     JOIN candidates ON candidates.run_id = row_ids.run_id AND candidates.row = row_ids.row AND candidates.decision = 'confirmed'
       AND candidates.registration_number IS NOT NULL
     WHERE row_ids.space = @space AND row_ids.id = @id AND NOT (row_ids.run_id = @runId AND row_ids.row = @row)
       AND coalesce(rows.member_id, -1) <> coalesce((SELECT member_id FROM rows WHERE run_id = @runId AND row = @row), -2)
     LIMIT ${AT_MOST}`,
  );
  return ({ space, id, environmentId }: Omit<IdClaim, 'owner'>, place: PlaceOfRow) =>
    holders.all({
      api: idSpaces[space].api,
      space,
      id,
      environmentId,
      runId: place.runId ?? '',
      row: place.row,
    }) as Script<IdOwner[]>;
}

/** Of a question: its row waits for the answer. */
const ROW_WAITS = "answered = 0 AND beside = 0 AND outcome = 'needs_review'";

/** It will wait when the asking pipeline runs again. */
const WILL_WAIT = `answered = 0 AND beside = 1 AND NOT ${IS_DECIDED}`;

const IS_OPEN = `${STILL_LISTED} AND (${ROW_WAITS} OR ${WILL_WAIT})`;

const IN_ORDER = 'ORDER BY runs.created_at, run_id, row, asked_at, questions.space, questions.stage';

interface Among {
  readonly sql: string;
  readonly values: object;
}

const THESE_RUNS = 'SELECT value FROM json_each(@runIds)';

const amongRuns = (runIds: readonly string[] | undefined): string =>
  runIds === undefined ? 'SELECT id FROM runs' : THESE_RUNS;

export const ofRuns = (runIds: readonly string[]): Among => ({
  sql: `run_id IN (${THESE_RUNS})`,
  values: { runIds: JSON.stringify(runIds) },
});

/** Two lists of halves find more than the pairs, so `isAmong` looks at each. */
export const ABOUT = `entity_key IN (SELECT value FROM json_each(@entityKeys))
  AND environment_id IN (SELECT CAST(value AS BIGINT) FROM json_each(@environments))`;

export const about = (keys: readonly QuestionKey[]): Among => ({
  sql: ABOUT,
  values: {
    entityKeys: JSON.stringify(keys.map(({ entityKey }) => entityKey)),
    environments: JSON.stringify([...new Set(keys.map(({ environmentId }) => environmentId))]),
  },
});

export const isAmong = (keys: readonly QuestionKey[]) => {
  const pairs = new Set(keys.map(({ environmentId, entityKey }) => `${environmentId}|${entityKey}`));
  return ({ environmentId, entityKey }: QuestionKey) => pairs.has(`${environmentId}|${entityKey}`);
};

/** Of `rows`: the place in the newest file, as the tables show it. A row that left the list has none. */
const WITH_LISTED_PLACE =
  'LEFT JOIN (SELECT id AS listed_id, row AS listed_row, line AS listed_line FROM members WHERE left_at IS NULL) AS listed ON listed_id = rows.member_id';

export function* readAskedQuestions(database: Database, among?: Among): Script<AskedQuestion[]> {
  const candidates = database.prepare<[string, number, string], CandidateRecord>(
    `SELECT id, name, registration_number AS registrationNumber, vat_number AS vatNumber, country_code AS countryCode, state, jurisdiction,
       match_grade AS matchGrade, decision, evidence FROM candidates WHERE run_id = ? AND row = ? AND space = ? ORDER BY position`,
  );
  const found = yield* database
    .prepare<[object], QuestionRow>(
      `SELECT ${namedAsFields('run_id, row, questions.space, questions.stage, environment_id, entity_key, candidate_id, code, message, answered, asked_at, beside, listed_row')},
         environments.name AS environment, coalesce(listed_line, line) AS line, fields, input_values AS "values", runs.columns AS columns,
         coalesce(portfolios.name, runs.input_path) AS list, ${IS_OPEN} AS open, ${NEEDS_SECOND_PERSON} AS needsTwo,
         EXISTS (SELECT 1 FROM row_ids WHERE row_ids.run_id = questions.run_id AND row_ids.row = questions.row
           AND row_ids.space <> questions.space) AS isKnown
       FROM questions JOIN rows USING (run_id, row) JOIN runs ON runs.id = run_id JOIN environments ON environments.id = environment_id
         LEFT JOIN portfolios ON portfolios.id = runs.portfolio_id
         ${WITH_LISTED_PLACE}
       ${among === undefined ? '' : `WHERE ${among.sql}`} ${IN_ORDER}`,
    )
    .all(among?.values ?? {});
  const corrections = yield* readCorrections(database);
  return yield* forEachItem(found, function* (row) {
    const shown = yield* candidates.all(row.runId, row.row, row.space);
    const fields = readCell(rowFields, row.fields, { run: row.runId, row: row.row });
    const question = { ...row, stage: row.stage === '' ? null : row.stage };
    return {
      ...question,
      answered: row.answered === 1,
      listedRow: row.listedRow ?? row.row,
      fields,
      correctedNumber: correctionBefore(question, fields, corrections)?.number,
      // A question can be answered without its other cells, so damage in them does not matter here.
      columns: parseStored(row.columns, runColumns.fits) ?? [],
      values: parseStored(row.values, rowValues.fits) ?? [],
      open: row.open === 1,
      beside: row.beside === 1,
      needsTwo: row.needsTwo === 1,
      isKnown: row.isKnown === 1,
      candidates: shown.filter(({ id }) => row.candidateId === null || id === row.candidateId),
    };
  });
}

/**
 * The open questions. Indexes have the questions without an answer, in the order of a page, and the rows that wait, so that
 * no row is read whole. Other pipelines ask few questions. CROSS JOIN begins with the questions.
 */
const openIn = (runs: string, columns: string): string => {
  const which = `questions.run_id IN (${runs}) AND (member_id IS NULL OR member_id NOT IN (${LEFT}))`;
  const rowsOf = 'ON rows.run_id = questions.run_id AND rows.row = questions.row';
  return `SELECT ${columns} FROM questions INDEXED BY questions_unanswered CROSS JOIN rows INDEXED BY rows_asking ${rowsOf}
     WHERE ${ROW_WAITS} AND ${which}
   UNION ALL SELECT ${columns} FROM questions INDEXED BY questions_beside CROSS JOIN rows ${rowsOf} WHERE ${WILL_WAIT} AND ${which}`;
};

/** A row that waits, and the time of its question: a row that asks again is read again. */
const PLACE = "row || ' ' || questions.space || ' ' || questions.stage || ' ' || asked_at";

/**
 * The rows that wait, oldest run first. `known`: those that were read before. To read only the places takes a third of
 * the time. They are one text: if it is the same, so is the list.
 */
export function* readWaitingRows(
  database: Database,
  runIds: readonly string[] | undefined,
  known: KnownRows = { places: '', byPlace: new Map(), list: [] },
): Script<readonly WaitingRow[]> {
  const text = (yield* database
    .prepare<[object], string>(
      `SELECT coalesce(json_group_array(run || ' ' || row || ' ' || space || ' ' || stage || ' ' || asked_at), '[]')
       FROM (SELECT * FROM (${openIn(amongRuns(runIds), 'questions.run_id AS run, questions.row, space, questions.stage, asked_at')}) AS waiting
         ORDER BY run, row, asked_at, space, stage) AS ordered`,
    )
    .pluck()
    .get({ runIds: JSON.stringify(runIds ?? []) })) as string;
  if (text === known.places) return known.list;
  const places = JSON.parse(text) as string[];
  const byRun = new Map<string, string[]>();
  for (const place of places) {
    const run = place.slice(0, place.indexOf(' '));
    const ofRun = byRun.get(run);
    if (ofRun === undefined) byRun.set(run, [place]);
    else ofRun.push(place);
  }
  const runs = yield* database
    .prepare<[string], { readonly id: string }>(
      'SELECT id FROM runs WHERE id IN (SELECT value FROM json_each(?)) ORDER BY created_at, id',
    )
    .all(JSON.stringify([...byRun.keys()]));
  const details = database.prepare<[string, string], WaitingRecord>(
    `SELECT ${PLACE} AS place, row, ${namedAsFields('questions.stage, environment_id, entity_key, code, asked_at, fields')},
       (SELECT coalesce(json_group_array(json_object('id', id, 'matchGrade', match_grade, 'countryCode', country_code)), '[]')
        FROM (SELECT id, match_grade, country_code FROM candidates WHERE candidates.run_id = questions.run_id
          AND candidates.row = questions.row AND candidates.space = questions.space
          AND (candidate_id IS NULL OR candidates.id = candidate_id) ORDER BY position) AS offered) AS candidates
     FROM questions JOIN rows USING (run_id, row)
     WHERE run_id = ? AND row IN (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
  );
  const waiting = new Map<string, WaitingRow>();
  const read = new Map<string, WaitingRow>();
  for (const { id: runId } of runs) {
    const ofRun = byRun.get(runId) ?? [];
    const unread = ofRun.filter((place) => !known.byPlace.has(place)).map((place) => Number(place.split(' ')[1]));
    for (const { place, row, ...asked } of unread.length === 0 ? [] : yield* details.all(runId, JSON.stringify(unread)))
      read.set(`${runId} ${place}`, {
        ...asked,
        stage: asked.stage === '' ? null : asked.stage,
        fields: readCell(rowFields, asked.fields, { run: runId, row }),
        candidates: JSON.parse(asked.candidates) as WaitingRow['candidates'],
      });
    for (const place of ofRun) {
      const row = known.byPlace.get(place) ?? read.get(place);
      if (row !== undefined) waiting.set(place, row);
    }
  }
  known.places = text;
  known.byPlace = waiting;
  known.list = [...waiting.values()];
  return known.list;
}

/** The open questions of some runs, or of all. */
export function* readWaitingQuestions(
  database: Database,
  runIds: readonly string[] | undefined,
): Script<QuestionKey[]> {
  // One text for each: objects of a driver and a DISTINCT take twice as long.
  const found = yield* database
    .prepare<[object], string>(openIn(amongRuns(runIds), "environment_id || '|' || entity_key"))
    .pluck()
    .all(ofRuns(runIds ?? []).values);
  return [...new Set(found)].map((text) => {
    const end = text.indexOf('|');
    return { environmentId: Number(text.slice(0, end)), entityKey: text.slice(end + 1) };
  });
}

type WaitingRecord = Omit<Unparsed<WaitingRow, 'fields' | 'candidates'>, 'stage'> & {
  readonly row: number;
  readonly stage: string;
  readonly place: string;
};

type Flag = 'answered' | 'open' | 'beside' | 'needsTwo' | 'isKnown';
type Unread = 'fields' | 'columns' | 'values';

type QuestionRow = Omit<
  Unparsed<AskedQuestion, Unread>,
  Flag | 'stage' | 'listedRow' | 'correctedNumber' | 'candidates'
> &
  Readonly<Record<Flag, number>> & { readonly stage: string; readonly listedRow: number | null };

const NOTHING_ASKED: readonly RowQuestion[] = [];

/** The numbers that people corrected, as far as these are the newest decisions in force. */
export function* readCorrections(database: Sql): Script<FindCorrections | undefined> {
  const found = yield* database
    .prepare<
      [],
      Pick<
        DecisionRow,
        'environmentId' | 'entityKey' | 'decision' | 'candidateId' | 'decidedBy' | 'secondBy' | 'summary'
      >
    >(
      `SELECT environment_id AS environmentId, entity_key AS entityKey, decision, candidate_id AS candidateId, decided_by AS decidedBy, second_by AS secondBy, summary
       FROM decisions WHERE withdrawn_at IS NULL AND decision = 'none_of_these' AND candidate_id IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM decisions AS later WHERE later.environment_id = decisions.environment_id
           AND later.entity_key = decisions.entity_key AND later.withdrawn_at IS NULL AND later.id > decisions.id)`,
    )
    .all();
  const byKey = new Map<string, Correction & Pick<DecisionRow, 'summary'>>();
  for (const made of found) {
    const number = correctedNumber(made);
    const { environmentId, entityKey: key, decidedBy, secondBy, summary } = made;
    if (number !== undefined) byKey.set(`${environmentId}|${key}`, { key, number, decidedBy, secondBy, summary });
  }
  if (byKey.size === 0) return undefined;
  return (environmentId) =>
    ({ key, former }) => {
      const earlier = former && byKey.get(`${environmentId}|${former.key}`);
      return byKey.get(`${environmentId}|${key}`) ?? (earlier && former?.covers(earlier) ? earlier : undefined);
    };
}

/**
 * A row has one question in each ID space, so the question about a corrected number replaces the one that was answered
 * with the number.
 */
function correctionBefore(
  { space, stage, environmentId, entityKey }: Pick<AskedQuestion, 'space' | 'stage' | 'environmentId' | 'entityKey'>,
  fields: RowFields | null,
  corrections: FindCorrections | undefined,
): Correction | undefined {
  if (stage !== null || fields === null || corrections === undefined) return undefined;
  const reading = readSearchSubject(fields);
  if (!reading.ok) return undefined;
  for (const { question, before } of followCorrections(space, reading.enquiry.subject, corrections(environmentId)))
    if ([question.key, question.former?.key].includes(entityKey)) return before;
  return undefined;
}

/** Reads the questions of a row from their JSON. Few rows have any. */
export function rowQuestions(database: Sql) {
  type Asked = Omit<RowQuestion, 'correction'>;
  let corrections: { readonly find: FindCorrections | undefined } | undefined;
  return function* (text: string, fields: RowFields | null): Script<readonly RowQuestion[]> {
    if (text === '[]') return NOTHING_ASKED;
    corrections ??= { find: yield* readCorrections(database) };
    const { find } = corrections;
    // Engines return them in any order. Sorting in SQL would cost time for every row.
    const asked = (JSON.parse(text) as Asked[]).sort(
      (a, b) => compareText(a.space, b.space) || compareText(a.stage ?? '', b.stage ?? ''),
    );
    return asked.map((question) => ({ ...question, correction: correctionBefore(question, fields, find) ?? null }));
  };
}

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
