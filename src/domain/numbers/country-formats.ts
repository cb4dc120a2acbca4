import { subdivisionCode } from '../places/location-codes.js';
import {
  type CountryNumbers,
  checkStdnum,
  digits,
  grouped,
  padTo,
  type RegisterFormat,
  stdnumCheck,
} from './format.js';

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
