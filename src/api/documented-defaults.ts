import { z } from 'zod';

type Params = Readonly<Record<string, unknown>>;

const documented = z.registry<{ readonly value: unknown }>();

/** A parameter for which the document says what holds where it is left out. */
export function defaultsTo<Value extends z.ZodType>(schema: Value, value: z.output<Value>): z.ZodOptional<Value> {
  const optional = schema.optional();
  documented.add(optional, { value });
  return optional;
}

/**
 * The parameters without those that say what holds anyway: with them and without, it is the same question, and its answer
 * is owned once. Defaults that the document does not show are nobody's to leave out.
 */
export function withoutDefaults(schema: z.ZodType, params: Params): Params {
  const defaults = defaultsOf(schema);
  const isSaidAnyway = ([name, value]: readonly [string, unknown]) => params[name] === value;
  if (!defaults.some(isSaidAnyway)) return params;
  const rest = { ...params };
  for (const entry of defaults) if (isSaidAnyway(entry)) delete rest[entry[0]];
  return rest;
}

type Defaults = readonly (readonly [name: string, value: unknown])[];

/** Every call is prepared, and the schemas do not change. */
const known = new WeakMap<z.ZodType, Defaults>();

function defaultsOf(schema: z.ZodType): Defaults {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const shape: Readonly<Record<string, z.core.$ZodType>> = schema instanceof z.ZodObject ? schema.shape : {};
  const defaults = Object.entries(shape).flatMap(([name, parameter]) => {
    const found = documented.get(parameter);
    return found === undefined ? [] : [[name, found.value] as const];
  });
  known.set(schema, defaults);
  return defaults;
}
