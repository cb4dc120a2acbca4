import type { ChangeStore, Comparison, DatedAnswer, PastAnswer, ReplacedAnswer } from '../changes.js';
import { Bodies } from './bodies.js';
import { Cells, callParams } from './cells.js';
import type { Connection } from './driver.js';
import { readPage } from './member-changes.js';
import { STANDS } from './verdicts.js';
import type { Writer } from './writer.js';

const ANSWER = `SELECT calls.id AS callId, operation, environment_id AS environmentId, subject_space AS space, subject_id AS id,
    iif(raw_sha256 IS NULL, NULL, lower(hex(raw_sha256))) AS rawSha256, replaces,
    iif(subject_space = 'report', (SELECT company.id FROM row_ids AS report
      JOIN row_ids AS company ON company.run_id = report.run_id AND company.row = report.row AND company.space = 'credit'
      WHERE report.space = 'report' AND report.id = subject_id LIMIT 1), NULL) AS creditId, ${STANDS} AS stands
  FROM calls`;

/** What is in question waits until somebody has accepted it. */
const TO_COMPARE = `replaces IS NOT NULL AND compared < @readers AND subject_id IS NOT NULL AND ${STANDS}`;

/** What new answers say otherwise, and what is needed to find it out. */
export function changeStore(database: Connection, writer: Writer): ChangeStore {
  const cells = new Cells(database);
  const bodies = new Bodies(database);
  const toCompare = database.prepare<[object], ReplacedAnswer>(
    `${ANSWER} INDEXED BY calls_replacing WHERE ${TO_COMPARE} ORDER BY compared, calls.id LIMIT @limit`,
  );
  const waiting = database.prepare<[object], number>(
    `SELECT count(*) FROM calls INDEXED BY calls_replacing WHERE ${TO_COMPARE}`,
  );
  const find = database.prepare<[number], ReplacedAnswer>(`${ANSWER} WHERE calls.id = ? AND subject_id IS NOT NULL`);
  const about = database.prepare<[object], PastAnswerRow>(
    `SELECT id, operation, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt, max(id)
     FROM calls INDEXED BY calls_by_subject
     WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
       AND operation IN (SELECT value FROM json_each(@operations)) AND raw_sha256 IS NOT NULL AND id < @callId AND ${STANDS}
     GROUP BY request_key ORDER BY operation, id`,
  );
  const like = database.prepare<[object], PastAnswerRow & { readonly replaces: number | null }>(
    `SELECT id, operation, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt, replaces
     FROM calls INDEXED BY calls_by_subject
     WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
       AND operation = @operation AND raw_sha256 IS NOT NULL AND charge <> 'owned' ORDER BY id`,
  );
  const note = noteWriter(database);
  const digests = database.prepare<[string, string], string>(
    'SELECT lower(hex(sha256)) FROM bodies WHERE sha256 BETWEEN unhex(?) AND unhex(?) LIMIT 2',
  );
  return {
    toCompare: async (readers, limit) => toCompare.all({ readers, limit }),
    waiting: async (readers) => waiting.pluck().get({ readers }) ?? 0,
    find: async (callId) => find.get(callId),
    answersBefore: async ({ space, id, environmentId }, operations, callId) =>
      about
        .all({ space, id, environmentId, callId, operations: JSON.stringify(operations) })
        .flatMap(({ id: of, operation, rawSha256, fetchedAt, ...row }): readonly PastAnswer[] => {
          const params = cells.find(callParams, row.params, [of]);
          return params === undefined ? [] : [{ operation, params, rawSha256, fetchedAt }];
        }),
    answersLike: async ({ space, id, environmentId, operation }) =>
      like.all({ space, id, environmentId, operation }).flatMap(({ id: callId, ...row }): readonly DatedAnswer[] => {
        const params = cells.find(callParams, row.params, [callId]);
        return params === undefined ? [] : [{ ...row, callId, params }];
      }),
    body: async (rawSha256) => bodies.readSound(rawSha256),
    note: (compared, readers, now) =>
      writer.write(() => {
        for (const comparison of compared) note(comparison, readers, now);
      }),
    list: async (query) => readPage(database, query, cells),
    digests: async (beginning) =>
      digests
        .pluck()
        .all(`${beginning}${'0'.repeat(64 - beginning.length)}`, `${beginning}${'f'.repeat(64 - beginning.length)}`),
  };
}

type PastAnswerRow = Omit<PastAnswer, 'params'> & { readonly id: number; readonly params: string };

function noteWriter(database: Connection) {
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
  return ({ answer, items, oldRawSha256 }: Comparison, readers: number, now: number): void => {
    const { callId, creditId } = answer;
    compared.run(readers, callId);
    const before = known.get(callId);
    const text = JSON.stringify(items);
    // What is found again is nothing new to whoever has read it.
    if (items === null || before?.items === text) return;
    drop.run(callId);
    if (items.length === 0) return;
    // A report goes with the next one; the company that it is about stays.
    const about =
      creditId === null ? { space: answer.space, subject: answer.id } : { space: 'credit', subject: creditId };
    insert.run({ callId, notedAt: before?.noted_at ?? now, oldRawSha256, items: text, ...about });
  };
}
