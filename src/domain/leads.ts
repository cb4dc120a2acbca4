// Leads: values of a row that no search accepts.

import { LONGEST_LINE, trimEndOf } from '../util/text-limits.js';

/**
 * Values that no search accepts. For a lead, the provider may give a registration number. A lead itself neither
 * confirms nor contradicts.
 */
export const LEADS = ['lei', 'website', 'linkedin', 'phone', 'email'] as const;
export type Lead = (typeof LEADS)[number];
export type Leads = { readonly [L in Lead]?: string };

export const leadWords: Readonly<Record<Lead, string>> = {
  lei: 'LEI',
  website: 'website',
  linkedin: 'LinkedIn address',
  phone: 'phone number',
  email: 'e-mail address',
};

/** Whether a text can be a value of its column: `n/a`, `-` and `none` are not worth a call. */
const FORMS: Readonly<Record<Lead, (text: string) => boolean>> = {
  // A failed check is evidence, not proof, so any possible LEI is used.
  lei: (text) => /^[0-9A-Z]{18,22}$/.test(compactLei(text)),
  website: (text) => /^\S*[\p{L}\p{N}]\.\p{L}{2,}\S*$/u.test(text) && !text.includes('@'),
  linkedin: (text) => /^\S*?linkedin\.[^\s/]+\/\S+$/i.test(text),
  phone: (text) => text.replace(/\D/g, '').length >= 6,
  email: (text) => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text),
};

/** The leads of a row that can be followed. Undefined if there is none. */
export function leadsIn(fields: Readonly<Partial<Record<string, string>>>): Leads | undefined {
  let usable: { [L in Lead]?: string } | undefined;
  for (const lead of LEADS) {
    const text = fields[lead];
    if (text === undefined || text.length > LONGEST_LINE || !FORMS[lead](text)) continue;
    usable ??= {};
    usable[lead] = text;
  }
  return usable;
}

export function comparableLead(lead: Lead, text: string): string {
  switch (lead) {
    case 'lei':
      return compactLei(text);
    case 'phone':
      return text.replace(/\D/g, '').replace(/^00/, '');
    case 'email':
      return text.toLowerCase();
    case 'website':
    case 'linkedin':
      return trimEndOf(
        text
          .toLowerCase()
          .replace(/^[a-z]+:\/\//, '')
          .replace(/^www\./, ''),
        '/?#',
      );
  }
}

export const compactLei = (text: string): string => text.replace(/[\s-]/g, '').toUpperCase();

/**
 * Twenty characters, the last two of them check digits: the whole is 1 modulo 97, with letters as 10 to 35 (ISO 17442).
 */
export function isCheckedLei(text: string): boolean {
  const lei = compactLei(text);
  if (!/^[0-9A-Z]{18}[0-9]{2}$/.test(lei)) return false;
  const digits = [...lei].map((character) => Number.parseInt(character, 36)).join('');
  return BigInt(digits) % 97n === 1n;
}
