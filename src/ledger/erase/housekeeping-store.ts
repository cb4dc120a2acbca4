// Housekeeping, and the search of the whole ledger for identifiers.

import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { resolveLocation } from '../../domain/places/resolve-location.js';
import { ID_SPACES } from '../../domain/provider.js';
import { Bodies } from '../answers/bodies.js';
import type { Database, Script, Sql } from '../db/database.js';
import { isTextRecord, parseStored } from '../db/stored-json.js';
import { moveProvider } from '../move-provider.js';
import { eraseFromLedger, finishErase, forgetErase, previewEraseFromLedger } from './erase.js';
import type { EraseProof, EraseRequest, ItemIds, Mention } from './housekeeping.js';
import { isDistinctive, type SpacedId, wordsIn, wordsPattern } from './identifiers.js';
import { previewPrune, pruneRecords, removePortfolio, removeRun } from './prune.js';

export type Housekeeping = ReturnType<typeof housekeepingStore>;

/** `flush`: resolves when all earlier writes are on disk. */
export function housekeepingStore(database: Database, now: number, flush: () => Promise<void>) {
  const settled = async <T>(work: () => Promise<T>): Promise<T> => {
    await flush();
    return await work();
  };
  return {
    /** Erases data and remembers it until `forgetProvedErase`. */
    erase: (request: EraseRequest, itemIds: ItemIds) => settled(() => eraseFromLedger(database, request, itemIds, now)),
    /** Finishes an interrupted erasure. Undefined if there is none. */
    resumeErase: (request: EraseRequest) => settled(() => finishErase(database, request)),
    forgetProvedErase: (request: EraseRequest) => settled(() => database.write(() => forgetErase(database, request))),
    previewErase: (request: EraseRequest, itemIds: ItemIds) =>
      settled(() => previewEraseFromLedger(database, request, itemIds, now)),
    /** Deletes runs finished before then and older answers that were replaced, never the newest of its kind. */
    prune: (before: number) => settled(() => pruneRecords(database, before)),
    previewPrune: (before: number) => settled(() => previewPrune(database, before)),
    /** Deletes one run, finished or not. Its calls stay counted and its answers stay reusable. */
    dropRun: (runId: string) => settled(() => database.write(() => removeRun(database, runId, now))),
    /** Deletes a portfolio with its members and runs in the same way. */
    dropPortfolio: (portfolioId: number) =>
      settled(() => database.write(() => removePortfolio(database, portfolioId, now))),
    /** Moves all data of one base URL to another. Refused while a process works. */
    moveProvider: (from: string, to: string) =>
      settled(() => database.write(() => moveProvider(database, from, to, now))),
    /** Where identifiers still appear. */
    searchEverywhere: (identifiers: readonly string[]) => settled(() => searchEverywhere(database, identifiers)),
  };
}

/**
 * Searches every text column, every unpacked answer, and the bytes of the file, where deleted text remains until the
 * rewrite. A server's files cannot be read.
 */
async function searchEverywhere(database: Database, identifiers: readonly string[]): Promise<EraseProof> {
  const searched = identifiers.filter(isDistinctive);
  const notSearched = identifiers.filter((text) => !isDistinctive(text));
  if (searched.length === 0) return { searched, notSearched, timesInFile: 0, mentions: [] };
  const pattern = wordsPattern(searched);
  const mentions = await database.read(function* () {
    const inTables = yield* mentionsInTables(database, searched, pattern);
    return [...inTables, ...(yield* mentionsInAnswers(database, searched, pattern))];
  });
  const timesInFile = [database.name, `${database.name}-wal`].reduce((sum, path) => sum + timesIn(path, searched), 0);
  return { searched, notSearched, timesInFile, mentions };
}

function* mentionsInTables(
  database: Database,
  searched: readonly string[],
  pattern: RegExp,
): Script<readonly Mention[]> {
  const mentions: Mention[] = [];
  for (const [table, columns] of yield* tables(database)) {
    const text = columns.map((column) => `coalesce("${column}", '')`).join(" || '\n' || ");
    const found = yield* database
      .prepare<[string], Record<string, unknown>>(
        `SELECT * FROM (SELECT *, ${text} AS all_text FROM "${table}") AS searched
         WHERE EXISTS (SELECT 1 FROM json_each(?) AS sought WHERE instr(all_text, sought.value) > 0)`,
      )
      .all(JSON.stringify(searched));
    for (const one of found)
      mentions.push(...(yield* mention(database, wordsIn(String(one.all_text), pattern), table, one)));
  }
  return mentions;
}

