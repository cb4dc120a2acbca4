import type { IdSpace } from '../domain/id-spaces.js';
import type { Operation } from './operation.js';
import { v1Operations } from './v1/operations.js';
import { v2Operations } from './v2/operations.js';

const operations: readonly Operation[] = [...Object.values(v1Operations), ...Object.values(v2Operations)];

/** By operation: where the items that it lists keep IDs. */
export const itemIds: Readonly<Record<string, Readonly<Record<string, IdSpace>>>> = Object.fromEntries(
  operations.flatMap(({ name, itemIds: declared }) => (declared === undefined ? [] : [[name, declared]])),
);
