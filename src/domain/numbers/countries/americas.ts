import { subdivisionCode } from '../../subdivisions.js';
import { type CountryNumbers, digits, padTo, type RegisterFormat } from '../format.js';
import { stdnumCheck } from '../stdnum.js';

const numeric = (width: number): RegisterFormat => ({
  form: `${width} digits`,
  shape: digits(width),
  pad: padTo(width),
});

/** Every state files on its own. States that are not listed take any number. */
const STATES: Readonly<Record<string, readonly RegisterFormat[]>> = {
  DE: [numeric(7)],
  NY: [numeric(7)],
  OH: [numeric(7)],
  TX: [numeric(10)],
  WA: [{ ...numeric(9), also: (text) => [`${text.slice(0, 3)} ${text.slice(3, 6)} ${text.slice(6)}`] }],
  CA: [
    {
      form: 'C and 7 digits, or 12 digits',
      shape: /^(?:[BC]\d{7}|B?\d{12})$/,
      pad: (text) => {
        const number = /^C(\d{1,6})$/.exec(text)?.[1];
        return number === undefined ? undefined : `C${number.padStart(7, '0')}`;
      },
    },
  ],
  FL: [
    {
      form: 'a letter and 11 digits',
      shape: /^[A-Z]\d{11}$|^[A-Z]\d{5}$|^\d{6}$/,
      pad: (text) =>
        /^[A-Z]\d{6,10}$/.test(text) ? `${text.slice(0, 1)}${text.slice(1).padStart(11, '0')}` : undefined,
    },
  ],
};

const ANY: RegisterFormat = { form: 'a file number of the state', shape: /^(?!US\d)[A-Z]{0,4}\d{3,14}[A-Z]?$/ };

/** The numbers of one state; of any state if none is given. */
export function unitedStates(state: string | undefined): CountryNumbers {
  const code = state === undefined ? undefined : subdivisionCode('US', state);
  return {
    labels: 'FILE|ENTITY|CHARTER|SOS|FILING',
    formats: (code === undefined ? undefined : STATES[code]) ?? [ANY],
    foreign: (text, written) => {
      if (/^\d{2}-\d{7}$/.test(written)) return 'this is an EIN (tax number), not the file number of a state';
      const mayBeEin = /^\d{9}$/.test(text) && code !== 'WA';
      return mayBeEin
        ? 'nine digits: this may be an EIN (tax number) rather than the file number of a state'
        : undefined;
    },
  };
}

interface Province {
  readonly form: string;
  readonly shape: RegExp;
  readonly width?: number;
}

const PROVINCES: Readonly<Record<string, Province>> = {
  ON: { form: '7 to 10 digits', shape: /^\d{7,10}$/, width: 7 },
  BC: { form: '7 digits, with or without BC', shape: /^(?:BC|C|S|FM|A|LL)?\d{7}$/, width: 7 },
  QC: { form: '9 or 10 digits', shape: /^\d{9,10}$/, width: 9 },
  AB: { form: '9 or 10 digits', shape: /^\d{9,10}$/ },
};

/** Federal corporations have seven digits. */
const ANY_PROVINCE: Province = { form: '7 or 9 digits', shape: /^(?:(?:BC|C|S|FM|A|LL)?\d{7}|\d{9,10})$/ };

export function canada(state: string | undefined): CountryNumbers {
  const code = state === undefined ? undefined : subdivisionCode('CA', state);
  const { form, shape, width } = PROVINCES[code ?? ''] ?? ANY_PROVINCE;
  return {
    labels: 'CORPORATION|NEQ|OCN',
    formats: [
      {
        form,
        shape,
        also: (text) => (text.length === 7 ? [`${text.slice(0, 6)}-${text.slice(6)}`] : []),
        ...(width === undefined ? {} : { pad: padTo(width) }),
      },
    ],
    foreign: (text) =>
      /^\d{9}R[A-Z]\d{4}$/.test(text) ? 'this is a business number (tax account), not a corporation number' : undefined,
  };
}

export const brazil: CountryNumbers = {
  labels: 'CNPJ',
  formats: [
    {
      form: 'CNPJ, 14 digits',
      shape: digits(14),
      spell: (text) =>
        `${text.slice(0, 2)}.${text.slice(2, 5)}.${text.slice(5, 8)}/${text.slice(8, 12)}-${text.slice(12)}`,
      check: stdnumCheck('BR', 'cnpj'),
      pad: (text) => (/^\d{11,13}$/.test(text) ? text.padStart(14, '0') : undefined),
    },
  ],
};

export const mexico: CountryNumbers = {
  labels: 'RFC',
  formats: [{ form: 'RFC, 12 characters', shape: /^[A-Z&Ñ]{3}\d{6}[0-9A-Z]{3}$/ }],
};
