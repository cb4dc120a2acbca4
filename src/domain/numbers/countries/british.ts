import { subdivisionCode } from '../../subdivisions.js';
import type { CountryNumbers } from '../format.js';

/** The letters that Companies House puts before six digits, by kind of body and nation. */
const PREFIXES =
  'SC|NI|OC|SO|NC|LP|SL|NL|FC|SF|NF|GE|GN|GS|IP|SP|NP|NO|IC|SI|RC|SR|NR|NV|AC|SA|NA|CE|CS|PC|RS|SZ|ZC|OE|BR|UC|SE|ES|EN|R0';

const PREFIXED_SHORT = new RegExp(`^(${PREFIXES})(\\d{1,5})$`);

export const unitedKingdom: CountryNumbers = {
  labels: 'CRN|COMPANIES HOUSE',
  formats: [
    {
      form: '8 digits, or two letters and 6 digits',
      shape: new RegExp(`^(?:\\d{8}|(?:${PREFIXES})\\d{6}|R\\d{7}|[A-Z]{2}\\d{5}[A-HJKMNP-Z])$`),
      pad: (text) => {
        if (/^\d{1,7}$/.test(text)) return text.padStart(8, '0');
        const [, prefix, number] = PREFIXED_SHORT.exec(text) ?? [];
        return prefix === undefined || number === undefined ? undefined : `${prefix}${number.padStart(6, '0')}`;
      },
    },
  ],
  foreign: (text, _, state) => {
    if (/^(?:GB)?\d{9}(?:\d{3})?$/.test(text))
      return 'this has the form of a British VAT number, not of a company number';
    if (!/^\d{1,6}$/.test(text) || state === undefined) return undefined;
    const nation = subdivisionCode('GB', state);
    if (nation === 'SCT') return 'a Scottish company number begins with SC; the prefix is missing';
    if (nation === 'NIR') return 'a Northern Irish company number begins with NI; the prefix is missing';
    return undefined;
  },
};

export const ireland: CountryNumbers = {
  labels: 'CRO',
  formats: [
    {
      form: 'up to 6 digits',
      shape: /^[1-9]\d{0,5}$/,
      anyWidth: true,
      unpad: (text) => (/^0+[1-9]\d*$/.test(text) ? text.replace(/^0+/, '') : undefined),
    },
  ],
  foreign: (text) =>
    /^(?:IE)?\d{7}[A-W][A-I]?$/.test(text)
      ? 'this has the form of an Irish VAT number, not of a company number'
      : undefined,
};
