import type { GraphId, GraphLink, LinkEnd } from '../../domain/ownership-graph.js';
import { type ExactJson, isObject, type JsonObject } from '../../util/exact-json.js';
import {
  column,
  extraColumn,
  joinCells,
  operationColumn,
  positionColumn,
  type Row,
  rawSha256,
  table,
  v1CompanyId,
  v2CompanyId,
} from '../table.js';
import { eachItem, emptyOf, type ListRead, placeCells, type SubjectIds, unreadItems } from './lists.js';
import type { BodyPath } from './open-answer.js';
import { extraOf, type Members, readFields } from './read-fields.js';

/** The links of a full record. Their `source` is a text, not a source object (V1-26). */
export function readGroupLinks(list: ExactJson | undefined, of: SubjectIds, path: BodyPath): ListRead {
  const use = (item: JsonObject, position: string, at: BodyPath) => {
    const { cells, rest } = readFields(item, groupLinkFields, at);
    const tree = { depth: null, source_id: null, target_id: null, source_selected: null, selected: null };
    path.out.add(groupLinksTable, joinCells(cells, placeCells(of, position, path), { ...tree, extra: extraOf(rest) }));
  };
  return eachItem(list, path, use, { table: groupLinksTable });
}

const nodeFields = [
  column('id', 'id', ''),
  column('name', 'text', ''),
  column('country', 'text', ''),
  column('registration_number', 'text', ''),
  column('selected', 'boolean', ''),
] as const;

interface Node {
  readonly cells: { readonly [Name in (typeof nodeFields)[number]['name']]: string | null };
  readonly rest: Members;
  readonly depth: number;
}

/**
 * Reads a tree as links, one for each child, parents first. It uses its own stack, because trees may be very deep. A
 * root is no child: it gets a row without a first end if no link shows all its fields.
 */
export function readGroupTree(list: ExactJson | undefined, of: SubjectIds, path: BodyPath): ListRead {
  const roots = path.list(list);
  const odd: ExactJson[] = [];
  if (roots === undefined) return { count: null, odd: list === undefined || list === null ? odd : [list] };
  let count = 0;
  const pending: { value: ExactJson; at: BodyPath; parent: Node | undefined }[] = [];
  const push = (items: readonly ExactJson[], at: BodyPath, parent: Node | undefined) => {
    for (let i = items.length - 1; i >= 0; i--) pending.push({ value: items[i] as ExactJson, at: at.at(i), parent });
  };
  push(roots, path, undefined);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const object = next.at.object(next.value);
    if (object === undefined) {
      // Below a node it is kept with the node.
      if (next.parent === undefined) odd.push(next.value);
      continue;
    }
    const node = readNode(object, next.parent, next.at);
    const children = next.at.at('children').list(object.children) ?? [];
    if (next.parent !== undefined || node.rest.length > 0 || !children.some(isObject))
      emit(next.parent, node, of, String(++count), path);
    push(children, next.at.at('children'), node);
  }
  path.out.noteCame(groupLinksTable);
  return { count, odd };
}

function readNode(object: JsonObject, parent: Node | undefined, path: BodyPath): Node {
  const { cells, rest } = readFields(object, nodeFields, path, ['children']);
  const { children } = object;
  const odd = Array.isArray(children) ? children.filter((child) => !isObject(child)) : undefined;
  const left: Members =
    isThere(children) && odd === undefined ? [['children', children]] : unreadItems('children', odd ?? []);
  const depth = parent === undefined ? 0 : parent.depth + 1;
  return { cells, depth, rest: [...rest, ...emptyOf('children', children), ...left] };
}

const isThere = (value: ExactJson | undefined): value is ExactJson => value !== undefined && value !== null;

/**
 * Each end says whether it is the requested company (V1-27), because a root is never a second end. A tree names no
 * owner of its record, and a node may lack a number: nothing is invented for them.
 */