/** Read from the schema, so that tables of later versions are included. Answers are packed and searched separately. */
function* tables(database: Database): Script<ReadonlyMap<string, readonly string[]>> {
  const columnsOf = new Map<string, string[]>();
  for (const { table, column } of yield* database.textColumns())
    columnsOf.set(table, [...(columnsOf.get(table) ?? []), column]);
  return new Map([...columnsOf].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function* mentionsInAnswers(database: Sql, searched: readonly string[], pattern: RegExp): Script<readonly Mention[]> {
  const bodies = new Bodies(database);
  const digests = yield* bodies.digests();
  // The call that bought it has the most details. Reuses have no parameters.
  const callOf = database.prepare<[string], Record<string, unknown>>(
    'SELECT * FROM calls WHERE raw_sha256 = unhex(?) ORDER BY params IS NULL, id LIMIT 1',
  );
  const mentions: Mention[] = [];
  for (const sha256 of digests) {
    const body = yield* bodies.readSound(sha256);
    if (body === undefined || !searched.some((text) => body.includes(text))) continue;
    const call = (yield* callOf.get(sha256)) ?? {};
    const named = wordsIn(body.toString('utf8'), pattern);
    mentions.push(...(yield* mention(database, named, `answer to ${call.operation}`, call)));
  }
  return mentions;
}

function* mention(
  database: Sql,
  identifiers: readonly string[],
  where: string,
  found: Readonly<Record<string, unknown>>,
): Script<readonly Mention[]> {
  if (identifiers.length === 0) return [];
  const run = typeof found.run_id === 'string' ? found.run_id : null;
  const row = typeof found.row === 'number' ? found.row : null;
  const entity =
    entityOfCall(found) ?? entityOfDecision(found) ?? (yield* entityOfRow(database, run, row)) ?? entityOfNobody(found);
  return [{ identifiers, where, run, row, entity }];
}

/** A call about one company names it. A call by a number belongs to its row's company. */
const entityOfCall = ({ subject_space, subject_id }: Readonly<Record<string, unknown>>) =>
  typeof subject_id === 'string' && subject_space !== 'ownership' ? `${subject_space}:${subject_id}` : undefined;

const entityOfDecision = ({ decision, space, candidate_id }: Readonly<Record<string, unknown>>) =>
  typeof decision === 'string' && typeof candidate_id === 'string' ? `${space}:${candidate_id}` : undefined;

/** For records without a row: changes, calls by a number alone, and members' companies. */
function entityOfNobody({ subject_space, subject_id, space, id }: Readonly<Record<string, unknown>>): string | null {
  if (typeof subject_id === 'string') return `${subject_space}:${subject_id}`;
  return typeof space === 'string' && typeof id === 'string' ? `${space}:${id}` : null;
}

/** The row's match, or its number. */
function* entityOfRow(database: Sql, run: string | null, row: number | null): Script<string | null> {
  if (run === null || row === null) return null;
  const ids = yield* database
    .prepare<[string, number], SpacedId>('SELECT space, id FROM row_ids WHERE run_id = ? AND row = ?')
    .all(run, row);
  const first = ID_SPACES.flatMap((space) => ids.filter((of) => of.space === space))[0];
  if (first !== undefined) return `${first.space}:${first.id}`;
  const fields = yield* database
    .prepare<[string, number], string>('SELECT fields FROM rows WHERE run_id = ? AND row = ?')
    .pluck()
    .get(run, row);
  const { country, state, registration_number: number } = parseStored(fields ?? '{}', isTextRecord) ?? {};
  const place = resolveLocation(country ?? '', state);
  return number === undefined || !place.ok || place.countryCode === null ? null : `${place.location}:${number}`;
}

const CHUNK = 4 * 1024 * 1024;

/** The pieces overlap by the longest text, so that none is missed between two. */
function timesIn(path: string, texts: readonly string[]): number {
  if (!existsSync(path)) return 0;
  const overlap = Math.max(...texts.map((text) => Buffer.byteLength(text))) - 1;
  const chunk = Buffer.alloc(CHUNK + overlap);
  const file = openSync(path, 'r');
  try {
    let times = 0;
    for (let at = 0; ; at += CHUNK) {
      const size = readSync(file, chunk, 0, chunk.length, at);
      const isLast = size < chunk.length;
      // A match that begins in the overlap is counted with the next piece.
      for (const text of texts) times += startsIn(chunk.subarray(0, size), text, isLast ? size : CHUNK);
      if (isLast) return times;
    }
  } finally {
    closeSync(file);
  }
}

function startsIn(bytes: Buffer, text: string, before: number): number {
  let times = 0;
  for (let at = bytes.indexOf(text); at >= 0 && at < before; at = bytes.indexOf(text, at + 1)) times++;
  return times;
}
