import { weighted } from './checks.js';
import { checked, digits, type NumberFormat } from './format.js';
import type { Country, Register } from './types.js';
import { americanEin, around, canadianBusinessNumber } from './vat.js';

/** States number on their own: Delaware, New York and Ohio all have a company 4123456. */
function state(share: number, code: string, name: string, number: NumberFormat, cities: readonly string[]): Register {
  return { share, state: code, jurisdiction: name, number, cities };
}

const sevenDigits = digits(7, 12_000, 4_000_000);

export const unitedStates: Country = {
  code: 'US',
  name: 'United States',
  continent: 'North America',
  language: 'en',
  currency: 'USD',
  authority: 'Secretary of State',
  dial: '+1',
  domain: 'com',
  postal: 5,
  legalForms: ['Inc.', 'LLC', ', Inc.', 'Corp.', ', LLC', 'L.P.'],
  vat: americanEin,
  aliases: ['USA', 'United States', 'U.S.A.', 'United States of America', 'Vereinigte Staaten', 'us'],
  registers: [
    state(44, 'DE', 'Delaware', sevenDigits, ['Wilmington', 'Dover', 'Newark']),
    state(24, 'NY', 'New York', sevenDigits, ['New York', 'Buffalo', 'Albany']),
    state(12, 'OH', 'Ohio', sevenDigits, ['Columbus', 'Cleveland', 'Akron']),
    state(24, 'CA', 'California', digits(7, 100_000, 3_000_000, 'C'), ['Los Angeles', 'San Francisco', 'San José']),
    state(18, 'TX', 'Texas', digits(10, 1_000_000, 801_000_000), ['Austin', 'Houston', 'Dallas']),
    state(12, 'FL', 'Florida', digits(11, 10_000_000, 12_000_000_000, 'P'), ['Miami', 'Tampa', 'Orlando']),
    state(8, 'WA', 'Washington', digits(9, 600_000_000, 604_000_000), ['Seattle', 'Tacoma', 'Spokane']),
  ],
};

export const canada: Country = {
  code: 'CA',
  name: 'Canada',
  continent: 'North America',
  language: 'en',
  currency: 'CAD',
  authority: 'Corporate Registry',
  dial: '+1',
  domain: 'ca',
  postal: 0,
  legalForms: ['Inc.', 'Ltd.', 'Corp.', 'Ltée', 'ULC'],
  vat: canadianBusinessNumber,
  aliases: ['Canada', 'Kanada', 'CAN', 'ca'],
  registers: [
    state(16, 'ON', 'Ontario', digits(7, 10_000, 1_500_000), ['Toronto', 'Ottawa', 'Hamilton']),
    state(9, 'BC', 'British Columbia', digits(7, 20_000, 1_000_000), ['Vancouver', 'Victoria']),
    state(9, 'QC', 'Quebec', digits(9, 1_000_000, 110_000_000), ['Montréal', 'Québec', 'Trois-Rivières']),
    state(4, 'AB', 'Alberta', digits(9, 200_000_000, 202_000_000), ['Calgary', 'Edmonton']),
  ],
};

const cnpjWeights = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];

/** The head office (branch 0001) of a Brazilian company, with its two check digits. */
const cnpj = checked({
  width: 8,
  low: 200_000,
  high: 40_000_000,
  finish: (base) => {
    const root = `${base}0001`;
    const first = elevenMinus(weighted(root, cnpjWeights));
    return `${root}${first}${elevenMinus(weighted(`${root}${first}`, [6, ...cnpjWeights]))}`;
  },
  base: (text) => (text.length === 14 ? text.slice(0, 8) : ''),
  spell: (text) => `${text.slice(0, 2)}.${text.slice(2, 5)}.${text.slice(5, 8)}/${text.slice(8, 12)}-${text.slice(12)}`,
});

function elevenMinus(sum: number): number {
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}

export const brazil: Country = {
  code: 'BR',
  name: 'Brazil',
  continent: 'South America',
  language: 'es',
  currency: 'BRL',
  authority: 'Receita Federal',
  dial: '+55',
  domain: 'com.br',
  postal: 8,
  legalForms: ['Ltda.', 'S.A.', 'EIRELI'],
  vat: around('BR'),
  aliases: ['Brasil', 'Brazil', 'Brasilien', 'br'],
  registers: [
    {
      share: 18,
      state: null,
      jurisdiction: null,
      number: cnpj,
      cities: ['São Paulo', 'Rio de Janeiro', 'Belo Horizonte'],
    },
  ],
};
