import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import type { Cell } from '../table.js';
import type { BodyPath } from './body-path.js';

/** A figure as it was sent: its text and what kind of JSON value it was (V1-23). */
export interface Value {
  readonly value: Cell;
  readonly value_type: string;
}

export function readValue(value: ExactJson, path: () => BodyPath): Value {
  if (value instanceof ExactNumber) return { value: value.text, value_type: 'number' };
  if (typeof value === 'string') return { value, value_type: 'string' };
  if (value === null) return { value: null, value_type: 'null' };
  if (typeof value === 'boolean') return { value: String(value), value_type: 'boolean' };
  path().unexpected('a number, text, true, false or null', value);
  return { value: stringifyExact(value), value_type: Array.isArray(value) ? 'array' : 'object' };
}
