import { offsetOf } from './company.js';
import { filedFinancials } from './financials.js';
import { type ListOf, officers, shareholders } from './people.js';
import { type Answer, Gathered, Place } from './reading.js';

/** v2's officers, shareholders and filed statements: the same tables, under v2's ID (V2-9). */
export function v2Company(answer: Answer, v1Id: string | null, gathered: Gathered = new Gathered()): Gathered {
  const place = new Place(answer, gathered);
  const object = place.object(answer.body);
  if (object === undefined) return gathered;
  const of: ListOf = { v1: v1Id, v2: answer.id, offset: offsetOf(answer) };
  switch (answer.operation) {
    case 'kybOfficers':
      officers(object.data, of, place.at('data'));
      break;
    case 'kybShareholders':
      shareholders(object.data, of, place.at('data'));
      break;
    case 'kybFinancial':
      filedFinancials(object, of, place);
      break;
    default:
      throw new TypeError(`no table is made from ${answer.operation}`);
  }
  for (const [key, value] of Object.entries(object))
    if (!ENVELOPE.includes(key)) place.at(key).unexpected('no such field', value);
  return gathered;
}

const ENVELOPE = ['data', 'total_pages', 'total_results', 'years', 'groups'];
