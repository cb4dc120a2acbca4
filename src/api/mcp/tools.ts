import { z } from 'zod';
import type { Operation } from '../operation.js';
import { list, looseObject, nullOrAbsent, text } from '../schema.js';
import { opaque } from '../v2/fields.js';

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

const shared = { api: 'mcp', route: null, scopes: [], subject: null } as const;

/** The `result` of `tools/call`. Its content is left to the caller. */
export const toolResult = looseObject({
  content: nullOrAbsent(list(looseObject({ type: text, text: nullOrAbsent(text) }))),
  structuredContent: nullOrAbsent(opaque),
  isError: nullOrAbsent(z.boolean()),
});

const anyParams = z.record(z.string(), z.unknown());

/**
 * A tool is an operation like those of v2: it uses the same account and has no published price. Without its schema
 * nothing is checked, which is enough to find a stored answer.
 */
export const toolOperation = (name: string, tool?: Tool): Operation => ({
  ...shared,
  name,
  summary: tool?.description ?? '',
  params: (tool && paramsOf(tool.inputSchema)) ?? anyParams,
  body: toolResult,
  meter: 'not_told',
  keep: { days: 30 },
});

export const listing: Operation = {
  ...shared,
  name: 'tools/list',
  summary: 'The tools of the MCP server',
  params: anyParams,
  body: looseObject({ tools: z.array(z.unknown()) }),
  meter: 'free',
  keep: 'never',
};

export const handshake: Operation = {
  ...listing,
  name: 'initialize',
  summary: 'Begin a session',
  body: looseObject({}),
};

/** Undefined if the schema has a part that cannot be checked here: then the server checks it. */
function paramsOf(schema: Tool['inputSchema']): z.ZodType | undefined {
  try {
    const text = JSON.stringify(schema);
    const references = text.split('"$ref"').length - 1;
    if (text.length > LONGEST_SCHEMA || references > MOST_REFERENCES) return undefined;
    // A schema that refers to itself, or definitions that refer to each other, may never end.
    const definitions = JSON.stringify([schema.$defs, schema.definitions]);
    if (text.includes('"$ref":"#"') || definitions.includes('"$ref"')) return undefined;
    if (text.includes('"patternProperties"')) return undefined;
    return z.fromJSONSchema(withoutFormatsAndSlowPatterns(text));
  } catch {
    return undefined;
  }
}

const LONGEST_SCHEMA = 64 * 1024;
/** Each reference may double the work. */
const MOST_REFERENCES = 20;

/** Parses a schema. A format only describes and refuses nothing, and a slow pattern is left to the server. */
const withoutFormatsAndSlowPatterns = (schema: string): Tool['inputSchema'] =>
  JSON.parse(schema, (name, value: unknown) => {
    if (typeof value !== 'string') return value;
    return name === 'format' || (name === 'pattern' && !isHarmless(value)) ? undefined : value;
  }) as Tool['inputSchema'];

/** A pattern may take exponential time. Without groups and with one repetition it is at most quadratic. */
const isHarmless = (pattern: string): boolean =>
  !pattern.includes('(') && (pattern.match(/[*+?]|\{\d*,|\{\d{3,}/g) ?? []).length <= 1;
