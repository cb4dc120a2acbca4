import { mod11 } from './checks.js';
import { checked, compact, type NumberFormat } from './format.js';
import type { Country, Register } from './types.js';
import { austrianVat, germanVat, own, swissVat } from './vat.js';

/** Every court counts on its own, so HRB 12345 exists at several of them. */
function court(share: number, name: string, suffix = ''): Register {
  return {
    share,
    state: name,
    jurisdiction: `Amtsgericht ${name}`,
    number: commercialRegister(suffix),
    cities: [name],
  };
}

/** Section A (partnerships) takes one position in eight, section B (companies) the rest. */
function commercialRegister(suffix: string): NumberFormat {
  const tail = suffix === '' ? '' : ` ${suffix}`;
  const shape = new RegExp(`^HR([AB])(\\d{1,6})${compact(suffix)}$`);
  return {
    capacity: 790_000,
    encode: (n) => {
      const block = Math.floor(n / 8);
      return n % 8 === 0 ? `HRA ${block + 101}${tail}` : `HRB ${block * 7 + (n % 8) + 200}${tail}`;
    },
    decode: (text) => {
      const [, section, number] = shape.exec(text) ?? [];
      if (number === undefined) return undefined;
      if (section === 'A') return (Number(number) - 101) * 8;
      const position = Number(number) - 201;
      return Math.floor(position / 7) * 8 + (position % 7) + 1;
    },
  };
}

export const germany: Country = {
  code: 'DE',
  name: 'Germany',
  continent: 'Europe',
  language: 'de',
  currency: 'EUR',
  authority: 'Handelsregister',
  dial: '+49',
  domain: 'de',
  postal: 5,
  legalForms: ['GmbH', 'GmbH', 'GmbH & Co. KG', 'AG', 'UG (haftungsbeschränkt)'],
  vat: germanVat,
  aliases: ['Deutschland', 'Germany', 'Allemagne', 'de', 'BRD'],
  registers: [
    court(22, 'München'),
    court(20, 'Hamburg'),
    court(24, 'Charlottenburg (Berlin)', 'B'),
    court(18, 'Köln'),
    court(16, 'Frankfurt am Main'),
    court(10, 'Düsseldorf'),
    court(6, 'Kiel', 'KI'),
    court(9, 'Stuttgart'),
  ],
};

const firmenbuchLetters = 'abdfghikmpstvwxyz';

export const austria: Country = {
  code: 'AT',
  name: 'Austria',
  continent: 'Europe',
  language: 'de',
  currency: 'EUR',
  authority: 'Firmenbuch',
  dial: '+43',
  domain: 'at',
  postal: 4,
  legalForms: ['GmbH', 'Gesellschaft m.b.H.', 'AG', 'OG'],
  vat: austrianVat,
  aliases: ['Österreich', 'Austria', 'Autriche', 'at'],
  registers: [
    {
      share: 22,
      state: null,
      jurisdiction: null,
      number: {
        capacity: 900_000,
        encode: (n) => {
          const base = String(n + 33_000).padStart(6, '0');
          let sum = 0;
          for (const [i, weight] of [6, 4, 14, 15, 10, 1].entries()) sum += Number(base[i]) * weight;
          return `FN ${n + 33_000}${firmenbuchLetters.charAt(sum % 17)}`;
        },
        decode: (text) => {
          const [, number] = /^FN(\d{1,6})[A-Z]$/.exec(text) ?? [];
          return number === undefined ? undefined : Number(number) - 33_000;
        },
      },
      cities: ['Wien', 'Graz', 'Linz', 'Salzburg', 'St. Pölten'],
    },
  ],
};

const uid = checked({
  width: 8,
  low: 10_000_000,
  high: 40_000_000,
  finish: (base) => {
    const check = mod11(base, [5, 4, 3, 2, 7, 6, 5, 4]);
    return check === undefined ? undefined : `CHE${base}${check}`;
  },
  base: (text) => text.slice(3, 11),
  spell: (text) => `CHE-${text.slice(3, 6)}.${text.slice(6, 9)}.${text.slice(9)}`,
  numeric: false,
});

export const switzerland: Country = {
  code: 'CH',
  name: 'Switzerland',
  continent: 'Europe',
  language: 'de',
  currency: 'CHF',
  authority: 'Zentraler Firmenindex',
  dial: '+41',
  domain: 'ch',
  postal: 4,
  legalForms: ['AG', 'GmbH', 'SA', 'Sàrl', 'Genossenschaft'],
  vat: swissVat,
  aliases: ['Schweiz', 'Suisse', 'Svizzera', 'Switzerland', 'ch'],
  registers: [
    {
      share: 28,
      state: null,
      jurisdiction: null,
      number: uid,
      cities: ['Zürich', 'Genève', 'Basel', 'Bern', 'Lugano'],
    },
  ],
};

export const liechtenstein: Country = {
  code: 'LI',
  name: 'Liechtenstein',
  continent: 'Europe',
  language: 'de',
  currency: 'CHF',
  authority: 'Amt für Justiz',
  dial: '+423',
  domain: 'li',
  postal: 4,
  legalForms: ['Anstalt', 'AG', 'Stiftung'],
  vat: own({
    capacity: 40_000,
    width: 5,
    encode: (n) => String(50_000 + n),
    decode: (text) => (/^\d{5}$/.test(text) ? Number(text) - 50_000 : undefined),
  }),
  aliases: ['Liechtenstein', 'li'],
  registers: [
    {
      share: 4,
      state: null,
      jurisdiction: null,
      number: {
        capacity: 900_000,
        encode: (n) => {
          const base = String(2_000_000 + n);
          return `FL-${base.slice(0, 4)}.${base.slice(4)}`;
        },
        decode: (text) => (/^FL\d{7}$/.test(text) ? Number(text.slice(2)) - 2_000_000 : undefined),
      },
      cities: ['Vaduz', 'Schaan'],
    },
  ],
};
