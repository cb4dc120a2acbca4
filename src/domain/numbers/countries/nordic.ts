import { type CountryNumbers, digits, grouped, padTo } from '../format.js';
import { stdnumCheck } from '../stdnum.js';

export const sweden: CountryNumbers = {
  labels: 'ORGANISATIONSNUMMER|ORG\\.? ?NR|ORGNR',
  formats: [
    {
      form: '10 digits (556012-3456)',
      shape: digits(10),
      spell: (text) => `${text.slice(0, 6)}-${text.slice(6)}`,
      check: stdnumCheck('SE', 'orgnr'),
    },
  ],
  rewrites: [
    { rule: 'century_prefix', apply: (text) => /^16(\d{10})$/.exec(text)?.[1] },
    { rule: 'vat_to_number', apply: (text) => /^SE(\d{10})01$/.exec(text)?.[1] },
  ],
};

export const norway: CountryNumbers = {
  labels: 'ORGANISASJONSNUMMER|ORG\\.? ?NR|ORGNR',
  formats: [
    {
      form: '9 digits',
      shape: digits(9),
      also: (text) => [grouped(text, ' ', 3, 3, 3)],
      check: stdnumCheck('NO', 'orgnr'),
    },
  ],
  rewrites: [{ rule: 'tax_suffix', apply: (text) => /^(?:NO)?(\d{9})MVA$/.exec(text)?.[1] }],
};

export const denmark: CountryNumbers = {
  labels: 'CVR|CVR-?NR|SE-?NR',
  formats: [
    {
      form: 'CVR number, 8 digits',
      shape: digits(8),
      also: (text) => [grouped(text, ' ', 2, 2, 2, 2)],
      check: stdnumCheck('DK', 'cvr'),
      pad: padTo(8),
    },
  ],
};

export const finland: CountryNumbers = {
  labels: 'Y-?TUNNUS|FO-?NUMMER|BUSINESS ID',
  formats: [
    {
      form: '7 digits, a hyphen and a check digit (0112038-9)',
      shape: digits(8),
      spell: (text) => `${text.slice(0, 7)}-${text.slice(7)}`,
      check: stdnumCheck('FI', 'ytunnus'),
      pad: padTo(8),
    },
  ],
};

export const iceland: CountryNumbers = {
  labels: 'KENNITALA|KT',
  formats: [
    {
      form: '10 digits',
      shape: digits(10),
      spell: (text) => `${text.slice(0, 6)}-${text.slice(6)}`,
      check: stdnumCheck('IS', 'kennitala'),
    },
  ],
};
