import { type ExactJson, ExactNumber } from '../util/exact-json.js';
import type { BodyPath, JsonObject } from './parts/body-path.js';
import { readFiledFinancials } from './parts/filed-financials.js';
import { emptyOf, type ListOf, type ListRead, oddOf, offsetOf } from './parts/lists.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { readOfficers, readShareholders } from './parts/people.js';
import type { Members } from './parts/read-fields.js';
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

/** v2 has no line for the company: what no line of a list holds is an issue, with all of it. */
function readAnswer({ answer, body, path }: OpenedAnswer, id: string): void {
  const object = path.object(body);
  if (object === undefined) {
    path.left('a record', body);
    return;
  }
  const of: ListOf = { v1: answer.ids.v1 ?? null, v2: id, offset: offsetOf(answer) };
  for (const [name, value] of readList(answer.operation, object, of, path))
    path.at(name).left('a line of its own', value);
  for (const [key, value] of Object.entries(object))
    if (!isRead(answer.operation, key, value)) path.at(key).left('no such field', value);
}

/** What was left over. */
function readList(operation: string, object: JsonObject, of: ListOf, path: BodyPath): Members {
  switch (operation) {
    case 'kybOfficers':
      return leftOf(object, readOfficers(object.data, of, path.at('data')));
    case 'kybShareholders':
      return leftOf(object, readShareholders(object.data, of, path.at('data')));
    case 'kybFinancial':
      return readFiledFinancials(object, of, path).rest;
    default:
      throw new TypeError(`no table is made from ${operation}`);
  }
}

/** A list that came empty has no line to say so: it is told from one that did not come (V1-22). */
const leftOf = ({ data }: JsonObject, { odd }: ListRead): Members => [...emptyOf('data', data), ...oddOf('data', odd)];

/** The totals describe the list: how many came is in the lines themselves. */
const isRead = (operation: string, key: string, value: ExactJson): boolean => {
  if (operation === 'kybFinancial') return key === 'years' || key === 'groups';
  return key === 'data' || (/^total_(?:pages|results)$/.test(key) && value instanceof ExactNumber);
};
