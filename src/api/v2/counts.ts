import { ExactNumber } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { outsideText } from '../../util/outside-text.js';

/** A figure that is no count is none: `unread` keeps it as it was sent. */
export function countOf(value: unknown): number | null {
  const count = value instanceof ExactNumber ? Number(value.text) : Number.NaN;
  return Number.isSafeInteger(count) ? count : null;
}

/** Fields that were not read, and figures that are no counts, as they were sent. */
export const unread = (
  answer: Readonly<Record<string, unknown>>,
  read: readonly string[],
  counts: readonly string[] = [],
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(answer).filter(
      ([name, value]) => value != null && (counts.includes(name) ? countOf(value) === null : !read.includes(name)),
    ),
  );

/** As JSON; null where there is nothing of the kind. */
export const asExtra = (others: Readonly<Record<string, unknown>>): string | null =>
  Object.keys(others).length === 0 ? null : kept(stringifyExact(others));

/** Some words beside a count, and no more. */
const LONGEST = 4_000;

function kept(json: string): string {
  const text = outsideText(json, LONGEST + 1);
  return text.length <= LONGEST ? text : JSON.stringify({ cut: text.slice(0, LONGEST) });
}
