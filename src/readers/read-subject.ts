import { type Reader, ReaderOutput, type SubjectAnswers } from './reader.js';

/** What a reader makes of one subject. A row of a table that it does not declare would have no file to go to. */
export function readSubject(reader: Reader, subject: SubjectAnswers, includeContacts: boolean): ReaderOutput {
  const out = new ReaderOutput(includeContacts);
  reader.read(subject, out);
  for (const name of out.rows.keys()) {
    if (!reader.tables.some((table) => table.name === name))
      throw new TypeError(`the reader ${reader.name} does not declare the table ${name}`);
  }
  return out;
}
