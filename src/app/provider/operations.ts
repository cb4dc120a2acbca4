// Lists the operations of an API with their parameters, for people.

import { z } from 'zod';
import { operationsByApi } from '../../api/all-operations.js';
import type { Operation } from '../../api/operation.js';
import { UsageError } from '../../domain/errors.js';
import type { BatchApi } from '../../domain/provider.js';
import { didYouMean } from '../../util/message-parts.js';

export interface ParameterView {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
}

export interface OperationView {
  readonly operation: string;
  readonly summary: string;
  /** Null if the routes file has it, and for a tool. */
  readonly method: string | null;
  readonly path: string | null;
  readonly scopes: readonly string[];
  readonly parameters: readonly ParameterView[];
}

export const operations = (api: BatchApi): readonly OperationView[] =>
  Object.values(operationsByApi[api]).map((operation) => ({
    operation: operation.name,
    summary: operation.summary,
    method: operation.route?.method ?? null,
    path: operation.route?.path ?? null,
    scopes: operation.scopes,
    parameters: parametersIn(schemaOf(operation)),
  }));

export function operationNamed(api: BatchApi, name: string): Operation {
  const found = Object.hasOwn(operationsByApi[api], name) ? operationsByApi[api][name] : undefined;
  if (found !== undefined) return found;
  const hint = didYouMean(name, Object.keys(operationsByApi[api]));
  throw new UsageError(
    'OPERATION_NOT_FOUND',
    `${api} has no operation ${name}.${hint}`,
    `\`kybatch call ${api}\` lists them.`,
  );
}

/** The part of JSON Schema that is shown to people. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

const schemaOf = (operation: Operation): JsonSchema =>
  z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' }) as JsonSchema;

export function parametersIn(schema: JsonSchema): readonly ParameterView[] {
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    required: schema.required?.includes(name) ?? false,
    type: typeText(property),
    description: property.description ?? '',
  }));
}

function typeText(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => String(value)).join(' | ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.filter(hasForm).map(typeText))].join(' or ');
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'values' : typeText(schema.items)}`;
  if (schema.type === 'object' && schema.properties !== undefined)
    return `{ ${Object.keys(schema.properties).join(', ')} }`;
  return `${typeof schema.type === 'string' ? schema.type : 'value'}${boundsText(schema)}`;
}

/** An `ExactNumber` has no form in JSON Schema. It is always an alternative to a number. */
const hasForm = (schema: JsonSchema): boolean => Object.keys(schema).length > 0;

function boundsText(schema: JsonSchema): string {
  // JSON Schema writes "any safe integer" as bounds, which help no reader.
  const least = schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER ? schema.minimum : undefined;
  const most = schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER ? schema.maximum : undefined;
  if (least !== undefined && most !== undefined) return ` ${least} to ${most}`;
  if (least !== undefined) return ` from ${least}`;
  return most === undefined ? '' : ` up to ${most}`;
}
