import type { Json } from '../json.js';
import { amountText, filedValue, ratioText } from './amounts.js';
import { hash, Random } from './random.js';
import { hasTrait } from './traits.js';

const statements = [
  { name: 'Summary', metrics: 'Turnover|Operating profit|Profit before tax|Total assets|Net assets|Employees' },
  {
    name: 'Balance sheet',
    metrics:
      'Intangible assets|Tangible assets|Investments|Fixed assets|Stocks|Trade debtors|Other debtors|Prepayments|Cash at bank and in hand|Current assets|Trade creditors|Taxation and social security|Accruals|Creditors: due within one year|Net current assets|Creditors: due after one year|Provisions|Net assets|Forderungen aus Lieferungen und Leistungen|Rückstellungen',
  },
  {
    name: 'Income statement',
    metrics:
      'Turnover|Cost of sales|Gross profit|Distribution costs|Administrative expenses|Other operating income|Operating profit|Interest receivable|Interest payable|Profit before tax|Tax on profit|Profit for the period|Dividends|Retained profit|Depreciation|Amortisation|Staff costs',
  },
  {
    name: 'Cash flow',
    metrics:
      'Cash from operations|Tax paid|Interest paid|Purchase of fixed assets|Sale of fixed assets|Acquisitions|Loans received|Loans repaid|Dividends paid|Net change in cash|Cash at start|Cash at end',
  },
  {
    name: 'Capital and reserves',
    metrics: 'Called up share capital|Share premium|Revaluation reserve|Other reserves|Profit and loss account|Equity',
  },
  {
    name: 'Ratios',
    ratios: true,
    metrics: 'Current ratio|Quick ratio|Gearing|Gross margin|Net margin|Return on equity|Return on assets',
  },
].map((statement) => ({ ...statement, metrics: statement.metrics.split('|') }));

export interface FiledFinancials {
  readonly years: readonly string[];
  readonly groups: readonly { readonly [key: string]: Json | undefined }[];
}

/** Filed statements. `strings`: the second API writes every value as a string. */
export function filedFinancials(seed: number, index: number, strings: boolean): FiledFinancials {
  const random = new Random(hash(seed, index, 96));
  const large = hasTrait(seed, index, 'large');
  const periods = large ? 11 : random.between(1, 4);
  const closing = random.pick(['12-31', '12-31', '03-31', '06-30']);
  const years = Array.from({ length: periods }, (_, i) => `${2024 - i}-${closing}`);
  const magnitude = large ? random.between(8, 11) : random.between(3, 7);
  const shown = large ? statements : statements.slice(0, random.between(1, statements.length));
  const groups = shown.map((statement, order) => ({
    id: String(9_000 + order),
    name: statement.name,
    order: order + 1,
    list: statement.metrics.flatMap((name): Json[] => {
      if (!large && random.chance(0.35)) return [];
      const list: Record<string, Json> = {};
      for (const year of years) {
        const text = statement.ratios === true ? ratioText(random) : amountText(random, magnitude);
        list[year] = strings ? text : filedValue(random, text);
      }
      return [{ name, list, progress: progress(random, periods) }];
    }),
  }));
  return { years, groups };
}

/** Absent for one metric in three. */
function progress(random: Random, periods: number): Json | undefined {
  if (periods < 2 || random.chance(0.33)) return undefined;
  return Array.from({ length: periods - 1 }, () => random.between(-9_999, 9_999) / 100);
}
