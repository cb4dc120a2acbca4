import { lazyPackage } from '../../util/lazy-package.js';
import { Memo } from '../../util/memo.js';
import { normalizeText } from '../../util/text-limits.js';

export const isoCountries = lazyPackage<typeof import('i18n-iso-countries')>('i18n-iso-countries/index.js');

/** The three forms a location takes: `GB`, `US-CA` (US, CA, CN only), or a provider's path such as `1_44` (V1-15). */
export const LOCATION_PATTERN = /^(?:[A-Z]{2}|(?:US|CA|CN)-[A-Z0-9]{2,3}|\d+(?:_\d+)+)$/;

/** Codes in daily use that are not ISO 3166-1. */
const ALIASES: Readonly<Record<string, string>> = { UK: 'GB', EL: 'GR' };

export const isoAlias = (code: string): string | undefined => ALIASES[code];

export const isIsoCountry = (code: string): boolean => /^[A-Z]{2}$/.test(code) && isoCountries().isValid(code);

/** Why a location cannot be sent, in words; undefined if it can. */
export function locationProblem(location: string): string | undefined {
  if (!LOCATION_PATTERN.test(location)) {
    return 'expected an ISO country code (GB), a US, CA or CN state (US-CA), or a location ID (1_44)';
  }
  if (!/^[A-Z]{2}$/.test(location) || isIsoCountry(location)) return undefined;
  const alias = isoAlias(location);
  return alias === undefined ? 'not an ISO country code' : `not an ISO country code; use ${alias}`;
}

/** States and provinces whose code is part of a location (V1-15), and the nations of the United Kingdom. */
const UNITED_STATES =
  'AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming|DC District of Columbia|DC Washington DC|AS American Samoa|GU Guam|MP Northern Mariana Islands|PR Puerto Rico|VI Virgin Islands';

const CANADA =
  'AB Alberta|BC British Columbia|BC Colombie-Britannique|MB Manitoba|NB New Brunswick|NB Nouveau-Brunswick|NL Newfoundland and Labrador|NL Newfoundland|NL Terre-Neuve-et-Labrador|NS Nova Scotia|NS Nouvelle-Écosse|NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|QC Québec|SK Saskatchewan|YT Yukon';

const CHINA =
  'AH Anhui|AH 安徽|BJ Beijing|BJ Peking|BJ 北京|CQ Chongqing|CQ 重庆|FJ Fujian|FJ 福建|GD Guangdong|GD 广东|GS Gansu|GS 甘肃|GX Guangxi|GX 广西|GZ Guizhou|GZ 贵州|HA Henan|HA 河南|HB Hubei|HB 湖北|HE Hebei|HE 河北|HI Hainan|HI 海南|HK Hong Kong|HL Heilongjiang|HL 黑龙江|HN Hunan|HN 湖南|JL Jilin|JL 吉林|JS Jiangsu|JS 江苏|JX Jiangxi|JX 江西|LN Liaoning|LN 辽宁|MO Macao|NM Inner Mongolia|NM Nei Mongol|NM 内蒙古|NX Ningxia|NX 宁夏|QH Qinghai|QH 青海|SC Sichuan|SC 四川|SD Shandong|SD 山东|SH Shanghai|SH 上海|SN Shaanxi|SN 陕西|SX Shanxi|SX 山西|TJ Tianjin|TJ 天津|TW Taiwan|XJ Xinjiang|XJ 新疆|XZ Tibet|XZ Xizang|XZ 西藏|YN Yunnan|YN 云南|ZJ Zhejiang|ZJ 浙江';

const UNITED_KINGDOM =
  'ENG England|ENG England and Wales|ENG England & Wales|WLS Wales|WLS Cymru|SCT Scotland|NIR Northern Ireland|EAW England/Wales';

const TABLES: ReadonlyMap<string, Subdivisions> = new Map(
  Object.entries({ US: UNITED_STATES, CA: CANADA, CN: CHINA, GB: UNITED_KINGDOM }).map(([country, list]) => [
    country,
    { prefix: new RegExp(`^${country}\\s*-\\s*`, 'i'), codes: indexOf(list) },
  ]),
);

interface Subdivisions {
  /** The country's own code in front. */
  readonly prefix: RegExp;
  readonly codes: ReadonlyMap<string, string>;
}

/** `CA` for "California", "ca" or "US-CA" in the US; undefined where the text names no subdivision we know. */
export function subdivisionCode(countryCode: string, text: string): string | undefined {
  const table = TABLES.get(countryCode);
  if (table === undefined) return undefined;
  return table.codes.get(plainPlace(text.trim().replace(table.prefix, '')));
}

