import type { Language } from './countries/number-formats.js';

/**
 * Words of company names. Each list is built from two halves, so that 64 words fit on two lines; a name is a
 * first word, a trade and a qualifier, and can be taken apart again.
 */
export interface Lexicon {
  readonly first: readonly string[];
  readonly trade: readonly string[];
  readonly qualifier: readonly string[];
  /** Words are written together, two characters each. */
  readonly joined: boolean;
}

const cross = (left: string, right: string, between = ''): string[] =>
  left.split(' ').flatMap((a) => right.split(' ').map((b) => (b === '-' ? a : `${a}${between}${b}`)));

const qualifiers = [
  '',
  'Holding',
  'Group',
  'Services',
  'International',
  'Trading',
  'Capital',
  'Logistics',
  'Fund 11',
  'Fund 12',
  'Partners',
  '& Sons',
  'Systems',
  'Ventures',
  'Energy',
  'Properties',
  'Fund 1',
  'Solutions',
  'Industries',
  'Foods',
  'Media',
  'Consulting',
  'Medical',
  'Supply',
  'Finance',
  'Labs',
  'Design',
  'Travel',
  'Textiles',
  'Security',
  'Research',
  'Pharma',
].flatMap((word) => ['', 'East', 'West', '2000'].map((tail) => [word, tail].filter((part) => part !== '').join(' ')));

const latin = (first: string[], trade: string[]): Lexicon => ({ first, trade, qualifier: qualifiers, joined: false });

export const lexicons: Readonly<Record<Language, Lexicon>> = {
  en: latin(
    cross("Ash Brook Carl Dun East Fair Green Hart Kings Lang Mill North O'Bri Raven Stan Whit", 'ford worth en ley'),
    cross(
      'Iron Wood Stone Glass Water Paper Copper Wind Sea Field Silver Cloud Fire Grain Leather Timber',
      'works craft ware line',
    ),
  ),
  de: latin(
    cross('Müll Schröd Groß Jäg Köhl Weiß Bäck Hofm Wagn Lehm Strauß Brand Füss Krüg Neum Vogl', 'er mann ert inger'),
    cross(
      'Maschinen Metall Holz Anlagen Fahrzeug Möbel Kunststoff Elektro Stahl Lüftungs Wasser Getränke Papier Textil Werkzeug Energie',
      'bau handel technik werke',
    ),
  ),
  fr: latin(
    cross(
      'Beau Château Clair Dubois Fontaine Grand Lefèvre Mont Noël Perrin Rivière Saint Vallée Verd Bel Hôtel',
      '- mont val ier',
    ),
    cross(
      'Agro Bio Électro Éco Géo Hydro Immo Métal Opti Petro Photo Techno Thermo Trans Vini Auto',
      'mécanique systèmes logistique chimie',
    ),
  ),
  es: latin(
    cross('Al Bel Cas Dor Esp Fuent Gar Her Íñig Lob Mar Núñ Ord Peñ Riv Sal', 'anza ero illa ones'),
    cross(
      'Agro Bio Electro Eco Geo Hidro Inmo Metal Opti Petro Foto Tecno Termo Trans Vini Auto',
      'mecánica sistemas logística química',
    ),
  ),
  it: latin(
    cross('Alb Bian Cast Dell Ester Ferr Giord Lomb Mar Ner Oliv Pell Ross Sant Tor Vald', 'ini ella ano etti'),
    cross(
      'Agro Bio Elettro Eco Geo Idro Immo Metal Otti Petro Foto Tecno Termo Trans Vini Auto',
      'meccanica sistemi logistica chimica',
    ),
  ),
  nordic: latin(
    cross('Ål Berg Ek Fjell Gran Hav Is Kjær Lind Nord Ø Sjø Skog Stor Väst Ås', 'dal strand vik lund'),
    cross(
      'Skogs Stål Trä Kraft Bygg Fiske Sjö Bil Data Energi Glas Grus Hamn Jord Kabel Maskin',
      'bruk teknik gruppen tjänst',
    ),
  ),
  slavic: latin(
    cross('Bial Czar Dąb Gór Jasn Kow Łuk Mal Now Orl Piotr Rad Stan Wiśn Zaw Žiž', 'ski owa ek ina'),
    cross('Stal Elektro Drew Bud Agro Chem Gaz Auto Met Papier Szkło Tekst Trans Piek Węgl Wod', 'mont prod hurt pol'),
  ),
  cjk: {
    first: cross('华 东 金 天 长 新 海 大', '宏 方 龙 安 泰 和 明 盛'),
    trade: cross('电 机 化 食 纺 建 医 网', '子 械 工 品 织 材 药 络'),
    qualifier: cross('科 贸 投 物 实 发 控 服 技 咨 传 能 环 教 文 旅', '技 易 资 流 业 展 股 务'),
    joined: true,
  },
  hebrew: latin(
    cross('אל בר גל דן הר כר לב מע', 'ון אור ים טל נה רז שי תן'),
    cross('מת עצ בנ אנ תע מז תק שי', 'כת ים יה רגיה שייה ון שורת רות'),
  ),
};

