import { type CorpusFile, column, csvFile, oneOf } from './file.js';
import { firmsOf, mixed, withVat } from './firms.js';
import { courtAndNumber } from './german.js';
import { page } from './page.js';

const { name, country, number, vat, city, id, other } = column;

/** Where the country is to be found, if anywhere. */
export function countryValues(): CorpusFile[] {
  return [
    csvFile(
      'val-vat-only.csv',
      page(mixed(['DE', 'IT', 'FR', 'NL'], 2, withVat), [name('Name'), country('Country'), vat('VAT')]),
      { like: 'VAT numbers, and no registration numbers', confirmed: 6 },
    ),
    csvFile(
      'val-number-with-prefix.csv',
      page(mixed(['GB', 'NO', 'DK'], 3), [
        name('Company'),
        country('Country'),
        number('Reg. number', ({ country: code, number: text }) => `${code} ${text}`),
      ]),
      { like: 'the country before the number', confirmed: 8 },
    ),
    csvFile(
      'val-prefix-no-country.csv',
      page(firmsOf('GB', 6), [name('Company'), number('Reg. number', ({ number: text }) => `GB ${text}`)]),
      {
        like: 'no country column; the number begins with it',
        mayAsk: { mentions: ['--country'] },
        answer: ['--country', 'GB'],
      },
    ),
    csvFile(
      'val-vat-prefix-no-country.csv',
      page(mixed(['DE', 'FR', 'IT'], 2, withVat), [id('Creditor no.'), name('Creditor'), vat('VAT ID')]),
      { like: 'no country column; the VAT numbers tell it', mayAsk: { mentions: ['--country'] } },
    ),
    csvFile(
      'val-no-country.csv',
      page(firmsOf('FR', 8), [name('Raison sociale'), number('SIREN'), city('Ville')]),
      {
        like: 'a French list: no column says that it is France',
        question: { mentions: ['--country'] },
        answer: ['--country', 'FR'],
      },
      { delimiter: ';' },
    ),
    csvFile(
      'val-no-country-de.csv',
      page(firmsOf('DE', 8), [
        id('Lieferantennr.', (i) => String(70_001 + i)),
        name('Lieferantenname'),
        other('PLZ', oneOf('10115', '04109', '80331')),
        city('Ort'),
        number('Handelsregister', courtAndNumber),
      ]),
      {
        like: 'German suppliers: nothing but the register says where',
        mayAsk: { mentions: ['--country'] },
        answer: ['--country', 'DE'],
      },
      { delimiter: ';' },
    ),
    csvFile(
      'val-country-names.csv',
      page(mixed(['DE', 'FR', 'ES', 'GB', 'NL', 'SE', 'PL', 'IT', 'CH', 'CZ'], 1), [
        name('Company'),
        country('Country', ({ country: code }) => LOCAL[code] ?? code),
        number('Registration number', courtAndNumber),
      ]),
      { like: 'each country in another language', confirmed: 10 },
    ),
    csvFile(
      'val-two-countries.csv',
      page(mixed(['DE', 'GB', 'FR', 'NL'], 2), [
        name('Company'),
        country('Country', ({ country: code }) => TWICE[code] ?? code),
        number('Registration number', courtAndNumber),
      ]),
      {
        like: 'two countries in a cell: which register is meant, nobody knows; one that is named twice is one',
        reading: (r) => ({ ...r, invalid: { 2: 'BAD_COUNTRY', 3: 'BAD_COUNTRY', 6: 'BAD_COUNTRY', 7: 'BAD_COUNTRY' } }),
        confirmed: 4,
      },
    ),
    csvFile(
      'val-country-iso3.csv',
      page(mixed(['DE', 'FR', 'GB', 'SE'], 2), [
        name('Company'),
        country('Ctry', ({ country: code }) => ISO3[code] ?? code),
        number('Registration number', courtAndNumber),
      ]),
      { like: 'codes of three letters', confirmed: 8 },
    ),
  ];
}

const TWICE: Readonly<Record<string, string>> = {
  DE: 'DE/AT',
  GB: 'GB (DK)',
  FR: 'FR - France',
  NL: 'Netherlands (NL)',
};

const LOCAL: Readonly<Record<string, string>> = {
  DE: 'Duitsland',
  FR: 'Frankreich',
  ES: 'Espagne',
  GB: 'Großbritannien',
  NL: 'Países Bajos',
  SE: 'Schweden',
  PL: 'Polen',
  IT: 'Włochy',
  CH: 'Suisse',
  CZ: 'Czech Republic',
};

const ISO3: Readonly<Record<string, string>> = { DE: 'DEU', FR: 'FRA', GB: 'GBR', SE: 'SWE' };
