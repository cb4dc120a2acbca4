import { luhn } from './checks.js';
import { checked } from './format.js';
import type { Country } from './types.js';
import { around, danishCheck, derived, finnishCheck, norwegianCheck } from './vat.js';

export const sweden: Country = {
  code: 'SE',
  name: 'Sweden',
  continent: 'Europe',
  language: 'nordic',
  currency: 'SEK',
  authority: 'Bolagsverket',
  dial: '+46',
  domain: 'se',
  postal: 5,
  legalForms: ['AB', 'AB (publ)', 'HB'],
  vat: around('SE', '01'),
  aliases: ['Sverige', 'Sweden', 'Schweden', 'se'],
  registers: [
    {
      share: 40,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 9,
        low: 556_000_000,
        high: 559_000_000,
        finish: (base) => `${base}${luhn(base)}`,
        base: (text) => (text.length === 10 ? text.slice(0, 9) : ''),
        spell: (text) => `${text.slice(0, 6)}-${text.slice(6)}`,
      }),
      cities: ['Stockholm', 'Göteborg', 'Malmö', 'Västerås'],
    },
  ],
};

export const norway: Country = {
  code: 'NO',
  name: 'Norway',
  continent: 'Europe',
  language: 'nordic',
  currency: 'NOK',
  authority: 'Brønnøysundregistrene',
  dial: '+47',
  domain: 'no',
  postal: 4,
  legalForms: ['AS', 'ASA', 'ENK'],
  vat: around('NO', 'MVA'),
  aliases: ['Norge', 'Norway', 'Norwegen', 'no'],
  registers: [
    {
      share: 30,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 8,
        low: 81_000_000,
        high: 91_000_000,
        finish: (base) => {
          const check = norwegianCheck(base);
          return check === undefined ? undefined : `${base}${check}`;
        },
        base: (text) => (text.length === 9 ? text.slice(0, 8) : ''),
      }),
      cities: ['Oslo', 'Bergen', 'Trondheim', 'Tromsø'],
    },
  ],
};

export const denmark: Country = {
  code: 'DK',
  name: 'Denmark',
  continent: 'Europe',
  language: 'nordic',
  currency: 'DKK',
  authority: 'Det Centrale Virksomhedsregister',
  dial: '+45',
  domain: 'dk',
  postal: 4,
  legalForms: ['ApS', 'A/S', 'I/S', 'P/S'],
  vat: around('DK'),
  aliases: ['Danmark', 'Denmark', 'Dänemark', 'dk'],
  registers: [
    {
      share: 30,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 7,
        low: 1_000_000,
        high: 3_500_000,
        finish: (base) => {
          const check = danishCheck(base);
          return check === undefined ? undefined : `${base}${check}`;
        },
        base: (text) => (text.length === 8 ? text.slice(0, 7) : ''),
      }),
      cities: ['København', 'Aarhus', 'Odense', 'Helsingør'],
    },
  ],
};

export const finland: Country = {
  code: 'FI',
  name: 'Finland',
  continent: 'Europe',
  language: 'nordic',
  currency: 'EUR',
  authority: 'Patentti- ja rekisterihallitus',
  dial: '+358',
  domain: 'fi',
  postal: 5,
  legalForms: ['Oy', 'Oyj', 'Ky', 'Osuuskunta'],
  vat: derived(
    (number) => `FI${number}`,
    (vat) => vat.slice(2),
  ),
  aliases: ['Suomi', 'Finland', 'Finnland', 'fi'],
  registers: [
    {
      share: 28,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 7,
        low: 100_000,
        high: 2_000_000,
        finish: (base) => {
          const check = finnishCheck(base);
          return check === undefined ? undefined : `${base}${check}`;
        },
        base: (text) => (text.length === 8 ? text.slice(0, 7) : ''),
        spell: (text) => `${text.slice(0, 7)}-${text.slice(7)}`,
      }),
      cities: ['Helsinki', 'Tampere', 'Turku', 'Jyväskylä'],
    },
  ],
};
