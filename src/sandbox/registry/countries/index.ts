import {
  americanEin,
  around,
  australianBusinessNumber,
  type Country,
  canadianBusinessNumber,
  checked,
  digits,
  luhn,
  type NumberFormat,
  organisationCheck,
  type Register,
  usccAlphabet,
  usccCheck,
  weighted,
} from './number-formats.js';
import { czechia, denmark, finland, italy, norway, poland, portugal, spain, sweden } from './other-europe.js';
import {
  austria,
  belgium,
  france,
  germany,
  ireland,
  liechtenstein,
  luxembourg,
  netherlands,
  switzerland,
  unitedKingdom,
} from './western-europe.js';

const sevenDigits = digits(7, 12_000, 4_000_000);

const unitedStates: Country = {
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

const canada: Country = {
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

const brazil: Country = {
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

const china: Country = {
  code: 'CN',
  name: 'China',
  continent: 'Asia',
  language: 'cjk',
  currency: 'CNY',
  authority: 'State Administration for Market Regulation',
  dial: '+86',
  domain: 'cn',
  postal: 6,
  legalForms: ['有限公司', '股份有限公司', '有限责任公司'],
  vat: around(''),
  aliases: ['China', '中国', 'Chine', 'PR China', 'cn'],
  registers: [
    province(14, 'BJ', 'Beijing', ['110105', '110108'], ['北京']),
    province(14, 'SH', 'Shanghai', ['310115', '310104'], ['上海']),
    province(16, 'GD', 'Guangdong', ['440300', '440305'], ['深圳', '广州']),
    province(6, 'ZJ', 'Zhejiang', ['330100', '330106'], ['杭州', '宁波']),
  ],
};

const corporateNumber = (base: string): string => {
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (base.charCodeAt(11 - i) - 48) * (i % 2 === 0 ? 1 : 2);
  return `${9 - (sum % 9)}${base}`;
};

const japan: Country = {
  code: 'JP',
  name: 'Japan',
  continent: 'Asia',
  language: 'cjk',
  currency: 'JPY',
  authority: 'National Tax Agency',
  dial: '+81',
  domain: 'co.jp',
  postal: 7,
  legalForms: ['株式会社', '合同会社'],
  vat: around('T'),
  aliases: ['Japan', '日本', 'Japon', 'jp'],
  registers: [
    {
      share: 18,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 12,
        low: 10_401_000_000,
        high: 120_001_000_000,
        finish: corporateNumber,
        base: (text) => (text.length === 13 ? text.slice(1) : ''),
      }),
      cities: ['東京', '大阪', '名古屋'],
    },
  ],
};

const singapore: Country = {
  code: 'SG',
  name: 'Singapore',
  continent: 'Asia',
  language: 'en',
  currency: 'SGD',
  authority: 'ACRA',
  dial: '+65',
  domain: 'sg',
  postal: 6,
  legalForms: ['Pte. Ltd.', 'Pte Ltd', 'LLP'],
  vat: around('M'),
  aliases: ['Singapore', 'Singapur', '新加坡', 'sg'],
  registers: [
    {
      share: 20,
      state: null,
      jurisdiction: null,
      // Companies: year, five digits and a letter; the older businesses: eight digits and a letter.
      number: {
        capacity: 1_500_000,
        encode: (n) => {
          if (n % 5 === 0) {
            const base = String(5_000_000 + n / 5).padStart(8, '0');
            return `${base}${'XMKECAWLJDB'.charAt(weighted(base, [10, 4, 9, 3, 8, 2, 7, 1]) % 11)}`;
          }
          const base = String(200_200_000 + n - Math.floor(n / 5) - 1);
          return `${base}${'ZKCMDNERGWH'.charAt(weighted(base, [10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11)}`;
        },
        decode: (text) => {
          if (/^\d{8}[A-Z]$/.test(text)) return (Number(text.slice(0, 8)) - 5_000_000) * 5;
          if (!/^\d{9}[A-Z]$/.test(text)) return undefined;
          const position = Number(text.slice(0, 9)) - 200_200_000;
          return Math.floor(position / 4) * 5 + (position % 4) + 1;
        },
      },
      cities: ['Singapore'],
    },
  ],
};

const australia: Country = {
  code: 'AU',
  name: 'Australia',
  continent: 'Oceania',
  language: 'en',
  currency: 'AUD',
  authority: 'ASIC',
  dial: '+61',
  domain: 'com.au',
  postal: 4,
  legalForms: ['Pty Ltd', 'Pty. Ltd.', 'Limited'],
  vat: australianBusinessNumber,
  aliases: ['Australia', 'Australien', 'AUS', 'au'],
  registers: [
    {
      share: 24,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 8,
        low: 400_000,
        high: 60_000_000,
        finish: (base) => `${base}${(10 - (weighted(base, [8, 7, 6, 5, 4, 3, 2, 1]) % 10)) % 10}`,
        base: (text) => (text.length === 9 ? text.slice(0, 8) : ''),
      }),
      cities: ['Sydney', 'Melbourne', 'Brisbane', 'Perth'],
    },
  ],
};

