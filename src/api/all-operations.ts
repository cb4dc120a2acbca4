import type { ApiName, Operation } from './operation.js';
import { v1Operations } from './v1/operations.js';
import { v2Operations } from './v2/operations.js';

export const operationsByApi: Readonly<Record<ApiName, Readonly<Record<string, Operation>>>> = {
  v1: v1Operations,
  v2: v2Operations,
};

export const allOperations: readonly Operation[] = Object.values(operationsByApi).flatMap((operations) =>
  Object.values(operations),
);
