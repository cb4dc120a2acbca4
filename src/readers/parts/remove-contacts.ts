// Removes e-mail addresses and phone numbers of people from answers.

import { type ExactJson, isObject, type JsonObject } from '../../util/exact-json.js';
import { isContactGroup, isContactName } from '../../util/sanitize-text.js';

/** The contacts of a domain. Their fields are not published, so the whole registrar entry counts as a contact. */
const REGISTRAR_CONTACT = /(?:^|_)contacts?(?:_|$)/i;

export const isRegistrarContact = (name: string): boolean => REGISTRAR_CONTACT.test(name);

/** Members of a contact group about the company itself and the source. */
const NOT_PERSONAL: ReadonlySet<string> = new Set(['website', 'linkedin', 'source']);

/** Removes e-mail addresses and phone numbers anywhere in a body, in place and without recursion. */
export function removeContacts(body: ExactJson, isContact: (name: string) => boolean = isContactName): void {
  const pending: ExactJson[] = [body];
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (Array.isArray(value)) {
      for (const item of value) if (typeof item === 'object' && item !== null) pending.push(item);
    } else if (isObject(value)) {
      for (const key of Object.keys(value)) {
        if (isContact(key)) delete value[key];
        else if (isContactGroup(key)) removeGroup(value, key);
        const member = Object.hasOwn(value, key) ? value[key] : undefined;
        if (typeof member === 'object' && member !== null) pending.push(member);
      }
    }
  }
}

/** The group stays, without its personal members. */
function removeGroup(object: JsonObject, key: string): void {
  const group = object[key];
  if (isObject(group)) {
    for (const name of Object.keys(group)) if (!NOT_PERSONAL.has(name)) delete group[name];
  } else if (group !== null) delete object[key];
}