const israel: Country = {
  code: 'IL',
  name: 'Israel',
  continent: 'Asia',
  language: 'hebrew',
  currency: 'ILS',
  authority: 'רשם החברות',
  dial: '+972',
  domain: 'co.il',
  postal: 7,
  legalForms: ['בע"מ', 'חברה בע"מ'],
  vat: around('IL'),
  aliases: ['Israel', 'ישראל', 'il'],
  registers: [
    {
      share: 14,
      state: null,
      jurisdiction: null,
      number: checked({
        width: 8,
        low: 51_000_000,
        high: 51_500_000,
        finish: (base) => `${base}${luhn(base)}`,
        base: (text) => (text.length === 9 ? text.slice(0, 8) : ''),
      }),
      cities: ['תל אביב', 'חיפה', 'ירושלים'],
    },
  ],
};

/** The order is part of the generator: append, or every company changes. */
export const countries: readonly Country[] = [
  unitedKingdom,
  germany,
  france,
  netherlands,
  belgium,
  sweden,
  norway,
  denmark,
  finland,
  ireland,
  spain,
  italy,
  poland,
  switzerland,
  unitedStates,
  canada,
  china,
  singapore,
  austria,
  portugal,
  czechia,
  luxembourg,
  australia,
  japan,
  israel,
  brazil,
  liechtenstein,
];

/** States number on their own: Delaware, New York and Ohio all have a company 4123456. */
function state(share: number, code: string, name: string, number: NumberFormat, cities: readonly string[]): Register {
  return { share, state: code, jurisdiction: name, number, cities };
}

function elevenMinus(sum: number): number {
  const rest = sum % 11;
  return rest < 2 ? 0 : 11 - rest;
}

/**
 * Unified social credit code: even positions have an organisation code of digits, odd ones start with MA. Common
 * validators refuse a check character of 0, so such codes belong to the neighbouring district.
 */
function socialCredit(region: string, neighbour: string): NumberFormat {
  return {
    capacity: 60_000_000,
    encode: (n) => {
      const half = Math.floor(n / 2);
      const code = n % 2 === 0 ? String(70_000_000 + half) : `MA${base31(half)}`;
      const whole = finish(`91${region}${code}`);
      return whole.endsWith('0') ? finish(`91${neighbour}${code}`) : whole;
    },
    decode: (text) => {
      if (text.length !== 18 || (!text.startsWith(region, 2) && !text.startsWith(neighbour, 2))) return undefined;
      const code = text.slice(8, 16);
      if (/^\d{8}$/.test(code)) return (Number(code) - 70_000_000) * 2;
      return code.startsWith('MA') ? fromBase31(code.slice(2)) * 2 + 1 : undefined;
    },
  };
}

function finish(text: string): string {
  const front = `${text}${organisationCheck(text.slice(8))}`;
  return `${front}${usccCheck(front)}`;
}

function base31(value: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < 6; i++) {
    text = usccAlphabet.charAt(rest % 31) + text;
    rest = Math.floor(rest / 31);
  }
  return text;
}

function fromBase31(text: string): number {
  let value = 0;
  for (const character of text) {
    const digit = usccAlphabet.indexOf(character);
    if (digit < 0) return Number.NaN;
    value = value * 31 + digit;
  }
  return value;
}

function province(
  share: number,
  state: string,
  name: string,
  [region, neighbour]: readonly [string, string],
  cities: readonly string[],
): Register {
  return { share, state, jurisdiction: name, number: socialCredit(region, neighbour), cities };
}
