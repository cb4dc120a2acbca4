import { subdivisionCode } from './subdivisions.js';

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
