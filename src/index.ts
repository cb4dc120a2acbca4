/** The library's public list. */
export { readAnswer } from './api/answer.js';
export { ApiClient, type CallOptions, type ClientOptions, type PreparedCall, type Reply } from './api/client.js';
export { ApiError, type Limit } from './api/errors.js';
export type { Exchange } from './api/exchange.js';
export type { BodyOf, Operation, ParamsOf, Route } from './api/operation.js';
export { type Id, idText } from './api/schema.js';
export { readAllowance, type V1Allowance, type V1Quota } from './api/v1/allowance.js';
export { KybV1Client } from './api/v1/client.js';
export { type V1OperationName, v1Operations } from './api/v1/operations.js';
export { PlatformV2Client, type V2ClientOptions } from './api/v2/client.js';
export { type V2OperationName, v2Operations } from './api/v2/operations.js';
export { parseRoutes, type Routes } from './api/v2/routes.js';
export { type Charge, type ErrorClass, KybatchError, type StopReason, UsageError } from './domain/errors.js';
export { ExitCode } from './domain/exit-codes.js';
export { type Sandbox, type SandboxOptions, startSandbox } from './sandbox/index.js';
export { type Clock, ManualClock, systemClock } from './util/clock.js';
export { type ExactJson, ExactNumber, parseExact } from './util/exact-json.js';
export { stringifyExact } from './util/exact-json-write.js';
