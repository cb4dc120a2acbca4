import type { BatchApi, IdSpace } from '../domain/provider.js';
import type { Operation } from './operation.js';
import { v1Operations } from './v1/operations.js';
import { v2Operations } from './v2/operations.js';

/** The MCP server lists its own tools. */
export const operationsByApi: Readonly<Record<BatchApi, Readonly<Record<string, Operation>>>> = {
  v1: v1Operations,
  v2: v2Operations,
};

export const allOperations: readonly Operation[] = Object.values(operationsByApi).flatMap((operations) =>
  Object.values(operations),
);

interface NamedIds {
  readonly items: Readonly<Record<string, readonly IdSpace[]>>;
  readonly params: Readonly<Record<string, readonly IdSpace[]>>;
}

/** By operation: the fields of its items and its parameters that hold IDs. */
export const itemIds: Readonly<Record<string, NamedIds>> = Object.fromEntries(
  allOperations.flatMap(({ name, itemIds: items, paramIds: params }) =>
    items === undefined && params === undefined ? [] : [[name, { items: spacesOf(items), params: spacesOf(params) }]],
  ),
);

function spacesOf(declared: Readonly<Record<string, IdSpace | readonly IdSpace[]>> = {}): NamedIds['items'] {
  return Object.fromEntries(Object.entries(declared).map(([member, spaces]) => [member, [spaces].flat()]));
}
