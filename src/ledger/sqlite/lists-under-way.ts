import { ExactNumber, parseExact } from '../../util/exact-json.js';
import { isComplete, type ListPage, pageOf, pagesInOrder, readingsIn } from '../../util/list-page.js';
import { Bodies } from './bodies.js';
import { Cells, callParams } from './cells.js';
import type { Connection } from './driver.js';

/** Lists of which something was replaced. The first page is not named in what is asked: a later one tells, or their size. */
const LISTS = `SELECT DISTINCT environment_id AS environmentId, subject_space AS space, subject_id AS id, operation
  FROM calls AS page WHERE id IN (SELECT call_id FROM answers) AND subject_id IS NOT NULL AND json_valid(params)
    AND (params ->> 'page' > 1 OR params ->> 'per_page' IS NOT NULL)
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
export function listsUnderWay(database: Connection): readonly number[] {
  const bodies = new Bodies(database);
  const cells = new Cells(database);
  const pagesOf = database.prepare<[object], StoredPage>(PAGES);
  const opened = ({ id, ...stored }: StoredPage): readonly KeptPage[] => {
    const params = cells.find(callParams, stored.params, [id]);
    const body = params === undefined ? undefined : objectIn(bodies.readSound(stored.rawSha256));
    return params === undefined || body === undefined ? [] : [{ ...pageOf({ ...stored, params }, body, null), id }];
  };
  return database
    .prepare<[], object>(LISTS)
    .all()
    .flatMap((list) => {
      const pages = pagesOf.all(list).flatMap(opened);
      const sizes = new Set(pages.map(({ perPage }) => perPage));
      return [...sizes].flatMap((size) => lastWhole(pages.filter(({ perPage }) => perPage === size)));
    });
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

interface StoredPage {
  readonly id: number;
  readonly params: string;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

interface KeptPage extends ListPage {
  readonly id: number;
}
