import type { ExactJson } from '../../util/exact-json.js';
import { isObject } from './body-path.js';

const CONTACT = /^(?:.*_)?(?:e[-_]?mails?|(?:tele)?phones?|mobiles?|fax(?:es)?)(?:_(?:address(?:es)?|numbers?))?$/i;

/** The contacts of a domain: what a registrar's entry says of a person is not shown, so all of it is taken for a contact. */
export const REGISTRAR_CONTACT = /(?:^|_)contacts?(?:_|$)/i;

/** Takes e-mail addresses and phone numbers out of a body, wherever they stand. In place, and without recursion. */
export function removeContacts(body: ExactJson, named: RegExp = CONTACT): void {
  const pending: ExactJson[] = [body];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'object' && item !== null) pending.push(item);
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        const member = value[key];
        if (named.test(key)) delete value[key];
        else if (typeof member === 'object' && member !== null) pending.push(member);
      }
    }
  }
}
