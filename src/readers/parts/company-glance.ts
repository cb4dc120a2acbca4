import type { Glance } from '../glance.js';
import type { ReaderOutput } from '../reader.js';
import { companiesTable } from '../tables/companies.js';
import { filedFinancialsTable } from '../tables/filed-financials.js';
import { filedTurnover, glanceAt } from './at-a-glance.js';

/** What a company's own line says, and its filed statements. */
export const companyGlance = (out: ReaderOutput): Glance => ({
  ...glanceAt(out, companiesTable, {
    name: 'name',
    registration_number: 'registration_number',
    country_code: 'country_code',
    status: 'status',
    register: 'jurisdiction',
    legal_form: 'legal_form',
    incorporation_date: 'incorporation_date',
    fetched_at: 'fetched_at',
  }),
  ...filedTurnover(out.shownOf(filedFinancialsTable)),
});
