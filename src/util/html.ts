// Markup that escapes every value.

import { escapeControlCharacters } from './sanitize-text.js';

/** Text that is markup already. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** A value in markup. False, null and undefined are left out. */
export type Markup = Html | string | number | false | null | undefined | readonly Markup[];

/** html`<b>${name}</b>`: every value is escaped, unless `html` made it. Attribute values must stand in quotes. */
export function html(strings: TemplateStringsArray, ...parts: readonly Markup[]): Html {
  let text = strings[0] ?? '';
  for (const [index, part] of parts.entries()) text += escaped(part) + (strings[index + 1] ?? '');
  return new Html(text);
}

function escaped(part: Markup): string {
  if (part instanceof Html) return part.toString();
  if (Array.isArray(part)) return part.map(escaped).join('');
  if (part === false || part === null || part === undefined) return '';
  return escapeControlCharacters(String(part)).replaceAll(/[&<>"'`]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

/** The parts with something between them. Empty parts are left out. */
export const joined = (parts: readonly Markup[], between: Markup): Html => {
  const shown = parts.filter((part) => part !== false && part !== null && part !== undefined && part !== '');
  return html`${shown.map((part, index) => (index === 0 ? part : html`${between}${part}`))}`;
};
