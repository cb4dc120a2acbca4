import { luhn, organisationCheck, usccAlphabet, usccCheck, weighted } from './checks.js';
import { checked, type NumberFormat } from './format.js';
import type { Country, Register } from './types.js';
import { around, australianBusinessNumber } from './vat.js';

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

export const china: Country = {
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

export const japan: Country = {
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

export const singapore: Country = {
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

export const australia: Country = {
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

export const israel: Country = {
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
