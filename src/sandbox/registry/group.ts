import type { Companies } from './companies.js';
import { hash } from './random.js';
import { hasTrait, listState } from './traits.js';
import type { Company } from './types.js';

/** A company in its group; children come in a stable order. */
export interface GroupNode {
  readonly company: Company;
  readonly selected: boolean;
  readonly children: readonly GroupNode[];
}

const BLOCK = 12;
const DEEP = 64;
const WIDE = 300;

/**
 * Twelve neighbouring indices are a group or a part of one: the first is the parent, the others hang below it in
 * threes. A few companies sit in a chain of 64 levels, a few have 300 subsidiaries.
 */
export function groupOf(companies: Companies, company: Company): GroupNode | undefined {
  const { seed, size } = companies;
  if (listState(seed, company.index, 'groupLinks') !== 'some') return undefined;
  const other = (place: number) => companies.company(hash(seed, company.index, 95, place) % size);
  if (hasTrait(seed, company.index, 'deepGroup')) return chain(company, other);
  if (hasTrait(seed, company.index, 'wideGroup')) return fan(company, other);
  const first = company.index - (company.index % BLOCK);
  const members = Math.min(1 + (hash(seed, first, 94) % BLOCK), size - first);
  const place = company.index - first;
  if (place >= members) return { company, selected: true, children: [] };
  const node = (at: number): GroupNode => ({
    company: companies.company(first + at),
    selected: at === place,
    children: [3 * at + 1, 3 * at + 2, 3 * at + 3].filter((child) => child < members).map(node),
  });
  return node(0);
}

/** Parent, the company itself and its direct children. */
export function immediate(root: GroupNode): GroupNode {
  if (root.selected) return trim(root);
  const parent = parentOfSelected(root);
  return parent === undefined ? root : { ...parent, children: parent.children.filter(isSelected).map(trim) };
}

/** Parent and child of every link of the group. */
export function* links(root: GroupNode): Iterable<{ readonly parent: Company; readonly child: Company }> {
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const child of node.children) {
      yield { parent: node.company, child: child.company };
      stack.push(child);
    }
  }
}

function chain(company: Company, other: (place: number) => Company): GroupNode {
  let node: GroupNode = { company: other(DEEP), selected: false, children: [] };
  for (let level = DEEP - 1; level >= 0; level--) {
    const selected = level === DEEP / 2;
    node = { company: selected ? company : other(level), selected, children: [node] };
  }
  return node;
}

function fan(company: Company, other: (place: number) => Company): GroupNode {
  const children = Array.from({ length: WIDE }, (_, place) => ({
    company: other(place),
    selected: false,
    children: [],
  }));
  return { company, selected: true, children };
}

const isSelected = (node: GroupNode): boolean => node.selected;

const trim = (node: GroupNode): GroupNode => ({
  ...node,
  children: node.children.map((child) => ({ ...child, children: [] })),
});

function parentOfSelected(root: GroupNode): GroupNode | undefined {
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.children.some(isSelected)) return node;
    stack.push(...node.children);
  }
  return undefined;
}
