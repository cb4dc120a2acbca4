import type { ChangeStore, Comparison, DatedAnswer, PastAnswer, ReplacedAnswer } from '../changes.js';
import type { Database, Script, Sql } from '../database.js';
import { Bodies } from './bodies.js';
import { Cells, callParams } from './cells.js';
import { readPage } from './member-changes.js';
import { STANDS } from './verdicts.js';

const ANSWER = `SELECT calls.id AS callId, operation, environment_id AS environmentId, subject_space AS space, subject_id AS id,
    CASE WHEN raw_sha256 IS NOT NULL THEN lower(hex(raw_sha256)) END AS rawSha256, replaces,
    CASE WHEN subject_space = 'report' THEN (SELECT company.id FROM row_ids AS report
      JOIN row_ids AS company ON company.run_id = report.run_id AND company.row = report.row AND company.space = 'credit'
      WHERE report.space = 'report' AND report.id = subject_id LIMIT 1) END AS creditId, ${STANDS} AS stands
  FROM calls`;

/** What is in question waits until somebody has accepted it. */
const TO_COMPARE = `replaces IS NOT NULL AND compared < @readers AND subject_id IS NOT NULL AND ${STANDS}`;

/** What new answers say otherwise, and what is needed to find it out. */
export function changeStore(database: Database): ChangeStore {
  const cells = new Cells(database);
  const bodies = new Bodies(database);
  const toCompare = database.prepare<[object], ReplacedAnswer>(
    `${ANSWER} INDEXED BY calls_replacing WHERE ${TO_COMPARE} ORDER BY compared, calls.id LIMIT @limit`,
  );
  const waiting = database
    .prepare<[object], number>(`SELECT count(*) FROM calls INDEXED BY calls_replacing WHERE ${TO_COMPARE}`)
    .pluck();
  const find = database.prepare<[number], ReplacedAnswer>(`${ANSWER} WHERE calls.id = ? AND subject_id IS NOT NULL`);
  const about = database.prepare<[object], PastAnswerRow>(
    `SELECT id, operation, params, rawSha256, fetchedAt FROM (
       SELECT id, operation, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt,
         row_number() OVER (PARTITION BY request_key ORDER BY id DESC) AS place
       FROM calls INDEXED BY calls_by_subject
       WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
         AND operation IN (SELECT value FROM json_each(@operations)) AND raw_sha256 IS NOT NULL AND id < @callId AND ${STANDS}) AS past
     WHERE place = 1 ORDER BY operation, id`,
  );
  const like = database.prepare<[object], PastAnswerRow & { readonly replaces: number | null }>(
    `SELECT id, operation, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt, replaces
     FROM calls INDEXED BY calls_by_subject
     WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
       AND operation = @operation AND raw_sha256 IS NOT NULL AND charge <> 'owned' ORDER BY id`,
  );
  const note = noteWriter(database);
  const digests = database
    .prepare<[string, string], string>(
      'SELECT lower(hex(sha256)) FROM bodies WHERE sha256 BETWEEN unhex(?) AND unhex(?) ORDER BY sha256 LIMIT 2',
    )
    .pluck();
  return {
    toCompare: (readers, limit) => database.read(() => toCompare.all({ readers, limit })),
    waiting: async (readers) => (await database.read(() => waiting.get({ readers }))) ?? 0,
    find: (callId) => database.read(() => find.get(callId)),
    answersBefore: ({ space, id, environmentId }, operations, callId) =>
      database.read(function* () {
        const found = yield* about.all({ space, id, environmentId, callId, operations: JSON.stringify(operations) });
        return found.flatMap(({ id: of, operation, rawSha256, fetchedAt, ...row }): readonly PastAnswer[] => {
          const params = cells.find(callParams, row.params, [of]);
          return params === undefined ? [] : [{ operation, params, rawSha256, fetchedAt }];
        });
      }),
    answersLike: ({ space, id, environmentId, operation }) =>
      database.read(function* () {
        const found = yield* like.all({ space, id, environmentId, operation });
        return found.flatMap(({ id: callId, ...row }): readonly DatedAnswer[] => {
          const params = cells.find(callParams, row.params, [callId]);
          return params === undefined ? [] : [{ ...row, callId, params }];
        });
      }),
    body: (rawSha256) => database.read(() => bodies.readSound(rawSha256)),
    note: (compared, readers, now) =>
      database.write(function* () {
        for (const comparison of compared) yield* note(comparison, readers, now);
      }),
    list: (query) => database.read(() => readPage(database, query, cells)),
    digests: (beginning) => {
      const filledWith = (digit: string) => beginning.padEnd(64, digit);
      return database.read(() => digests.all(filledWith('0'), filledWith('f')));
    },
  };
}

type PastAnswerRow = Omit<PastAnswer, 'params'> & { readonly id: number; readonly params: string };

function noteWriter(database: Sql) {
  const compared = database.prepare('UPDATE calls SET compared = ? WHERE id = ?');
  const known = database.prepare<[number], { items: string; noted_at: number }>(
    'SELECT items, noted_at FROM changes WHERE call_id = ?',
  );
  const drop = database.prepare('DELETE FROM changes WHERE call_id = ?');
  const insert = database.prepare(
    `INSERT INTO changes (call_id, environment_id, subject_space, subject_id, run_id, changed_at, noted_at, old_sha256, new_sha256, items)
     SELECT id, environment_id, @space, @subject, run_id, settled_at, @notedAt, unhex(@oldRawSha256), raw_sha256, @items
     FROM calls WHERE id = @callId`,
  );
  return function* ({ answer, items, oldRawSha256 }: Comparison, readers: number, now: number): Script<void> {
    const { callId, creditId } = answer;
    yield* compared.run(readers, callId);
    const before = yield* known.get(callId);
    const text = JSON.stringify(items);
    // What is found again is nothing new to whoever has read it.
    if (items === null || before?.items === text) return;
    yield* drop.run(callId);
    if (items.length === 0) return;
    // A report goes with the next one; the company that it is about stays.
    const about =
      creditId === null ? { space: answer.space, subject: answer.id } : { space: 'credit', subject: creditId };
    yield* insert.run({ callId, notedAt: before?.noted_at ?? now, oldRawSha256, items: text, ...about });
  };
}
