import { luhn } from './checks.js';
import { checked, digits } from './format.js';
import type { Country } from './types.js';
import { around, dutchVat, frenchVat, luxembourgVat } from './vat.js';

export const france: Country = {
  code: 'FR',
  name: 'France',
  continent: 'Europe',
  language: 'fr',
  currency: 'EUR',
  authority: 'Registre national des entreprises',
  dial: '+33',
  domain: 'fr',
  postal: 5,
  legalForms: ['SAS', 'SARL', 'SA', 'EURL', 'SCI'],
  vat: frenchVat,
  aliases: ['France', 'Frankreich', 'Francia', 'fr'],
  registers: [
    {
      share: 92,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 8,
        low: 300_000,
        high: 40_000_000,
        finish: (base) => `${base}${luhn(base)}`,
        base: (text) => (text.length === 9 ? text.slice(0, 8) : ''),
      }),
      cities: ['Paris', 'Lyon', 'Marseille', "L'Haÿ-les-Roses", 'Toulouse', 'Nîmes'],
    },
  ],
};

export const netherlands: Country = {
  code: 'NL',
  name: 'Netherlands',
  continent: 'Europe',
  language: 'en',
  currency: 'EUR',
  authority: 'Kamer van Koophandel',
  dial: '+31',
  domain: 'nl',
  postal: 4,
  legalForms: ['B.V.', 'N.V.', 'V.O.F.', 'Coöperatie U.A.'],
  vat: dutchVat,
  aliases: ['Nederland', 'The Netherlands', 'Holland', 'Niederlande', 'nl'],
  registers: [
    {
      share: 50,
      state: null,
      jurisdiction: null,
      number: digits(8, 1_000_000, 24_000_000),
      cities: ['Amsterdam', 'Rotterdam', "'s-Hertogenbosch", 'Utrecht', 'Eindhoven'],
    },
  ],
};

const belgianCheck = (base: string): string => String(97 - (Number(base) % 97)).padStart(2, '0');

export const belgium: Country = {
  code: 'BE',
  name: 'Belgium',
  continent: 'Europe',
  language: 'fr',
  currency: 'EUR',
  authority: 'Banque-Carrefour des Entreprises',
  dial: '+32',
  domain: 'be',
  postal: 4,
  legalForms: ['SRL', 'BV', 'SA', 'NV', 'ASBL'],
  vat: around('BE'),
  aliases: ['Belgique', 'België', 'Belgien', 'Belgium', 'be'],
  registers: [
    {
      share: 34,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 8,
        low: 4_000_000,
        high: 10_000_000,
        finish: (base) => `${base}${belgianCheck(base)}`,
        base: (text) => (text.length === 10 ? text.slice(0, 8) : ''),
      }),
      cities: ['Bruxelles', 'Antwerpen', 'Gent', 'Liège', 'Namur'],
    },
  ],
};

export const luxembourg: Country = {
  code: 'LU',
  name: 'Luxembourg',
  continent: 'Europe',
  language: 'fr',
  currency: 'EUR',
  authority: 'Registre de commerce et des sociétés',
  dial: '+352',
  domain: 'lu',
  postal: 4,
  legalForms: ['S.à r.l.', 'S.A.', 'SCSp', 'SICAV'],
  vat: luxembourgVat,
  aliases: ['Luxembourg', 'Luxemburg', 'Lëtzebuerg', 'lu'],
  registers: [
    {
      share: 14,
      state: null,
      jurisdiction: null,
      // No leading zeros, the letter is the section.
      number: {
        capacity: 990_000,
        encode: (n) => `B${n + 5_000}`,
        decode: (text) => (/^B\d{1,6}$/.test(text) ? Number(text.slice(1)) - 5_000 : undefined),
      },
      cities: ['Luxembourg', 'Esch-sur-Alzette', 'Strassen'],
    },
  ],
};
