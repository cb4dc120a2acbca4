import { type CountryNumbers, digits, grouped, padTo } from '../format.js';
import { checkStdnum, stdnumCheck } from '../stdnum.js';

export const china: CountryNumbers = {
  labels: 'USCC|USCI|统一社会信用代码',
  formats: [
    {
      form: 'unified social credit code, 18 characters',
      shape: /^[0-9A-HJ-NPQRTUWXY]{2}\d{6}[0-9A-HJ-NPQRTUWXY]{10}$/,
      check: stdnumCheck('CN', 'uscc'),
    },
    { form: 'the former registration number, 15 digits', shape: digits(15) },
  ],
};

export const singapore: CountryNumbers = {
  labels: 'UEN|ACRA|ROC',
  formats: [
    {
      form: 'UEN, 9 or 10 characters',
      shape: /^(?:\d{8}[A-Z]|\d{9}[A-Z]|[RST]\d{2}[A-Z]{2}\d{4}[A-Z])$/,
      check: stdnumCheck('SG', 'uen'),
      pad: (text) => (/^\d{4,7}[A-Z]$/.test(text) ? text.padStart(9, '0') : undefined),
    },
  ],
};

export const australia: CountryNumbers = {
  labels: 'ACN|ABN|A\\.C\\.N\\.|A\\.B\\.N\\.',
  formats: [
    {
      form: 'ACN, 9 digits',
      shape: digits(9),
      also: (text) => [grouped(text, ' ', 3, 3, 3)],
      check: stdnumCheck('AU', 'acn'),
      pad: padTo(9),
    },
  ],
  rewrites: [
    {
      rule: 'abn_to_acn',
      apply: (text) =>
        /^\d{11}$/.test(text) &&
        checkStdnum('AU', 'abn', text) === true &&
        checkStdnum('AU', 'acn', text.slice(2)) === true
          ? text.slice(2)
          : undefined,
    },
  ],
};

export const japan: CountryNumbers = {
  labels: '法人番号',
  formats: [{ form: 'corporate number, 13 digits', shape: digits(13), check: stdnumCheck('JP', 'cn') }],
  rewrites: [{ rule: 'tax_suffix', apply: (text) => /^T(\d{13})$/.exec(text)?.[1] }],
};

export const israel: CountryNumbers = {
  labels: 'ח\\.?פ\\.?|HP',
  formats: [{ form: '9 digits', shape: digits(9), check: stdnumCheck('IL', 'hp') }],
};

export const hongKong: CountryNumbers = {
  labels: 'CR',
  formats: [{ form: '7 or 8 digits', shape: /^[A-Z]?\d{7,8}$/, anyWidth: true, pad: padTo(7) }],
};

export const india: CountryNumbers = {
  labels: 'CIN|LLPIN',
  formats: [
    { form: 'CIN, 21 characters', shape: /^[LU]\d{5}[A-Z]{2}\d{4}[A-Z]{3}\d{6}$/ },
    { form: 'LLPIN (AAB-1234)', shape: /^[A-Z]{3}\d{4}$/, spell: (text) => `${text.slice(0, 3)}-${text.slice(3)}` },
  ],
};

export const newZealand: CountryNumbers = {
  labels: 'NZBN|NZCN',
  formats: [
    { form: 'company number, up to 7 digits', shape: /^[1-9]\d{3,6}$/, anyWidth: true },
    { form: 'NZBN, 13 digits', shape: /^94\d{11}$/ },
  ],
};

export const taiwan: CountryNumbers = {
  labels: 'UBN|統一編號',
  formats: [{ form: '8 digits', shape: digits(8), check: stdnumCheck('TW', 'ubn'), pad: padTo(8) }],
};

export const southAfrica: CountryNumbers = {
  formats: [
    {
      form: 'year/number/kind (2012/123456/07)',
      shape: /^(?:19|20)\d{10}$/,
      spell: (text) => `${text.slice(0, 4)}/${text.slice(4, 10)}/${text.slice(10)}`,
    },
  ],
};
