import {
  around,
  austrianVat,
  britishVat,
  type Country,
  checked,
  compact,
  digits,
  dutchVat,
  frenchVat,
  germanVat,
  irishVat,
  luhn,
  luxembourgVat,
  mod11,
  type NumberFormat,
  own,
  type Register,
  swissVat,
} from './number-formats.js';

const limited = ['Limited', 'Ltd', 'PLC', 'Limited', 'Ltd.'];

export const unitedKingdom: Country = {
  code: 'GB',
  name: 'United Kingdom',
  continent: 'Europe',
  language: 'en',
  currency: 'GBP',
  authority: 'Companies House',
  dial: '+44',
  domain: 'co.uk',
  postal: 0,
  legalForms: limited,
  vat: britishVat,
  aliases: ['UK', 'United Kingdom', 'Great Britain', 'gb', 'Vereinigtes Königreich', 'Royaume-Uni'],
  registers: [
    {
      share: 96,
      state: null,
      jurisdiction: 'England and Wales',
      number: digits(8, 12_345, 11_200_000),
      cities: ['London', 'Manchester', 'Bristol', 'Leeds', 'Cardiff', "King's Lynn", 'Newcastle upon Tyne'],
    },
    {
      share: 18,
      state: 'Scotland',
      jurisdiction: 'Scotland',
      number: digits(6, 1_200, 412_000, 'SC'),
      cities: ['Edinburgh', 'Glasgow', 'Aberdeen', 'Dundee'],
    },
    {
      share: 8,
      state: 'Northern Ireland',
      jurisdiction: 'Northern Ireland',
      number: digits(6, 1_100, 602_000, 'NI'),
      cities: ['Belfast', 'Derry', 'Lisburn'],
    },
    {
      share: 8,
      state: null,
      jurisdiction: 'England and Wales',
      number: digits(6, 300_000, 420_000, 'OC'),
      legalForms: ['LLP'],
      cities: ['London', 'Birmingham', 'Oxford'],
    },
  ],
};

export const ireland: Country = {
  code: 'IE',
  name: 'Ireland',
  continent: 'Europe',
  language: 'en',
  currency: 'EUR',
  authority: 'Companies Registration Office',
  dial: '+353',
  domain: 'ie',
  postal: 0,
  legalForms: ['Limited', 'DAC', 'PLC', 'Unlimited Company'],
  vat: irishVat,
  aliases: ['Ireland', 'Éire', 'Irland', 'ie'],
  registers: [
    {
      share: 22,
      state: null,
      jurisdiction: null,
      // The Irish register writes no leading zeros.
      number: {
        capacity: 980_000,
        encode: (n) => String(1_000 + n),
        decode: (text) => (/^\d+$/.test(text) ? Number(text) - 1_000 : undefined),
      },
      cities: ['Dublin', 'Cork', 'Galway', 'Limerick'],
    },
  ],
};

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
