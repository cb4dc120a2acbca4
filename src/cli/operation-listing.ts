import { z } from 'zod';
import type { Operation } from '../api/operation.js';

export interface ParameterView {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
}

export interface OperationView {
  readonly operation: string;
  readonly summary: string;
  readonly method: string | null;
  readonly path: string | null;
  readonly scopes: readonly string[];
  readonly parameters: readonly ParameterView[];
}

export function describeOperations(operations: Readonly<Record<string, Operation>>): readonly OperationView[] {
  return Object.values(operations).map((operation) => ({
    operation: operation.name,
    summary: operation.summary,
    method: operation.route?.method ?? null,
    path: operation.route?.path ?? null,
    scopes: operation.scopes,
    parameters: parametersOf(operation),
  }));
}

/** A page for people: every operation, where it goes, and what it takes. */
export function listOperations(api: 'v1' | 'v2', operations: Readonly<Record<string, Operation>>): string {
  const blocks = describeOperations(operations).map((view) => {
    const route =
      view.path === null ? 'method and path from the routes file (KYBATCH_V2_ROUTES)' : `${view.method} ${view.path}`;
    const width = Math.max(0, ...view.parameters.map((parameter) => parameter.name.length + 1));
    const lines = view.parameters.map(({ name, required, type, description }) => {
      const label = `${name}${required ? '*' : ''}`.padEnd(width);
      return `    ${label}  ${type}${description === '' ? '' : `: ${description}`}`;
    });
    return [`${view.operation}: ${view.summary}`, `    ${route}`, ...lines].join('\n');
  });
  const example = api === 'v1' ? `searchKyb --params '{"location":"GB","name":"Aber"}'` : 'metrics';
  return `${blocks.join('\n\n')}\n\n* required. Call one: kybatch call ${api} ${example}\n`;
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

function parametersOf(operation: Operation): readonly ParameterView[] {
  const schema = z.toJSONSchema(operation.params, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
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
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeText))].join(' or ');
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'values' : typeText(schema.items)}`;
  if (schema.type === 'object' && schema.properties !== undefined)
    return `{ ${Object.keys(schema.properties).join(', ')} }`;
  return `${typeof schema.type === 'string' ? schema.type : 'value'}${boundsText(schema)}`;
}

function boundsText(schema: JsonSchema): string {
  // JSON Schema writes "any safe integer" as bounds; those tell nobody anything.
  const least = schema.minimum !== undefined && schema.minimum > Number.MIN_SAFE_INTEGER ? schema.minimum : undefined;
  const most = schema.maximum !== undefined && schema.maximum < Number.MAX_SAFE_INTEGER ? schema.maximum : undefined;
  if (least !== undefined && most !== undefined) return ` ${least} to ${most}`;
  if (least !== undefined) return ` from ${least}`;
  return most === undefined ? '' : ` up to ${most}`;
}
