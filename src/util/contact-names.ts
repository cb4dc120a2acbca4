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

const ADDRESS = /[^\s@"'\\<>()[\]{},;:/]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,10}\p{L}{2,63}/gu;

/** The text without e-mail addresses, in JSON as elsewhere. */
export const withoutEmails = (text: string): string => (text.includes('@') ? text.replace(ADDRESS, '(removed)') : text);
