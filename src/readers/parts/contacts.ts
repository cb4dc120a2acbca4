import { isContactGroup, isContactName } from '../../util/contact-names.js';
import type { ExactJson } from '../../util/exact-json.js';
import { isObject, type JsonObject } from './body-path.js';

/** The contacts of a domain: what a registrar's entry says of a person is not shown, so all of it is taken for a contact. */
const REGISTRAR_CONTACT = /(?:^|_)contacts?(?:_|$)/i;

export const isRegistrarContact = (name: string): boolean => REGISTRAR_CONTACT.test(name);

/** What a group of contacts says of a company itself, and where it is from. */
const NOT_PERSONAL: ReadonlySet<string> = new Set(['website', 'linkedin', 'source']);

/** Takes e-mail addresses and phone numbers out of a body, wherever they stand. In place, and without recursion. */
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

/** That a group came stays, with nothing personal in it. */
function removeGroup(object: JsonObject, key: string): void {
  const group = object[key];
  if (isObject(group)) {
    for (const name of Object.keys(group)) if (!NOT_PERSONAL.has(name)) delete group[name];
  } else if (group !== null) delete object[key];
}
