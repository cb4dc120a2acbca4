import {
  around,
  type Country,
  checked,
  danishCheck,
  derived,
  digits,
  finnishCheck,
  italianNumber,
  italianVat,
  luhn,
  norwegianCheck,
  polishVat,
  spanishControl,
  weighted,
} from './number-formats.js';

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

const spanishLetters = 'BABGB';

export const spain: Country = {
  code: 'ES',
  name: 'Spain',
  continent: 'Europe',
  language: 'es',
  currency: 'EUR',
  authority: 'Registro Mercantil Central',
  dial: '+34',
  domain: 'es',
  postal: 5,
  legalForms: ['S.L.', 'S.A.', 'S.L.U.', 'S. Coop.'],
  vat: around('ES'),
  aliases: ['España', 'Spain', 'Spanien', 'Espagne', 'es'],
  registers: [
    {
      share: 48,
      state: null,
      jurisdiction: null,
      number: {
        capacity: 9_000_000,
        encode: (n) => {
          const digits = String(1_000_000 + n);
          const letter = spanishLetters.charAt(n % 5);
          return `${letter}${digits}${spanishControl(letter, digits)}`;
        },
        decode: (text) => (/^[A-Z]\d{8}$/.test(text) ? Number(text.slice(1, 8)) - 1_000_000 : undefined),
      },
      cities: ['Madrid', 'Barcelona', 'Málaga', "L'Hospitalet de Llobregat", 'Bilbao'],
    },
  ],
};

export const italy: Country = {
  code: 'IT',
  name: 'Italy',
  continent: 'Europe',
  language: 'it',
  currency: 'EUR',
  authority: 'Registro delle Imprese',
  dial: '+39',
  domain: 'it',
  postal: 5,
  legalForms: ['S.r.l.', 'S.p.A.', 'S.n.c.', 'S.r.l. unipersonale'],
  vat: around('IT'),
  aliases: ['Italia', 'Italy', 'Italien', 'Italie', 'it'],
  registers: [
    {
      share: 42,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 7,
        low: 10_000,
        high: 1_000_000,
        finish: italianNumber,
        base: (text) => (text.length === 11 ? text.slice(0, 7) : ''),
      }),
      cities: ['Roma', 'Torino', 'Napoli', "L'Aquila", 'Forlì'],
    },
    {
      share: 14,
      state: 'Lombardia',
      jurisdiction: 'Milano Monza Brianza Lodi',
      number: digits(7, 1_000_000, 2_000_000, 'MI-'),
      vat: italianVat,
      cities: ['Milano', 'Monza', 'Lodi'],
    },
  ],
};

export const portugal: Country = {
  code: 'PT',
  name: 'Portugal',
  continent: 'Europe',
  language: 'es',
  currency: 'EUR',
  authority: 'Registo Comercial',
  dial: '+351',
  domain: 'pt',
  postal: 4,
  legalForms: ['Lda.', 'S.A.', 'Unipessoal Lda.'],
  vat: around('PT'),
  aliases: ['Portugal', 'pt'],
  registers: [
    {
      share: 20,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 8,
        low: 50_000_000,
        high: 51_000_000,
        finish: (base) => {
          const check = 11 - (weighted(base, [9, 8, 7, 6, 5, 4, 3, 2]) % 11);
          return `${base}${check > 9 ? 0 : check}`;
        },
        base: (text) => (text.length === 9 ? text.slice(0, 8) : ''),
      }),
      cities: ['Lisboa', 'Porto', 'Braga', 'Évora'],
    },
  ],
};

export const poland: Country = {
  code: 'PL',
  name: 'Poland',
  continent: 'Europe',
  language: 'slavic',
  currency: 'PLN',
  authority: 'Krajowy Rejestr Sądowy',
  dial: '+48',
  domain: 'pl',
  postal: 5,
  legalForms: ['Sp. z o.o.', 'S.A.', 'Sp. k.', 'sp. j.'],
  vat: polishVat,
  aliases: ['Polska', 'Poland', 'Polen', 'Pologne', 'pl'],
  registers: [
    {
      share: 44,
      state: null,
      jurisdiction: null,
      number: digits(10, 20_000, 500_000),
      cities: ['Warszawa', 'Kraków', 'Łódź', 'Wrocław', 'Gdańsk'],
    },
  ],
};

export const czechia: Country = {
  code: 'CZ',
  name: 'Czechia',
  continent: 'Europe',
  language: 'slavic',
  currency: 'CZK',
  authority: 'Veřejný rejstřík',
  dial: '+420',
  domain: 'cz',
  postal: 5,
  legalForms: ['s.r.o.', 'a.s.', 'v.o.s.', 'k.s.'],
  vat: around('CZ'),
  aliases: ['Česko', 'Czech Republic', 'Tschechien', 'cz'],
  registers: [
    {
      share: 22,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 7,
        low: 100_000,
        high: 2_500_000,
        finish: (base) => `${base}${(11 - (weighted(base, [8, 7, 6, 5, 4, 3, 2]) % 11)) % 10}`,
        base: (text) => (text.length === 8 ? text.slice(0, 7) : ''),
      }),
      cities: ['Praha', 'Brno', 'Ostrava', 'Plzeň'],
    },
  ],
};
