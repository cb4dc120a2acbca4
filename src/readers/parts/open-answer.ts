import { type ExactJson, parseExact } from '../../util/exact-json.js';
import type { RawAnswer, ReaderOutput } from '../reader.js';
import { BodyPath } from './body-path.js';
import { removeContacts } from './contacts.js';

/** An answer whose body is JSON, and the path to begin at. */
export interface OpenedAnswer {
  readonly answer: RawAnswer;
  readonly body: ExactJson;
  readonly path: BodyPath;
}

/** Without people's e-mail and phone, unless they are wanted. Undefined, and an issue, if it is no JSON. */
export function openAnswer(answer: RawAnswer, out: ReaderOutput): OpenedAnswer | undefined {
  const opened = openWhole(answer, out);
  if (opened !== undefined && !out.includeContacts) removeContacts(opened.body);
  return opened;
}

/** The same for bodies that hold no people. */
export function openWhole(answer: RawAnswer, out: ReaderOutput): OpenedAnswer | undefined {
  const path = new BodyPath(answer, out);
  const body = tryParse(answer.body);
  if (body !== undefined) return { answer, body, path };
  path.unexpected('JSON', answer.body.toString('utf8', 0, 60));
  return undefined;
}

export function tryParse(body: Buffer): ExactJson | undefined {
  try {
    return parseExact(body);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
