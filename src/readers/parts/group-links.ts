import type { ExactJson } from '../../util/exact-json.js';
import { column } from '../table.js';
import { groupLinkFields, groupLinksTable } from '../tables/group-links.js';
import { type BodyPath, isObject, type JsonObject } from './body-path.js';
import { eachItem, emptyOf, type ListRead, noted, oddOf, type SubjectIds } from './lists.js';
import { extraOf, type Members, readFields } from './read-fields.js';

/** The links of a full record. Their `source` is a text, not a source object (V1-26). */
export function readGroupLinks(list: ExactJson | undefined, of: SubjectIds, path: BodyPath): ListRead {
  const read = eachItem(list, { offset: 0 }, path, (item, position, at) => {
    const { cells, rest } = readFields(item, groupLinkFields, at);
    const place = { depth: null, source_id: null, target_id: null, source_selected: null, selected: null };
    path.out.add(groupLinksTable, { ...identity(of, position, path), ...cells, ...place, extra: extraOf(rest) });
  });
  return noted(read, groupLinksTable, path);
}

/** What a node of a tree says of a company. */
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
  /** How far below its root; the root's own is 0. */
  readonly depth: number;
}

/**
 * A tree as links, one for each child, parents first. With a stack of its own: trees may be very deep. A root is nobody's
 * child: it has a line without a first end where no link shows all that it says.
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
  return noted({ count, odd }, groupLinksTable, path);
}

function readNode(object: JsonObject, parent: Node | undefined, path: BodyPath): Node {
  const { cells, rest } = readFields(object, nodeFields, path, ['children']);
  const { children } = object;
  const odd = Array.isArray(children) ? children.filter((child) => !isObject(child)) : undefined;
  const left: Members =
    isThere(children) && odd === undefined ? [['children', children]] : oddOf('children', odd ?? []);
  const depth = parent === undefined ? 0 : parent.depth + 1;
  return { cells, depth, rest: [...rest, ...emptyOf('children', children), ...left] };
}

const isThere = (value: ExactJson | undefined): value is ExactJson => value !== undefined && value !== null;

/**
 * Which of the two ends is the company that was asked about is said of each (V1-27): a root is nobody's second end. A tree
 * names no company whose record it is, and a node without a number has none: nothing is put in their place.
 */
function emit(parent: Node | undefined, child: Node, of: SubjectIds, position: string, path: BodyPath): void {
  const first = parent?.cells;
  path.out.add(groupLinksTable, {
    ...identity(of, position, path),
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

const identity = ({ v1, v2 }: SubjectIds, position: string, { origin }: BodyPath) => ({
  v1_company_id: v1,
  position,
  v2_company_id: v2,
  operation: origin.operation,
  raw_sha256: origin.rawSha256,
});
