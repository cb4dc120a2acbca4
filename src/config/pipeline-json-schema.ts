import { z } from 'zod';
import { pipelineFile } from './pipeline-schema.js';

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly description?: string;
  readonly default?: unknown;
  readonly propertyNames?: { readonly enum?: readonly string[] };
}

/** The pipeline file as a JSON schema, for editors. */
export function pipelineJsonSchema(): Readonly<Record<string, unknown>> & SchemaNode {
  const schema = z.toJSONSchema(pipelineFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: 'kybatch pipeline' } as Readonly<Record<string, unknown>> & SchemaNode;
}

/** Every key of the file by its dotted path, sections included. */
export function pipelineKeys(): ReadonlyMap<string, SchemaNode> {
  return new Map(keysBelow(pipelineJsonSchema(), ''));
}

function keysBelow(node: SchemaNode, prefix: string): [string, SchemaNode][] {
  return Object.entries(node.properties ?? {}).flatMap(([key, child]): [string, SchemaNode][] => [
    [`${prefix}${key}`, child],
    ...keysBelow(child, `${prefix}${key}.`),
  ]);
}