/** The indicators of the flat financials, by family. Names of the provider's document come first in each. */
const money = {
  income:
    'Turnover World-Turnover Cost-of-Sales Gross-Profit Operating-Profit Pre-Tax-Profit Profit-after-Tax Retained-Profit Taxation EBITDA EBIT UK-Turnover Export-Turnover Other-Income Other-Operating-Income Operating-Expenses Administrative-Expenses Distribution-Costs Selling-Expenses Exceptional-Items Extraordinary-Items Interest-Paid Interest-Received Net-Interest Dividends Minority-Interests Depreciation Amortisation Impairment Research-And-Development Cost-of-Materials Net-Income Exports',
  balance:
    'Total-Assets Total-Liabilities Net-Assets Total-Current-Assets Total-Fixed-Assets Tangible-Assets Intangible-Assets Goodwill Stocks-And-Work-in-Progress Trade-Debtors Trade-Creditors Working-Capital Cash Total-Current-Liabilities Total-Long-Term-Liabilities Land-And-Buildings Plant-And-Machinery Fixtures-And-Fittings Investments Investments-in-Subsidiaries Other-Debtors Prepayments Accrued-Income Deferred-Income Accruals Deferred-Tax Provisions-for-Liabilities Other-Current-Assets Other-Current-Liabilities Other-Fixed-Assets Marketable-Securities Group-Debtors Group-Creditors Tax-Payable Social-Security-Payable Dividends-Payable Director-Loans Raw-Materials Finished-Goods Pension-Liabilities Contingent-Liabilities',
  debt: 'Bank-Loan Bank-Overdraft Borrowings-due-within-one-year Borrowings-due-after-one-year Total-Long-Term-Loans Hire-Purchase-Commitments Lease-Commitments Subordinated-Liabilities Finance-Leases Bonds Convertible-Debt Group-Loans Other-Short-Term-Loans Other-Long-Term-Loans Net-Debt Gross-Debt',
  capital:
    'Share-Capital Share-Premium Equity-Paid-Up Revaluation-Reserve Sundry-Reserves P-And-L-Account-Reserve Shareholder-Funds Capital-Employed Net-Worth Capital-Redemption-Reserve Merger-Reserve Treasury-Shares Issued-Capital Preference-Shares Hedging-Reserve Translation-Reserve Tangible-Net-Worth',
  cashFlow:
    'Net-Cash-Flow-from-Operations Net-Cash-Flow-from-Financing Net-Cash-Flow-before-Financing Increase-In-Cash Net-Change-In-Cash Net-Tax-Paid Net-Cash-Flow-from-Investing Capital-Expenditure Sale-of-Fixed-Assets Acquisitions-And-Disposals Dividends-Paid Interest-Paid-In-Cash Loans-Received Loans-Repaid Share-Issues Free-Cash-Flow Cash-At-Start Cash-At-End',
  banking:
    'Loans-and-advances-to-banks Loans-and-advances-to-customers Customer-accounts Deposits-by-banks Net-Interest-Income Fees-and-Commission-Expense Gross-Written-Premiums Net-Premiums-Earned Technical-Provisions Reinsurance-Liabilities Fees-and-Commission-Income Trading-Income Debt-Securities Treasury-Bills Claims-Incurred Claims-Outstanding Reinsurance-Assets Unearned-Premiums Investment-Income Loan-Loss-Provisions Derivative-Assets Derivative-Liabilities',
  people:
    'Wages-And-Salaries Employee-Remuneration Directors-Remuneration Pensions Audit-Fees Auditor-Fees Social-Security-Costs Highest-Paid-Director Non-Audit-Fees Directors-Pensions Share-Based-Payments',
};

