import type { IdSpace } from '../domain/id-spaces.js';
import { allOperations } from './all-operations.js';

/** By operation: where the items that it lists keep IDs. */
export const itemIds: Readonly<Record<string, Readonly<Record<string, IdSpace>>>> = Object.fromEntries(
  allOperations.flatMap(({ name, itemIds: declared }) => (declared === undefined ? [] : [[name, declared]])),
);