function emit(parent: Node | undefined, child: Node, of: SubjectIds, position: string, path: BodyPath): void {
  const first = parent?.cells;
  path.out.add(groupLinksTable, {
    ...placeCells(of, position, path),
    company_id: null,
    country_source: first?.country ?? null,
    country_target: child.cells.country,
    source: first?.registration_number ?? null,
    target: child.cells.registration_number,
    title: first?.name ?? null,
    target_title: child.cells.name,
    temporary: null,
    depth: String(child.depth),
    source_id: first?.id ?? null,
    target_id: child.cells.id,
    source_selected: first?.selected ?? null,
    selected: child.cells.selected,
    extra: extraOf(child.rest),
  });
}

const groupLinkFields = [
  column('company_id', 'id', 'The company whose record has the link. Empty for a tree'),
  column('country_source', 'text', 'Country of the first end'),
  column('country_target', 'text', 'Country of the second end'),
  column('source', 'text', 'First end, as sent. In a tree it is the number with its country'),
  column('target', 'text', 'Second end, as sent'),
  column('title', 'text', 'Name of the first end'),
  column('target_title', 'text', 'Name of the second end'),
  column('temporary', 'boolean', 'As sent. Its meaning is not documented'),
] as const;

/** Columns that only a tree fills. */
const placeInTree = [
  column(
    'depth',
    'integer',
    'Levels between the root of the tree and the second end. 0: the root, 1: a child of the root',
    'order of the tree',
  ),
  column('source_id', 'id', 'First end: the ID of the node, as sent', 'id of the parent'),
  column('target_id', 'id', 'Second end, as sent', 'id of the child'),
  column('source_selected', 'boolean', 'Whether the first end is the company asked about', 'selected of the parent'),
  column('selected', 'boolean', 'Whether the second end is the company asked about', 'selected of the child'),
] as const;

export const groupLinksTable = table({
  name: 'group_links',
  onePer: 'list item',
  description:
    'Links between companies of a group. Links of a tree have the place of the child in it. The root of a tree has a line without a first end if no link shows it. A link does not show who controls whom. The last company of a chain is not a person.',
  source:
    'fullKyb /group_structures_full, and the trees of groupLiteKyb, groupFullKyb and v2 ownership with one link for each child',
  key: ['v1_company_id', 'v2_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  // A new company at the top moves all others down.
  knownBy: {
    columns: [
      ['source', 'target'],
      ['source_id', 'target_id'],
      ['source', 'target', 'target_id'],
    ],
    origin: 'operation',
    besides: ['depth'],
  },
  columns: [
    v1CompanyId,
    positionColumn,
    ...groupLinkFields,
    operationColumn,
    rawSha256,
    v2CompanyId,
    ...placeInTree,
    extraColumn,
  ],
});

/**
 * A line as a link between two companies. `ids`: those of the company that was asked about. The nodes of the ownership
 * module have IDs of their own. Others are v1's.
 */
export function groupLinkOf(row: Row, ids: readonly GraphId[]): GraphLink {
  const { operation = '' } = row;
  const scheme = operation === 'ownership' ? 'ownership' : 'v1';
  const end = (of: 'source' | 'target'): LinkEnd => {
    const id = row[`${of}_id`] ?? null;
    const text = row[of] ?? null;
    return {
      name: row[of === 'source' ? 'title' : 'target_title'] ?? null,
      countryCode: row[`country_${of}`] ?? null,
      registrationNumber: text,
      ids: id === null ? [] : [{ scheme, id }],
      // A link of the record may name the company by its ID instead of its number.
      isSubject:
        row[of === 'source' ? 'source_selected' : 'selected'] === 'true' ||
        (id === null && ids.some((known) => known.scheme === scheme && known.id === text)),
    };
  };
  const isRoot = [row.source, row.source_id, row.title].every((cell) => cell == null);
  return { source: isRoot ? null : end('source'), target: end('target'), operation: operation ?? '' };
}
