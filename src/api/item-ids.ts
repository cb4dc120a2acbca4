import type { IdSpace } from '../domain/id-spaces.js';
import { allOperations } from './all-operations.js';

interface NamedIds {
  readonly items: Readonly<Record<string, readonly IdSpace[]>>;
  readonly params: Readonly<Record<string, readonly IdSpace[]>>;
}

/** By operation: where the items that it lists, and its parameters, keep IDs. */
export const itemIds: Readonly<Record<string, NamedIds>> = Object.fromEntries(
  allOperations.flatMap(({ name, itemIds: items, paramIds: params }) =>
    items === undefined && params === undefined ? [] : [[name, { items: spacesOf(items), params: spacesOf(params) }]],
  ),
);

function spacesOf(declared: Readonly<Record<string, IdSpace | readonly IdSpace[]>> = {}): NamedIds['items'] {
  return Object.fromEntries(Object.entries(declared).map(([member, spaces]) => [member, [spaces].flat()]));
}