/** Place names without case, accents and punctuation, for comparing. */
export const plainPlace = (text: string): string => recent.getOrCompute(text, () => withoutMarks(text));

/** A list names few places, each over and over. */
const recent = new Memo<string>();

function withoutMarks(text: string): string {
  return normalizeText(text, 'NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/ (?:province|sheng|shi|state)$/, '')
    .replace(/(?<=\p{Script=Han}{2})[省市]$/u, '');
}

function indexOf(list: string): ReadonlyMap<string, string> {
  const index = new Map<string, string>();
  for (const entry of list.split('|')) {
    const code = entry.slice(0, entry.indexOf(' '));
    index.set(withoutMarks(entry.slice(code.length + 1)), code);
    index.set(code.toLowerCase(), code);
  }
  return index;
}

/**
 * Codes of ISO 3166-2 that are some country's code as well: DE-BE is Berlin, and IT-TO Turin. The states of US, CA and CN have
 * tables of their own.
 */
const PARTS: Readonly<Record<string, string>> = {
  AU: 'SA',
  BR: 'AC AL AM AP BA CE ES GO MA MG MS MT PA PB PE PR RN RO RR RS SC SE SP TO',
  CH: 'AG AI AR BE BL BS FR GE GL GR LU NE SG SH SO SZ TG',
  CL: 'AI AN AR AT BI CO LI LR MA ML TA',
  DE: 'BB BE BW BY HE MV NI SH SL SN ST TH',
  ES: 'AL AV BA BI BU CA CC CE CO CR CS CU GC GI GR GU HU IB LE LO LU MA ML MU NA NC PM PO PV RI SA SE SG SO SS TE TF TO VA VC VI ZA',
  GB: 'NI',
  HU: 'BA BE BU BZ DE ER GS KE KM MI NO PE PS SD SH SK SN SO SS ST SZ TO VA VE ZA',
  IE: 'CE CN CO CW DL KE KY LD LH LK LM LS MH MN MO OY RN SO TA WD WH WW WX',
  IN: 'AN AR AS BR CH DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD PB PY RJ SK TN TR TS UK UP WB',
  IT: 'AG AL AN AO AP AQ AR AT AV BA BG BI BL BN BO BR BS BT BZ CA CB CE CH CI CL CN CO CR CS CT CZ EN FC FE FG FI FM FR GE GO GR IM IS KR LC LE LI LO LT LU MB MC ME MI MN MO MS MT NA NO NU OR PA PC PD PE PG PI PN PO PR PT PU PV PZ RA RC RE RG RI RM RN RO SA SI SO SP SR SS SU SV TA TE TN TO TP TR TS TV UD VA VB VC VE VI VR VT VV',
  LT: 'AL KL KU MR PN SA TA TE UT VL',
  MX: 'COL',
  NL: 'DR FL FR GE GR LI NB NH OV UT ZE ZH',
  PL: 'DS KP LB LD LU MA MZ OP PD PK PM SK SL WN WP ZP',
  RO: 'AB AG AR BC BH BN BR BT BV BZ CJ CL CS CT CV DB DJ GJ GL GR HD HR IF IL IS MH MM MS NT OT PH SB SJ SM SV TL TM TR VL VN VS',
  SK: 'BC BL KI NI PV TA TC ZI',
  ZA: 'EC FS GP GT LP MP NC NL NW WC',
};

/** Whether the code names a part of the country, whatever else it may name. */
export function isPartOf(countryCode: string, code: string): boolean {
  if (subdivisionCode(countryCode, code) !== undefined) return true;
  return (PARTS[countryCode] ?? '').split(' ').includes(code.toUpperCase());
}

/** Countries of ISO 3166-1 that belong to another one, and are often written with it: "Hong Kong (China)". */
const TERRITORIES: Readonly<Record<string, string>> = {
  AU: 'CC CX HM NF',
  CN: 'HK MO TW',
  DK: 'FO GL',
  FI: 'AX',
  FR: 'BL GF GP MF MQ NC PF PM RE TF WF YT',
  GB: 'AI BM FK GG GI GS IM IO JE KY MS PN SH TC VG',
  NL: 'AW BQ CW SX',
  NO: 'BV SJ',
  NZ: 'CK NU TK',
  US: 'AS GU MP PR UM VI',
};

/** A company of the territory is in the territory's register: "Hong Kong (China)" is Hong Kong, and "China (Hong Kong)" is either. */
export const belongsTo = (territory: string, country: string): boolean =>
  (TERRITORIES[country] ?? '').split(' ').includes(territory);
