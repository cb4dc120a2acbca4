import type { BatchApi } from '../domain/api-name.js';
import type { Operation } from './operation.js';
import { v1Operations } from './v1/operations.js';
import { v2Operations } from './v2/operations.js';

/** The connector server tells its tools itself. */
export const operationsByApi: Readonly<Record<BatchApi, Readonly<Record<string, Operation>>>> = {
  v1: v1Operations,
  v2: v2Operations,
};

export const allOperations: readonly Operation[] = Object.values(operationsByApi).flatMap((operations) =>
  Object.values(operations),
);
