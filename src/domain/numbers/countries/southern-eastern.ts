import { type CountryNumbers, digits, grouped, padTo } from '../format.js';
import { checkStdnum, stdnumCheck } from '../stdnum.js';

export const spain: CountryNumbers = {
  labels: 'CIF|NIF|C\\.I\\.F\\.|N\\.I\\.F\\.',
  formats: [
    {
      form: 'a letter, 7 digits and a check character',
      shape: /^[ABCDEFGHJNPQRSUVW]\d{7}[0-9A-J]$/,
      also: (text) => [`${text.slice(0, 1)}-${text.slice(1)}`],
      check: stdnumCheck('ES', 'cif'),
    },
  ],
};

/** Province codes have two letters; the number after them has no fixed width. */
const REA = /^(?!IT)[A-Z]{2}\d{4,7}$/;

export const italy: CountryNumbers = {
  labels: 'C\\.?F\\.?|CODICE FISCALE|P\\.? ?IVA|PARTITA IVA|N?\\.? ?REA|R\\.E\\.A\\.',
  formats: [
    { form: 'tax code, 11 digits', shape: digits(11), check: stdnumCheck('IT', 'iva'), pad: padTo(11) },
    {
      form: 'REA number: province and number (MI-1234567)',
      shape: REA,
      anyWidth: true,
      spell: (text) => `${text.slice(0, 2)}-${text.slice(2)}`,
      also: (text) => [`${text.slice(0, 2)} ${text.slice(2)}`],
    },
  ],
};

export const portugal: CountryNumbers = {
  labels: 'NIPC|NIF',
  formats: [
    {
      form: 'NIPC, 9 digits',
      shape: digits(9),
      also: (text) => [grouped(text, ' ', 3, 3, 3)],
      check: stdnumCheck('PT', 'nipc'),
    },
  ],
};

export const poland: CountryNumbers = {
  labels: 'KRS|NR KRS|NUMER KRS',
  formats: [
    {
      form: 'KRS number, 10 digits beginning with 000',
      shape: /^000\d{7}$/,
      pad: (text) =>
        /^\d{1,9}$/.test(text) && text.replace(/^0+/, '').length <= 7 ? text.padStart(10, '0') : undefined,
    },
  ],
  foreign: (text) => {
    if (/^\d{10}$/.test(text) && !text.startsWith('000')) {
      return checkStdnum('PL', 'nip', text) === true
        ? 'this is a tax number (NIP), not a KRS number'
        : 'no KRS number has this many significant digits';
    }
    return /^[1-9]\d{8}$|^\d{14}$/.test(text)
      ? 'this has the form of a statistical number (REGON), not of a KRS number'
      : undefined;
  },
};

export const czechia: CountryNumbers = {
  labels: 'IČO?|ICO?',
  formats: [{ form: 'IČO, 8 digits', shape: digits(8), check: stdnumCheck('CZ', 'ico'), pad: padTo(8) }],
};

export const slovakia: CountryNumbers = {
  labels: 'IČO?|ICO?',
  formats: [{ form: 'IČO, 8 digits', shape: digits(8), check: stdnumCheck('CZ', 'ico'), pad: padTo(8) }],
};

export const estonia: CountryNumbers = {
  labels: 'REGISTRIKOOD',
  formats: [{ form: '8 digits', shape: digits(8), check: stdnumCheck('EE', 'registrikood') }],
};

export const lithuania: CountryNumbers = { formats: [{ form: '9 digits', shape: digits(9) }] };

export const latvia: CountryNumbers = { formats: [{ form: '11 digits', shape: digits(11) }] };

export const croatia: CountryNumbers = {
  labels: 'OIB|MBS',
  formats: [
    { form: 'OIB, 11 digits', shape: digits(11), check: stdnumCheck('HR', 'oib') },
    { form: 'MBS, 9 digits', shape: digits(9) },
  ],
};

export const hungary: CountryNumbers = {
  labels: 'CG\\.?|CÉGJEGYZÉKSZÁM',
  formats: [
    {
      form: 'Cg. number, 10 digits (01-09-123456)',
      shape: digits(10),
      spell: (text) => `${text.slice(0, 2)}-${text.slice(2, 4)}-${text.slice(4)}`,
    },
  ],
};

export const malta: CountryNumbers = {
  formats: [
    {
      form: 'C and up to 6 digits',
      shape: /^C\d{1,6}$/,
      anyWidth: true,
      spell: (text) => `C ${text.slice(1)}`,
      also: (text) => [text],
    },
  ],
};

export const cyprus: CountryNumbers = {
  formats: [
    {
      form: 'HE and up to 6 digits',
      shape: /^HE\d{1,6}$/,
      anyWidth: true,
      spell: (text) => `HE ${text.slice(2)}`,
    },
  ],
};
