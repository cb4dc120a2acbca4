import { ExactNumber, parseExact } from '../../util/exact-json.js';
import { isComplete, type ListPage, pageOf, pagesInOrder, readingsIn, wholeCount } from '../../util/list-page.js';
import { type Database, each, type Script, type Sql } from '../database.js';
import { isRecord, parseStored } from '../stored-json.js';
import { Bodies } from './bodies.js';
import { Cells, callParams } from './cells.js';

/** Answers of which something may be a page, in lists of which something was replaced. */
const LISTS = `SELECT environment_id AS environmentId, subject_space AS space, subject_id AS id, operation, params
  FROM calls AS page WHERE id IN (SELECT call_id FROM answers) AND subject_id IS NOT NULL
    AND (instr(params, '"page"') > 0 OR instr(params, '"per_page"') > 0)
    AND EXISTS (SELECT 1 FROM calls AS newer INDEXED BY calls_by_subject WHERE newer.subject_space = page.subject_space
      AND newer.subject_id = page.subject_id AND newer.subject_id IS NOT NULL AND newer.params IS NOT NULL
      AND newer.operation = page.operation AND newer.replaces IS NOT NULL)`;

const PAGES = `SELECT id, params, lower(hex(raw_sha256)) AS rawSha256, settled_at AS fetchedAt FROM calls INDEXED BY calls_by_subject
  WHERE subject_space = @space AND subject_id = @id AND subject_id IS NOT NULL AND params IS NOT NULL AND environment_id = @environmentId
    AND operation = @operation AND raw_sha256 IS NOT NULL AND charge <> 'owned' AND error_code IS NULL ORDER BY id`;

/**
 * A list that was being read once more, and is not whole yet, is shown as it was read before: the calls that brought that.
 * They are replaced, and kept all the same.
 */
export function* listsUnderWay(database: Sql & Pick<Database, 'stored'>): Script<readonly number[]> {
  const bodies = new Bodies(database);
  const cells = new Cells(database);
  const pagesOf = database.prepare<[object], StoredPage>(PAGES);
  const opened = function* ({ id, ...stored }: StoredPage): Script<readonly KeptPage[]> {
    const params = cells.find(callParams, stored.params, [id]);
    const body = params === undefined ? undefined : objectIn(yield* bodies.readSound(stored.rawSha256));
    return params === undefined || body === undefined ? [] : [{ ...pageOf({ ...stored, params }, body, null), id }];
  };
  const kept: number[] = [];
  for (const list of yield* findLists(database)) {
    const pages = (yield* each(yield* pagesOf.all(list), opened)).flat();
    const sizes = new Set(pages.map(({ perPage }) => perPage));
    kept.push(...[...sizes].flatMap((size) => lastWhole(pages.filter(({ perPage }) => perPage === size))));
  }
  return kept;
}

/** Each once. */
function* findLists(database: Sql): Script<readonly List[]> {
  const lists = new Map<string, List>();
  const note = ({ params, ...list }: List & { readonly params: string }) => {
    if (namesPage(params)) lists.set(JSON.stringify(Object.values(list)), list);
  };
  yield* database.prepare<[], List & { readonly params: string }>(LISTS).walk(note);
  return [...lists.values()];
}

/** The first page is not named in what is asked: a later one tells, or their size. */
function namesPage(params: string): boolean {
  const asked = parseStored(params, isRecord);
  return asked !== undefined && ((wholeCount(asked.page) ?? 0) > 1 || asked.per_page != null);
}

/** What is owned is kept in any case. */
function lastWhole(pages: readonly KeptPage[]): readonly number[] {
  const whole = readingsIn(pages)
    .map(pagesInOrder)
    .findLast((reading) => isComplete(reading));
  return whole?.map(({ id }) => id) ?? [];
}

function objectIn(body: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  if (body === undefined) return undefined;
  try {
    const value = parseExact(body);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && !(value instanceof ExactNumber) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

interface List {
  readonly environmentId: number;
  readonly space: string;
  readonly id: string;
  readonly operation: string;
}

interface StoredPage {
  readonly id: number;
  readonly params: string;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

interface KeptPage extends ListPage {
  readonly id: number;
}
