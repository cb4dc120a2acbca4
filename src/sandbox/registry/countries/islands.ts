import { digits } from './format.js';
import type { Country } from './types.js';
import { britishVat, irishVat } from './vat.js';

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
