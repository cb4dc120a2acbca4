import type { ExactJson } from '../../util/exact-json.js';
import { isPlainObject } from './fields.js';

/** The only status whose meaning is known. */
export const FINISHED = 'finish';

/**
 * `true` is shown as the answer of the status check, how it is wrapped is not (V2-19): a bare `true`, a `status` of
 * true or `finish`, or whatever else the one yes or no of an object is called. Everything else is "not yet".
 */
export function saysReady(answer: ExactJson): boolean {
  if (!isPlainObject(answer)) return answer === true;
  if (Object.hasOwn(answer, 'status')) return answer.status === true || answer.status === FINISHED;
  // Whether it has expired is something else.
  const said = Object.entries(answer).filter(([name, value]) => typeof value === 'boolean' && name !== 'expired');
  return said.length === 1 && said[0]?.[1] === true;
}
