import { hash } from 'node:crypto';
import type { Operation } from '../../api/operation.js';
import type { Answer } from '../../calls/outcome.js';
import type { RawAnswer } from '../../readers/reader.js';

/** An answer of the door's, as readers take it. */
export const answerAsRead = (
  { name: operation }: Operation,
  params: Readonly<Record<string, unknown>>,
  { body, fetchedAt }: Answer,
): RawAnswer => ({
  operation,
  params,
  body,
  fetchedAt,
  rawSha256: hash('sha256', body),
  ids: {},
  country: null,
  row: null,
  stage: null,
});
