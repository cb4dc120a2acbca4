import type { ExactJson } from '../util/exact-json.js';
import { type BodyPath, idOf, isObject, type JsonObject } from './parts/body-path.js';
import { nodeFields, readGroupTree } from './parts/group-links.js';
import { emptyOf, type ListOf, oddOf } from './parts/lists.js';
import { openAnswer } from './parts/open-answer.js';
import { readShareholders } from './parts/people.js';
import { extraOf, type Members, readFields } from './parts/read-fields.js';
import type { Reader } from './reader.js';
import { groupLinksTable } from './tables/group-links.js';
import { shareholdersTable } from './tables/shareholders.js';
import { sourcesTable } from './tables/sources.js';

/** The ownership module, which has the company by its number: shareholders, and the tree as links (V2-22). */
export const ownershipReader = {
  name: 'ownership',
  space: 'ownership',
  operations: ['ownership'],
  tables: [shareholdersTable, groupLinksTable, sourcesTable],
  read({ id, ids, answers }, out) {
    const of: ListOf = { v1: ids.v1 ?? null, v2: ids.v2 ?? null, offset: 0 };
    for (const { body, path } of answers.flatMap((answer) => openAnswer(answer, out) ?? [])) {
      const object = path.object(body);
      // What no line holds is an issue, with all of it: the module has no line for the company.
      if (object === undefined) path.left('a record', body);
      else for (const [name, value] of readRecord(object, id, of, path)) path.at(name).left('a line of its own', value);
    }
  },
} as const satisfies Reader;

/** What was left over. */
function readRecord(object: JsonObject, id: string, of: ListOf, path: BodyPath): Members {
  const { shareholders, group_structure: tree } = object;
  const held = readShareholders(shareholders, of, path.at('shareholders'));
  const { count, odd } = readGroupTree(tree, of, path.at('group_structure'));
  const roots = odd.filter(isObject);
  for (const [index, root] of roots.entries()) addRoot(root, of, (count ?? 0) + index + 1, path);
  return [
    ...emptyOf('shareholders', shareholders),
    ...oddOf('shareholders', held.odd),
    ...emptyOf('group_structure', tree),
    ...oddOf('group_structure', odd.filter(isNoNode)),
    ...Object.entries(object).filter(([name, value]) => !LISTS.has(name) && !isOwnNumber(name, value, id)),
  ];
}

const isNoNode = (value: ExactJson): boolean => !isObject(value);

const LISTS: ReadonlySet<string> = new Set(['shareholders', 'group_structure']);

/** The number that was asked for, or none. */
const isOwnNumber = (name: string, value: ExactJson, id: string): boolean =>
  name === 'registration_number' && (value === null || idOf(value) === id);

/** A company that stands alone in its tree is nobody's child: its line has no first end. */
function addRoot(root: JsonObject, { v1, v2 }: ListOf, position: number, path: BodyPath): void {
  const { cells, rest } = readFields(root, nodeFields, path.at('group_structure'));
  path.out.add(groupLinksTable, {
    v1_company_id: v1,
    v2_company_id: v2,
    position: String(position),
    company_id: v1 ?? v2,
    country_source: null,
    country_target: cells.country,
    source: null,
    target: cells.registration_number ?? cells.id,
    title: null,
    target_title: cells.name,
    temporary: null,
    operation: path.origin.operation,
    raw_sha256: path.origin.rawSha256,
    depth: '0',
    source_id: null,
    target_id: cells.id,
    source_selected: null,
    selected: cells.selected,
    extra: extraOf(rest),
  });
}
