import {
  type RawAnswer,
  type Reader,
  type ReaderOutput,
  readSubject,
  type SubjectAnswers,
} from '../../src/readers/reader.js';

export const answer = (operation: string, body: string, more: Partial<RawAnswer> = {}): RawAnswer => ({
  operation,
  params: {},
  ids: {},
  body: Buffer.from(body),
  rawSha256: 'sha',
  row: 1,
  stage: 'record',
  country: null,
  fetchedAt: Date.parse('2026-01-31T12:00:00Z'),
  ...more,
});

/** The reader's output for answers about the subject 77. */
export function read(
  reader: Reader,
  answers: readonly RawAnswer[],
  more: Partial<SubjectAnswers> & { readonly includeContacts?: boolean } = {},
): ReaderOutput {
  const { includeContacts = true, ...subject } = more;
  const known = { id: '77', ids: {}, row: 1, stage: 'record', country: null, name: null, answers, ...subject };
  return readSubject(reader, known, includeContacts);
}

export const issuesOf = ({ issues }: ReaderOutput): readonly string[] =>
  issues.map(({ pointer, seen }) => `${pointer}: ${seen}`);
