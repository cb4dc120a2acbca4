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
