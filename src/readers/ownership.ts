import type { ExactJson } from '../util/exact-json.js';
import { isObject } from './parts/body-path.js';
import { readGroupTree } from './parts/group-links.js';
import { emptyOf, type ListOf, oddOf } from './parts/lists.js';
import { openAnswer } from './parts/open-answer.js';
import { readShareholders } from './parts/people.js';
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
  read({ ids, answers }, out) {
    const of: ListOf = { v1: ids.v1 ?? null, v2: ids.v2 ?? null, offset: 0 };
    for (const { body, path } of answers.flatMap((answer) => openAnswer(answer, out) ?? [])) {
      const object = path.object(body);
      if (object === undefined) {
        path.left('a record', body);
        continue;
      }
      const { shareholders, group_structure: tree } = object;
      const held = readShareholders(shareholders, of, path.at('shareholders'));
      const grouped = readGroupTree(tree, of, path.at('group_structure'));
      // What no line holds is an issue, with all of it: there is no line for the company here.
      const left = [
        ...emptyOf('shareholders', shareholders),
        ...oddOf('shareholders', held.odd),
        ...emptyOf('group_structure', tree),
        ...oddOf('group_structure', grouped.odd.filter(saysMore)),
      ];
      for (const [name, value] of left) path.at(name).left('a line of its own', value);
      for (const [name, value] of Object.entries(object))
        if (!READ.has(name)) path.at(name).left('no such field', value);
    }
  },
} as const satisfies Reader;

const READ: ReadonlySet<string> = new Set(['shareholders', 'group_structure', 'registration_number']);

/** A root that stands alone is the company itself, or nobody's child: it has no link, and its name is known. */
const saysMore = (root: ExactJson): boolean =>
  !isObject(root) || Object.keys(root).some((name) => !NODE.has(name)) || saysChildren(root.children);

const saysChildren = (children: ExactJson | undefined): boolean =>
  children !== undefined && children !== null && !(Array.isArray(children) && children.length === 0);

const NODE: ReadonlySet<string> = new Set(['id', 'registration_number', 'name', 'selected', 'children']);
