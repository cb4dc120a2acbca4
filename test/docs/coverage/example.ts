import type { Leaf, Shape } from './documented.js';

/** A body with each documented field once, each with a unique value, and the place of each value. */
export interface Example {
  readonly body: Buffer;
  readonly fields: readonly Field[];
}

export interface Field {
  /** For example `data[].id`. */
  readonly path: string;
  readonly leaf: Leaf;
  /** The text in a cell. */
  readonly value: string;
}

export function exampleOf(shape: Shape): Example {
  const fields: Field[] = [];
  const fill = (part: Shape, path: string): unknown => {
    if (typeof part === 'string') {
      const value = uniqueValue(part, fields.length);
      fields.push({ path, leaf: part, value: String(value) });
      return value;
    }
    if (Array.isArray(part)) return [fill(part[0] as Shape, `${path}[]`)];
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [name, fill(inner, path === '' ? name : `${path}.${name}`)]),
    );
  };
  return { body: Buffer.from(JSON.stringify(fill(shape, ''))), fields };
}

/** Unique values, except for booleans. */
function uniqueValue(leaf: Leaf, index: number): string | number | boolean {
  switch (leaf) {
    case 'text':
      // Without a blank, because an ID must be usable in a request.
      return `value-${index + 1000}`;
    case 'digits':
      return String(700_000 + index);
    case 'number':
      return 700_000 + index;
    case 'year':
      return 5_000 + index;
    case 'date':
      return `19${String(10 + (index % 80))}-0${1 + Math.floor(index / 80)}-11`;
    case 'boolean':
      return true;
  }
}
