/**
 * Every field of a response in the two documents, as written there. It is taken from the documents alone, not from the
 * code. A text is the type of its leaf.
 */
export type Shape = Leaf | readonly [Shape] | { readonly [member: string]: Shape };
export type Leaf = 'text' | 'digits' | 'number' | 'year' | 'date' | 'boolean';

const text: Leaf = 'text';
const number: Leaf = 'number';
const year: Leaf = 'year';
const date: Leaf = 'date';
const boolean: Leaf = 'boolean';

/** Members of one kind. */
const all = <Kind extends Leaf>(kind: Kind, names: string): Readonly<Record<string, Kind>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, kind]));

const source = all(text, 'category comment id name url');
const candidateV1 = { ...all(text, 'id name registration_number vat_number country_code state jurisdiction'), source };
/** A text for an integer in the paths of v2 (V2-4). */
const id: Leaf = 'digits';
const candidateV2 = { id, ...all(text, 'name registration_number vat_number country_code state') };

const liteBasic = {
  ...all(text, 'name registration_number vat_number status legal_form ticker'),
  incorporation_date: date,
};
const liteAddress = all(
  text,
  'country_code country_name country_region address_street address_location address_city zip_code jurisdiction',
);
const officerV1: Readonly<Record<string, Leaf>> = {
  ...all(text, 'id first_name last_name work_status job_title'),
  ...all(text, 'address_country address_line_1 address_locality address_region address_postal_code'),
  ...all(date, 'appointed_at resigned_at'),
  date_of_birth_year: year,
  date_of_birth_month: number,
};
const { resigned_at: _, work_status: __, ...officerV2 } = officerV1;
const shareholderV1 = {
  ...all(text, 'id name share_type share_value currency status'),
  ...all(number, 'percentage quantity share_price total_value'),
};
const shareholderV2 = {
  ...all(text, 'id name currency company_id share_value share_type'),
  ...all(number, 'quantity share_price total_value'),
};
const officerFound = {
  ...all(text, 'id company_id company_name registration_number company_status full_name title nationality'),
  ...all(text, 'officer_role country_of_residence address_postal_code'),
  ...all(date, 'incorporation_date appointed_at resigned_at'),
};
const filed = {
  years: [date],
  groups: [
    {
      ...all(text, 'id name'),
      order: number,
      list: [{ name: text, list: { '2024-12-31': number }, progress: [number] }],
    },
  ],
} as const;
const node = {
  ...all(text, 'id name country registration_number'),
  selected: boolean,
  children: [{ ...all(text, 'id name country registration_number'), selected: boolean }],
} as const;
const nodeV2 = {
  ...all(text, 'id registration_number name'),
  selected: boolean,
  children: [{ ...all(text, 'id registration_number name'), selected: boolean }],
} as const;
const totals = all(number, 'total_results total_pages');
const pages = all(number, 'total_results pages');
const enrichedCompany = all(
  text,
  'id name registration_number country_code company_legal_form address_city size founding_date',
);
const enrichedPerson = {
  ...all(text, 'id full_name gender function_original_name phone email company_id company_name'),
  seniority_level: [text],
} as const;
const report = {
  summary: {
    ...all(number, 'turnover ebitda age_of_business charges mortgages court_judgements'),
    number_of_employees: text,
    overall_credit_risk: {
      pod: number,
      ...all(text, 'commonValue commonDescription'),
      creditLimit: all(text, 'value currency'),
    },
    what_we_like_about_this_company: [text],
  },
  company_profile: { any: text },
} as const;
const historyItem = { ...all(text, 'id name source_id url status date_created'), expired: boolean };
const watched = { ...all(text, 'id name country_code registration_number date'), fields: [text] } as const;

/** Not an operation: it is posted to the callback address. */
export const NOTIFICATION = 'change notification';

