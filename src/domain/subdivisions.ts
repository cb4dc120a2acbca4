import { Recent } from '../util/recent.js';
import { normalizeText } from '../util/text-limits.js';

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
export const plainPlace = (text: string): string => recent.of(text, () => withoutMarks(text));

/** A list names few places, each over and over. */
const recent = new Recent<string>();

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