const ratios =
  'Current-Ratio Liquidity-Ratio Gross-Margin Net-Margin EBITDA-Margin Operating-Profit-Margin Return-On-Assets Return-On-Equity Return-On-Capital-Employed Interest-Coverage-Ratio Debt-To-Capital Gearing-Gross-Debt Gearing-Net-Debt Gearing-Liability Inventory-Turnover-Ratio Days-Sales-Outstanding Days-Payable-Outstanding Days-Inventory-Outstanding Cash-Conversion-Cycle Revenue-Per-Employee Human-Capital-Value-Added Quick-Ratio Cash-Ratio Asset-Turnover Equity-Ratio Debt-To-Equity Debt-To-Assets Fixed-Asset-Turnover Working-Capital-Turnover Pre-Tax-Margin EBIT-Margin Return-On-Net-Assets Profit-Per-Employee Assets-Per-Employee Wages-Per-Employee Effective-Tax-Rate Dividend-Cover Solvency-Ratio Creditor-Days Debtor-Days Stock-Turnover Capital-Intensity';

const split = (text: string): string[] => text.split(' ');

export const moneyIndicators: readonly string[] = Object.values(money).flatMap(split);
export const ratioIndicators: readonly string[] = split(ratios);

/** Year over year, of the main figures of each family. */
export const yoyIndicators: readonly string[] = [
  ...split('Turnover Profit-after-Tax EBITDA Total-Liabilities Employee-Numbers Exports'),
  ...split(money.income).slice(1, 22),
  ...split(money.balance).slice(0, 30),
  ...split(money.debt).slice(0, 8),
  ...split(money.capital).slice(0, 9),
  ...split(money.cashFlow).slice(0, 12),
]
  .filter((name, i, all) => all.indexOf(name) === i)
  .map((name) => `${name}-Yoy`);

type Coded = readonly (readonly [string, string])[];

const coded = (text: string): Coded =>
  text.split(', ').map((entry) => [entry.slice(0, entry.indexOf(' ')), entry.slice(entry.indexOf(' ') + 1)] as const);

export const unitedStatesStates = coded(
  'AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware, DC District of Columbia, FL Florida, GA Georgia, HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine, MD Maryland, MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming',
);

export const canadianProvinces = coded(
  'AB Alberta, BC British Columbia, MB Manitoba, NB New Brunswick, NL Newfoundland and Labrador, NS Nova Scotia, NT Northwest Territories, NU Nunavut, ON Ontario, PE Prince Edward Island, QC Quebec, SK Saskatchewan, YT Yukon',
);

export const chineseProvinces = coded(
  'BJ Beijing, TJ Tianjin, HE Hebei, SX Shanxi, LN Liaoning, JL Jilin, HL Heilongjiang, SH Shanghai, JS Jiangsu, ZJ Zhejiang, AH Anhui, FJ Fujian, JX Jiangxi, SD Shandong, HA Henan, HB Hubei, HN Hunan, GD Guangdong, HI Hainan, CQ Chongqing, SC Sichuan, GZ Guizhou, YN Yunnan, SN Shaanxi, GS Gansu, QH Qinghai',
);

/** Known to the vocabulary, without companies in this registry: a search there answers an empty list. */
export const otherCountries: Readonly<Record<string, string>> = {
  Europe: 'GR MT HU RO BG HR SI SK EE LV LT CY IS UA RS MD AL BA ME MK MC SM AD GI JE GG IM FO BY VA AX RU',
  'North America': 'MX PA CR GT HN NI SV BZ CU DO HT JM BS BB TT BM KY VG VI PR GP MQ AW CW SX AG DM GD LC VC KN GL',
  'South America': 'AR CL CO PE UY PY BO EC VE GY SR GF FK',
  Asia: 'IN HK TW KR TH VN MY ID PH AE SA QA KW BH OM TR JO LB IQ KZ UZ GE AM AZ PK BD LK NP KH LA MM MN MO BN MV IR AF SY YE KG TJ TM KP TL BT PS',
  Oceania: 'NZ FJ PG SB VU WS TO KI NR TV FM MH PW NC PF',
  Africa:
    'ZA EG MA TN DZ NG KE GH TZ UG ET SN CI CM AO MZ ZM ZW BW NA MU SC RW MG LY SD ML NE TD BJ TG BF GN GA CG CD CF GQ GM GW LR SL MR DJ ER SO SS BI MW LS SZ KM CV ST RE',
};
