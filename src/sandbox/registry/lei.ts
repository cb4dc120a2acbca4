import type { Company } from './types.js';

/** Of the one local operating unit that there is here, and the two zeros that an LEI has. */
const PREFIX = '549300';
const EVERY = 3;

/** One company in three has a legal entity identifier: 18 characters and two check digits (ISO 17442). */
export function leiOf({ index }: Company): string | null {
  if (index % EVERY !== 0) return null;
  const body = `${PREFIX}${index.toString(36).toUpperCase().padStart(12, '0')}`;
  return `${body}${String(98 - modulo97(`${body}00`)).padStart(2, '0')}`;
}

/** The index that an LEI of ours holds; undefined for any other text. */
export function indexOfLei(lei: string): number | undefined {
  const text = lei.trim().toUpperCase();
  if (!/^549300[0-9A-Z]{12}\d{2}$/.test(text)) return undefined;
  return Number.parseInt(text.slice(PREFIX.length, -2), 36);
}

/** Letters count as 10 to 35 (ISO 7064). */
function modulo97(text: string): number {
  let rest = 0;
  for (const character of text)
    for (const digit of String(Number.parseInt(character, 36))) rest = (rest * 10 + Number(digit)) % 97;
  return rest;
}
