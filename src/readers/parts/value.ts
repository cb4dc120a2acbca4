import { type ExactJson, ExactNumber } from '../../util/exact-json.js';
import type { Cell } from '../table.js';
import type { BodyPath } from './body-path.js';

/** A figure as it was sent: its text and what kind of JSON value it was (V1-23). */
export interface Value {
  readonly value: Cell;
  readonly value_type: string;
}

/** Undefined for a list or an object: no line can hold one, and the issue does. */
export function readValue(value: ExactJson, path: () => BodyPath): Value | undefined {
  if (value instanceof ExactNumber) return { value: value.text, value_type: 'number' };
  if (typeof value === 'string') return { value, value_type: 'string' };
  if (value === null) return { value: null, value_type: 'null' };
  if (typeof value === 'boolean') return { value: String(value), value_type: 'boolean' };
  path().left('a number, text, true, false or null', value);
  return undefined;
}
