import { type ExactJson, isObject, type JsonObject } from './exact-json.js';
import { redact } from './secret.js';
import { Memo } from './text-limits.js';

/**
 * Makes outside text (a provider's error, a header, a cell) fit to be shown or stored as a message. It is one line of
 * limited length without a key. Characters that move a cursor, change the reading direction or hide are removed. It is
 * cleaned before it is cut, because half a key is a leak too. Raw answers and the data read from them stay unchanged.
 */
export function sanitizeText(text: string, atMost = 2000): string {
  // Text far behind the cut need not be cleaned. A key that is cut here is behind the final cut too.
  const seen = text.length > READ_AT_MOST ? text.slice(0, READ_AT_MOST) : text;
  const line = PLAIN.test(seen)
    ? seen
    : seen
        .replace(/\p{Cf}+/gu, '')
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .replace(/\p{Cs}/gu, '\ufffd');
  return redact(line.trim()).slice(0, atMost);
}

/** Nothing to clean, which holds for nearly every text, and some come with every answer. */
const PLAIN = /^[ -~]*$/;

const READ_AT_MOST = 100_000;

/**
 * For the terminal: control characters and changes of the reading direction are written as `\u001b`, which means the
 * same in JSON. Line ends and tabs stay.
 */
export const escapeControlCharacters = (text: string): string =>
  redact(text).replace(
    /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );

/**
 * Many CSV readers end a file or a cell at a NUL, and a terminal obeys an escape. The stored answer keeps them, and so
 * do Parquet and JSON. Tabs and line ends stay.
 */
export const withoutControls = (text: string): string => text.replace(CONTROLS, '\ufffd');

const CONTROLS = /[^\P{Cc}\t\n\r]/gu;

/**
 * Words for an e-mail address or a phone number, as names of members. Digits alone may be any number, so only the name
 * tells that they are a phone number.
 */
const CONTACT_WORDS = [
  ['e_?mails?', 'mails?', 'mailto', 'courriels?', 'correos?(?:_electr[oó]nicos?)?', 'posta_elettronica'],
  [
    '(?:tele|cell|smart|land|home|work)?_?phones?',
    't[eé]l[eé]phones?',
    'telefons?',
    'telefoon',
    'tel[eé]fono',
    'telefone',
  ],
  ['tel', 'rufnummern?', 'durchwahl', 'direct_dials?', 'landlines?', 'festnetz', 'msisdn', 'sms'],
  ['mobiles?', 'cell', 'cellulare?', 'celular', 'm[oó]vil', 'mobiel', 'mobil', 'handy', 'natel', 'gsm', 'portables?'],
  ['(?:tele)?fax(?:es)?', 'whats_?app', 'viber', 'we_?chat'],
].flat();

const CONTACT = new RegExp(
  `^(?:.*_)?(?:${CONTACT_WORDS.join('|')})(?:_?(?:address(?:es)?|adresse|numbers?|nummer|numm?ero|n[uú]mero|nr|no))?$`,
);

/** Whether a member of this name holds an e-mail address or phone number, in any spelling. */
export const isContactName = (name: string): boolean => kindOfName(name) === 'contact';

export const isContactGroup = (name: string): boolean => kindOfName(name) === 'group';

/** The same few names are in every body. */
const kinds = new Memo<'contact' | 'group' | 'other'>();

const kindOfName = (name: string) =>
  kinds.getOrCompute(name, () => {
    const words = inWords(name);
    if (CONTACT.test(words) || /_contacts?$/.test(words)) return 'contact';
    return /^contacts?$/.test(words) ? 'group' : 'other';
  });

/** `emailAddress`, `E-Mail` → `email_address`, `e_mail` */
const inWords = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[-\s.]+/g, '_')
    .toLowerCase();

/** Also with other forms of the at sign and the dot, as in a URL, at an IP address, and with a quoted first part. */
const ADDRESS =
  /(?:[^\s@＠﹫"'\\<>()[\]{},;:/]{1,64}|\\"[^"\\]{1,64}\\"|^"[^"\\]{1,64}")(?:[@＠﹫]|%40|\s?[([{]\s?at\s?[)\]}]\s?)(?:(?:[\p{L}\p{N}-]{1,63}(?:\.|\s?[([{]\s?dot\s?[)\]}]\s?)){1,10}(?:xn--[a-z\d-]{1,59}|\p{L}{2,63})|\[[\da-f.:]{2,45}\])/giu;

const AT_SIGN = /[@＠﹫]|%40|[([{]\s?at\s?[)\]}]/i;

/** The text without e-mail addresses, also inside JSON. */
export const withoutEmails = (text: string): string => (AT_SIGN.test(text) ? text.replace(ADDRESS, '(removed)') : text);

/** JSON without e-mail addresses and phone numbers: its members may have any name. */
export const withoutAnyContactsInJson = (json: string): string =>
  withoutEmails(MAYBE_PHONE.test(json) ? json.replace(JSON_TEXT, (_, text) => `"${withoutPhones(text)}"`) : json);

/** Bare digits may be any number, so a phone number is recognized only by a plus sign or brackets. */
const withoutPhones = (text: string): string => {
  if (!MAYBE_PHONE.test(text)) return text;
  if (IN_BRACKETS.test(text) && /^(?:\D*\d){8,15}\D*$/.test(text)) return '(removed)';
  return text.replace(INTERNATIONAL, (found) => (/^\+\d+\.\d+$/.test(found) ? found : '(removed)'));
};

const MAYBE_PHONE = /[+(]\s?\d/;
const IN_BRACKETS = /^[\d\s./-]*\(\d{1,5}\)[\d\s./-]*\d\s*$/;
const INTERNATIONAL = /(?<![\p{L}\p{N}.,])\+\s?[1-9](?:[\s()./-]{0,3}\d){6,14}(?!\d)/gu;
const JSON_TEXT = /"((?:[^"\\]|\\.)*)"/gs;

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
