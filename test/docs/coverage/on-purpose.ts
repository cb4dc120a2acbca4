/** Why a documented field has no own column: the first fitting reason. */
const REASONS: readonly { readonly operation: RegExp; readonly path: RegExp; readonly why: string }[] = [
  {
    operation: /^companiesLookup$/,
    path: /^total_/,
    why: 'tells whether there are more hits than came',
  },
  { operation: /./, path: /^(?:total_pages|pages)$/, why: 'says where the list ends' },
  {
    operation: /./,
    path: /^total_(?:results|employees|companies)$/,
    why: 'tells whether the list is complete, and whether it changed while it was read (`errors`)',
  },
  {
    operation: /^(?:liteKyb|fullKyb|kybLite|companyProfile)$/,
    path: /^(?:lite\.)?id$/,
    why: 'the ID that was asked for; another one is in `errors` and in `extra`',
  },
  {
    operation: /^creditReport(?:Generate|History)$/,
    path: /^(?:data\[\]\.)?id$/,
    why: 'names the report, which has a line in `credit_reports`',
  },
  { operation: /^change notification$/, path: /^company_data\./, why: 'the company, as the notification names it' },
  { operation: /^searchKyb$/, path: /^\[\]\.source\./, why: 'the source of a candidate, kept whole' },
  { operation: /^fullKyb$/, path: /^financial\.(?:id|name)$/, why: 'what they name is not shown' },
  {
    operation: /^kybShareholders$/,
    path: /company_id$/,
    why: 'the company asked about, as in `shareholders.v2_company_id`; kept where it is another',
  },
  { operation: /^companiesLookup$/, path: /status$/, why: 'of a candidate, which is not confirmed by it' },
  {
    operation: /^creditReportSearch$/,
    path: /\.(?:status|address\..+)$/,
    why: 'of a candidate, which is not confirmed by it',
  },
  { operation: /^creditReportHistory$/, path: /url$/, why: 'an address that is never followed' },
  {
    operation: /^creditReportFetch$/,
    path: /^company_profile/,
    why: 'sections beyond the summary are not shown in the document: kept whole',
  },
  {
    operation: /^creditReportCombined$/,
    path: /./,
    why: 'asked for by hand alone: it gives no ID to resume from. The raw answer',
  },
  { operation: /^watchList$/, path: /./, why: 'compared with what the ledger has registered, by ID. The raw answer' },
  { operation: /^watchCallback$/, path: /./, why: 'the account’s own setting. The raw answer' },
  {
    operation: /^enrichCompanyBy/,
    path: /^(?:registration_number|country_code|name)$/,
    why: 'a hint, which is searched for; in the evidence of `candidates`',
  },
  { operation: /^enrichCompanyBy/, path: /./, why: 'nothing is confirmed by it. The raw answer' },
  { operation: /^enrichPersonBy/, path: /./, why: 'asked for by hand alone. The raw answer' },
];

export const whyNoColumn = (operation: string, path: string): string | undefined =>
  REASONS.find((reason) => reason.operation.test(operation) && reason.path.test(path))?.why;
