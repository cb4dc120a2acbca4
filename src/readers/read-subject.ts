import { originOf, type Reader, ReaderOutput, type SubjectAnswers } from './reader.js';

/** What a reader makes of one subject. A row of a table that it does not declare would have no file to go to. */
export function readSubject(reader: Reader, subject: SubjectAnswers, includeContacts: boolean): ReaderOutput {
  const out = new ReaderOutput(includeContacts);
  try {
    reader.read(subject, out);
  } catch (error) {
    return unread(subject, error);
  }
  for (const name of out.rows.keys()) {
    if (!reader.tables.some((table) => table.name === name))
      throw new TypeError(`the reader ${reader.name} does not declare the table ${name}`);
  }
  return out;
}

/** One subject that a reader cannot cope with does not cost the others their tables. */
function unread({ answers, row, stage }: SubjectAnswers, error: unknown): ReaderOutput {
  const out = new ReaderOutput();
  const [answer] = answers;
  const origin = answer === undefined ? { operation: '', rawSha256: '', row, stage, fetchedAt: 0 } : originOf(answer);
  const seen = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  out.issues.push({ origin, pointer: '', expected: 'an answer that can be read', seen, unread: true });
  return out;
}