/** By operation. Missing operations have no documented fields. */
export const documented: Readonly<Record<string, Shape>> = {
  searchKyb: [candidateV1],
  // With provenance: the flat form has the same fields, under names that the document does not show.
  liteKyb: {
    id: text,
    basic: { ...liteBasic, source },
    address: { ...liteAddress, source },
    contact: { ...all(text, 'website linkedin'), source },
  },
  // With provenance: only contacts are named among the groups, and each may have its source.
  officersKyb: {
    data: [
      {
        ...officerV1,
        officer: { source },
        appointment: { source },
        address: { source },
        contact: { ...all(text, 'email phone'), source },
      },
    ],
    ...totals,
  },
  officersSearchKyb: [
    {
      ...officerFound,
      ...all(text, 'first_name middle_name last_name sex work_status'),
      ...all(text, 'address_country address_line_1 address_locality address_region email phone'),
      date_of_birth_year: year,
      date_of_birth_month: number,
      company: { source },
      officer: { source },
      appointment: { source },
      address: { source },
      contact: { source },
    },
  ],
  shareholdersKyb: { data: [shareholderV1], source, ...totals },
  shareholdersSearchKyb: {
    data: [
      {
        company: {
          ...all(text, 'id name registration_number vat_number'),
          address: all(text, 'zip city address1 address2 country_region'),
        },
        ...all(text, 'name type id created status share_type share_value currency'),
        ...all(number, 'percentage quantity share_price'),
        source,
      },
    ],
    ...totals,
  },
  groupLiteKyb: { data: [node], source },
  groupFullKyb: { data: [node], source },
  financialKyb: { ...filed, source },
  fullKyb: {
    lite: {
      ...all(text, 'id name registration_number vat_number status country_code legal_form'),
      incorporation_date: date,
    },
    officers: [officerV1],
    shareholders: [shareholderV1],
    group_structures_full: [
      { ...all(text, 'company_id country_source country_target source target title target_title'), temporary: boolean },
    ],
    financial: { ...all(text, 'id name'), ...filed },
    // The document does not show their place.
    provenance: {
      lite: source,
      officers: source,
      shareholders: source,
      group_structures_full: source,
      financial: source,
    },
  },
  metrics: [
    { ...all(text, 'name codename'), metrics: [{ ...all(text, 'name codename'), ...all(number, 'used total') }] },
  ],
  metricsContacts: all(number, 'email_count phone_count'),
  kybSearch: [candidateV2],
  kybLite: {
    ...all(text, 'id name registration_number vat_number status country_code country_name country_region'),
    ...all(text, 'address_street address_location address_city zip_code legal_form website linkedin'),
    incorporation_date: date,
  },
  kybOfficers: { data: [officerV2], ...totals },
  kybOfficersSearch: [officerFound],
  kybShareholders: { data: [shareholderV2], ...totals },
  kybFinancial: filed,
  prospecting: { ...all(number, 'total_companies total_pages'), data: [all(text, 'id name')] },
  companiesLookup: { ...totals, data: [all(text, 'id name status country_code registration_number')] },
  companyProfile: {
    ...all(text, 'id name registration_number country_code company_website company_legal_form status'),
    ...all(text, 'address_city zip_code size founding_date linkedin'),
    company_phone: [text],
    industry: [all(text, 'id type value')],
    sic: [all(text, 'id type value')],
  },
  employeesSearch: {
    ...all(number, 'total_employees total_pages'),
    data: [all(text, 'id name company_id company_name')],
  },
  employeeProfile: {
    ...all(text, 'id full_name first_name last_name gender function_original_name phone email company_name'),
    seniority_level: [text],
  },
  watchList: { data: [watched], ...pages },
  watchHistory: { data: [all(text, 'status message date_created event_type')], ...pages },
  [NOTIFICATION]: {
    company_data: all(text, 'id name registration_number country_code date'),
    ...all(text, 'field status new_value old_value'),
  },
  watchCallback: { callback: text },
  enrichCompanyByWebsite: enrichedCompany,
  enrichCompanyByLinkedin: enrichedCompany,
  enrichCompanyByRegistry: enrichedCompany,
  enrichPersonByEmail: enrichedPerson,
  enrichPersonByLinkedin: enrichedPerson,
  enrichPerson: enrichedPerson,
  enrichEmployeesSearch: {
    ...all(number, 'total_employees total_pages'),
    data: [
      { ...all(text, 'name seniority_level job_title country city'), company: all(text, 'name website country city') },
    ],
  },
  financial: { '2024': { Turnover: number, Currency: text, 'Reported-Date': text } },
  insightsSearch: [all(text, 'id name country_code registration_number')],
  insightsProfile: {
    ...all(text, 'domain isp_name domain_creation_date engagement_bounce_rate engagement_time_on_site'),
    ...all(number, 'engagement_total_visits global_rank country_rank'),
    ...all(number, 'stat_organic_search_percent stat_direct_percent stat_referral_percent'),
    nameservers: [text],
    ip: text,
    technologies: [{ ...all(text, 'id name'), list: [all(text, 'id name category')] }],
  },
  ownership: {
    shareholders: [{ ...all(text, 'id name currency share_value share_type'), ...all(number, 'quantity share_price') }],
    group_structure: [nodeV2],
    registration_number: text,
  },
  creditReportSearch: [
    {
      ...all(text, 'id name registration_number status'),
      vat_number: [text],
      address: all(text, 'post_code city street'),
    },
  ],
  creditReportGenerate: {
    ...all(text, 'id name source_id status registration_number date_created'),
    expired: boolean,
  },
  creditReportFetch: report,
  creditReportCombined: report,
  creditReportHistory: { data: [historyItem], ...pages },
  nomenclature: [{ ...all(text, 'id parents name'), ...all(boolean, 'has_children active') }],
};
