/** A number as people and providers write it: it is data, whatever sign it begins with. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Text that a spreadsheet would run as a formula gets an apostrophe in front; `-5.20` stays `-5.20`. The full-width
 * signs are taken for the plain ones by some programs.
 */
export function defuse(text: string): string {
  switch (text.charCodeAt(0)) {
    case 0x3d: // =
    case 0x2b: // +
    case 0x2d: // -
    case 0x40: // @
    case 0x09:
    case 0x0a:
    case 0x0d:
    case 0xff1d:
    case 0xff0b:
    case 0xff0d:
    case 0xff20:
      return NUMBER.test(text) ? text : `'${text}`;
    default:
      return text;
  }
}
