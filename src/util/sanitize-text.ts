import { redact } from './secret.js';

/**
 * The one place where text from outside (a provider's error, a header, a cell of somebody's file) is made fit to be shown
 * or kept as a message: one line, nothing that moves a cursor, turns the direction of reading or hides, no key, and not
 * too long. It is cleaned before it is cut: half a key is a leak too. Raw answers, and the data read from them, are not
 * messages, and stay as they are.
 */
export function sanitizeText(text: string, atMost = 2000): string {
  // What is far behind the cut need not be looked at; a key that is shortened here is behind it still.
  const seen = text.length > READ_AT_MOST ? text.slice(0, READ_AT_MOST) : text;
  const line = PLAIN.test(seen)
    ? seen
    : seen
        .replace(/\p{Cf}+/gu, '')
        .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
        .replace(/\p{Cs}/gu, '\ufffd');
  return redact(line.trim()).slice(0, atMost);
}

/** Nothing to clean: nearly every text, and some come with every answer. */
const PLAIN = /^[ -~]*$/;

const READ_AT_MOST = 100_000;

/**
 * For the terminal, where whole pages are printed: what would steer it, or turn the direction of reading, is written out as
 * `\u001b`. In JSON that means the same; line ends and tabs stay.
 */
export const escapeControlCharacters = (text: string): string =>
  redact(text).replace(
    /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );

const CONTACT =
  /^(?:.*_)?(?:e_?mails?|mails?|(?:tele|cell)?_?phones?|tel|cell|mobiles?|fax(?:es)?|direct_dials?)(?:_(?:address(?:es)?|numbers?))?$/;

/** Does a member of this name hold an e-mail address or a phone number? However its words are put together. */
export const isContactName = (name: string): boolean =>
  CONTACT.test(inWords(name)) || /_contacts?$/.test(inWords(name));

/** Is it a group of ways to reach somebody? */
export const isContactGroup = (name: string): boolean => /^contacts?$/.test(inWords(name));

/** `emailAddress`, `E-Mail` → `email_address`, `e_mail` */
const inWords = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[-\s.]+/g, '_')
    .toLowerCase();

/** Also with another width of the at sign, as a URL writes it, at an IP address, and with the first part in quotation marks. */
const ADDRESS =
  /(?:[^\s@＠﹫"'\\<>()[\]{},;:/]{1,64}|\\"[^"\\]{1,64}\\"|^"[^"\\]{1,64}")(?:[@＠﹫]|%40)(?:(?:[\p{L}\p{N}-]{1,63}\.){1,10}(?:xn--[a-z\d-]{1,59}|\p{L}{2,63})|\[[\da-f.:]{2,45}\])/giu;

const AT_SIGN = /[@＠﹫]|%40/;

/** The text without e-mail addresses, in JSON as elsewhere. */
export const withoutEmails = (text: string): string => (AT_SIGN.test(text) ? text.replace(ADDRESS, '(removed)') : text);
