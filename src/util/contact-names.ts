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
