import { readFiledFinancials } from './parts/filed-financials.js';
import { type ListOf, offsetOf } from './parts/lists.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { readOfficers, readShareholders } from './parts/people.js';
import type { Reader } from './reader.js';
import { filedFinancialsTable } from './tables/filed-financials.js';
import { officersTable } from './tables/officers.js';
import { shareholdersTable } from './tables/shareholders.js';
import { sourcesTable } from './tables/sources.js';

/** v2's officers, shareholders and filed statements: the same tables, under v2's ID (V2-9). */
export const registryReader = {
  name: 'registry',
  space: 'v2',
  operations: ['kybOfficers', 'kybShareholders', 'kybFinancial'],
  tables: [officersTable, shareholdersTable, filedFinancialsTable, sourcesTable],
  read({ id, answers }, out) {
    for (const answer of answers) {
      const opened = openAnswer(answer, out);
      if (opened !== undefined) readAnswer(opened, id);
    }
  },
} as const satisfies Reader;

function readAnswer({ answer, body, path }: OpenedAnswer, id: string): void {
  const object = path.object(body);
  if (object === undefined) return;
  const of: ListOf = { v1: answer.ids.v1 ?? null, v2: id, offset: offsetOf(answer) };
  switch (answer.operation) {
    case 'kybOfficers':
      readOfficers(object.data, of, path.at('data'));
      break;
    case 'kybShareholders':
      readShareholders(object.data, of, path.at('data'));
      break;
    case 'kybFinancial':
      readFiledFinancials(object, of, path);
      break;
    default:
      throw new TypeError(`no table is made from ${answer.operation}`);
  }
  for (const [key, value] of Object.entries(object))
    if (!ENVELOPE.includes(key)) path.at(key).unexpected('no such field', value);
}

const ENVELOPE = ['data', 'total_pages', 'total_results', 'years', 'groups'];
