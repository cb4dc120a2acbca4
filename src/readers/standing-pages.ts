import { allOperations } from '../api/all-operations.js';
import { pageOf } from '../util/list-page.js';
import { isObject } from './parts/body-path.js';
import { newestReading } from './parts/newest-reading.js';
import { tryParse } from './parts/open-answer.js';
import type { RawAnswer } from './reader.js';

const PAGED: ReadonlySet<string> = new Set(
  allOperations.flatMap(({ name, pages }) => (pages === undefined ? [] : [name])),
);

/** Whether an operation gives a list page by page. */
export const isPaged = (operation: string): boolean => PAGED.has(operation);

/** Of all answers to one list, those that have been replaced included: the pages of the reading that stands. */
export function standingPages(answers: readonly RawAnswer[]): readonly RawAnswer[] {
  const pages = answers.flatMap((answer) => {
    const body = tryParse(answer.body);
    return isObject(body) ? [{ ...pageOf(answer, body, null), answer }] : [];
  });
  return newestReading(pages).map(({ at }) => at.answer);
}
