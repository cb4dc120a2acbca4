import type { Json } from '../json.js';
import { write } from '../json.js';
import type { Reply } from '../messages.js';
import type { Settings, V2ErrorKind } from '../options.js';
import type { Problems } from '../validate.js';

/** A refused request: the kind decides the status, which the document does not show. */
export class V2Failure {
  constructor(
    readonly kind: V2ErrorKind,
    readonly body: Json,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export const detail = (kind: V2ErrorKind, message: string): V2Failure => new V2Failure(kind, { detail: message });
export const notFound = (): V2Failure => detail('notFound', 'Not found.');
export const invalid = (problems: Problems): V2Failure => new V2Failure('validation', Object.fromEntries(problems));
export const invalidField = (field: string, message: string): V2Failure =>
  new V2Failure('validation', { [field]: [message] });
export const ruleFailure = (message: string): V2Failure => new V2Failure('rule', { fields: [message] });

export function v2Reply(outcome: Json | V2Failure, settings: Settings): Reply {
  if (!(outcome instanceof V2Failure)) return { status: 200, headers: json, body: write(outcome) };
  return {
    status: settings.v2ErrorStatus[outcome.kind],
    headers: { ...json, ...outcome.headers },
    body: write(outcome.body),
  };
}

export const json = { 'Content-Type': 'application/json' };
