import { type CountryNumbers, digits, grouped, padTo } from '../format.js';
import { checkStdnum, stdnumCheck } from '../stdnum.js';

export const france: CountryNumbers = {
  labels: 'SIREN|SIRET|RCS(?: [A-Z]+)?',
  formats: [
    {
      form: 'SIREN, 9 digits',
      shape: digits(9),
      also: (text) => [grouped(text, ' ', 3, 3, 3)],
      check: stdnumCheck('FR', 'siren'),
      pad: padTo(9),
    },
  ],
  rewrites: [
    { rule: 'label', apply: (text) => /^(\d{9})RCS\p{L}*$/u.exec(text)?.[1] },
    { rule: 'siret_to_siren', apply: (text) => (/^\d{14}$/.test(text) ? text.slice(0, 9) : undefined) },
    { rule: 'vat_to_number', apply: (text) => /^FR[0-9A-Z]{2}(\d{9})$/.exec(text)?.[1] },
  ],
  foreign: (text) =>
    /^\d{10,13}$/.test(text) ? 'longer than a SIREN (9 digits) and shorter than a SIRET (14)' : undefined,
};

export const netherlands: CountryNumbers = {
  labels: 'KVK|KAMER VAN KOOPHANDEL|HANDELSREGISTER',
  formats: [{ form: 'KVK number, 8 digits', shape: digits(8), pad: padTo(8) }],
  foreign: (text) => {
    if (/^\d{9}$/.test(text)) return 'this has the form of an RSIN (tax number), not of a KVK number';
    if (/^\d{12}$/.test(text)) return 'this has the form of a branch number (vestigingsnummer), not of a KVK number';
    return /^(?:NL)?\d{9}B\d{2}$/.test(text) ? 'this is a VAT number, not a KVK number' : undefined;
  },
};

export const belgium: CountryNumbers = {
  labels: 'KBO|BCE|CBE|RPR|RPM|TVA|BTW|ONDERNEMINGSNUMMER|NUMERO D.ENTREPRISE',
  formats: [
    {
      form: 'enterprise number, 10 digits beginning with 0 or 1',
      shape: /^[01]\d{9}$/,
      also: (text) => [grouped(text, '.', 4, 3, 3)],
      check: stdnumCheck('BE', 'vat'),
      pad: (text) => (/^\d{9}$/.test(text) ? `0${text}` : undefined),
    },
  ],
};

export const luxembourg: CountryNumbers = {
  labels: 'RCS(?: LUXEMBOURG)?|R\\.C\\.S\\.(?: LUXEMBOURG)?',
  formats: [
    {
      form: 'section letter and up to 6 digits (B123456)',
      shape: /^[A-Z][1-9]\d{0,5}$/,
      anyWidth: true,
      also: (text) => [`${text.slice(0, 1)} ${text.slice(1)}`],
      unpad: (text) =>
        /^[A-Z]0+[1-9]\d*$/.test(text) ? `${text.slice(0, 1)}${text.slice(1).replace(/^0+/, '')}` : undefined,
    },
  ],
  foreign: (text) =>
    /^\d{1,6}$/.test(text) ? 'the section letter (B for companies) is missing from the RCS number' : undefined,
};

export const austria: CountryNumbers = {
  labels: 'FIRMENBUCH(?:NUMMER)?',
  formats: [
    {
      form: 'FN, up to 6 digits and a letter (FN 123456a)',
      shape: /^(?:FN)?[1-9]\d{0,5}[A-Z]$/,
      anyWidth: true,
      spell: (text) => `FN ${firmenbuch(text)}`,
      also: (text) => [firmenbuch(text), `FN${firmenbuch(text)}`],
      unpad: (text) => (/^(?:FN)?0+[1-9]\d*[A-Z]$/.test(text) ? text.replace(/^(?:FN)?0+/, 'FN') : undefined),
    },
  ],
  foreign: (text) => {
    if (/^(?:FN)?\d{1,6}$/.test(text)) return 'the check letter is missing from the Firmenbuch number';
    return /^ATU\d{8}$/.test(text) ? 'this is a VAT number (UID), not a Firmenbuch number' : undefined;
  },
};

const firmenbuch = (text: string) => text.replace(/^FN/, '').toLowerCase();

export const switzerland: CountryNumbers = {
  labels: 'UID|IDE|IDI',
  formats: [
    {
      form: 'CHE and 9 digits',
      shape: /^CHE\d{9}$/,
      spell: (text) => `CHE-${grouped(text.slice(3), '.', 3, 3, 3)}`,
      check: stdnumCheck('CH', 'uid'),
    },
    {
      form: 'the former number, CH and 11 digits',
      shape: /^CH\d{11}$/,
      spell: (text) =>
        `CH-${text.slice(2, 5)}.${text.slice(5, 6)}.${text.slice(6, 9)}.${text.slice(9, 12)}-${text.slice(12)}`,
    },
  ],
  rewrites: [
    { rule: 'tax_suffix', apply: (text) => /^(CHE\d{9})(?:MWST|TVA|IVA|VAT)$/.exec(text)?.[1] },
    {
      rule: 'country_prefix',
      apply: (text) => {
        const number = /^(?:CH)?(\d{9})$/.exec(text)?.[1];
        return number !== undefined && checkStdnum('CH', 'uid', `CHE${number}`) === true ? `CHE${number}` : undefined;
      },
    },
  ],
};

export const liechtenstein: CountryNumbers = {
  formats: [
    {
      form: 'FL and 7 to 11 digits',
      shape: /^FL\d{7,11}$/,
      spell: (text) =>
        text.length === 9 ? `FL-${text.slice(2, 6)}.${text.slice(6)}` : `FL-${liechtensteinLong(text)}`,
    },
  ],
};

const liechtensteinLong = (text: string) =>
  text.length === 13 ? `${text.slice(2, 6)}.${text.slice(6, 9)}.${text.slice(9, 12)}-${text.slice(12)}` : text.slice(2);
