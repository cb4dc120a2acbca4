/** What a line for people shows of a company or report, out of the tables that its reader makes. Only what was returned. */
export type Glance = Readonly<Partial<Record<GlanceCell, string>>>;

export type GlanceCell =
  | 'name'
  | 'registration_number'
  | 'country_code'
  | 'status'
  | 'register'
  | 'legal_form'
  | 'incorporation_date'
  | 'turnover'
  | 'turnover_year'
  | 'turnover_currency'
  | 'turnover_filed'
  | 'turnover_filed_year'
  | 'credit_risk'
  | 'credit_risk_words'
  | 'credit_limit'
  | 'credit_limit_currency'
  | 'fetched_at';
