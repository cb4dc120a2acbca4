import type { Charge } from '../account.js';
import type { Json } from '../json.js';
import type { Settings } from '../options.js';
import { V2Failure } from './errors.js';

export interface Permission {
  readonly codename: string;
  readonly name: string;
  readonly module: string;
  readonly moduleName: string;
}

const permission = (codename: string, name: string, module: string, moduleName: string): Permission => ({
  codename,
  name,
  module,
  moduleName,
});

export const permissions = {
  kybSearch: permission('kyb_search', 'KYB search', 'kyb', 'KYB'),
  kybDetails: permission('kyb_details', 'KYB details', 'kyb', 'KYB'),
  kybFinancials: permission('kyb_financials', 'KYB filed financials', 'kyb', 'KYB'),
  kybPersons: permission('kyb_officers_search', 'KYB search by person', 'kyb', 'KYB'),
  prospecting: permission('prospecting', 'Prospecting', 'prospecting', 'Prospecting'),
  companies: permission('companies', 'Company lookup', 'companies', 'Companies'),
  employees: permission('employees', 'Employees', 'employees', 'Employees'),
  watch: permission('companies_watch', 'Company watch', 'watch', 'Watch'),
  enrichCompany: permission('enrichment_company', 'Company enrichment', 'enrichment', 'Enrichment'),
  enrichPerson: permission('enrichment_person', 'Person enrichment', 'enrichment', 'Enrichment'),
  autocomplete: permission('autocomplete', 'Autocomplete', 'autocomplete', 'Autocomplete'),
  financials: permission('financial', 'Flat financials', 'financial', 'Financials'),
  insights: permission('digital_insights', 'Digital insights', 'insights', 'Digital insights'),
  ownership: permission('ownership', 'Ownership', 'ownership', 'Ownership'),
  creditReport: permission('credit_report', 'Credit report', 'credit_report', 'Credit report'),
} as const;

const app = { app: 'platform_api', app_name: 'Company Data Platform API' };
const usualDaily = 1_000_000;
const usualPlan = 10_000_000;
const dayMs = 86_400_000;

/** Counts of every permission, by UTC day and for the plan; they follow from the charges. */
export class Permissions {
  readonly #settings: Settings;
  readonly #daily = new Map<string, { day: number; used: number }>();
  readonly #plan = new Map<string, number>();

  constructor(settings: Settings, past: readonly Charge[]) {
    this.#settings = settings;
    for (const charge of past) {
      if (charge.permission !== undefined) this.#count(charge.permission, charge.at);
    }
  }

  /** The limit that stands in the way, if any. */
  refusal(wanted: Permission): V2Failure | undefined {
    const limits = this.#limits(wanted.codename);
    if (this.#usedToday(wanted.codename) >= limits.daily)
      return refused(wanted, 'limits.daily', 'The daily limit is reached.');
    if ((this.#plan.get(wanted.codename) ?? 0) >= limits.plan)
      return refused(wanted, 'limit', 'The limit of the plan is reached.');
    return undefined;
  }

  count(used: Permission): void {
    this.#count(used.codename, this.#settings.clock.now());
  }

  metrics(): Json {
    return Object.values(permissions).map(({ codename, name }) => {
      const limits = this.#limits(codename);
      return {
        name,
        codename,
        metrics: [
          {
            name: `${name} per day`,
            codename: `${codename}.daily`,
            used: this.#usedToday(codename),
            total: limits.daily,
          },
          {
            name: `${name} in the plan`,
            codename: `${codename}.plan`,
            used: this.#plan.get(codename) ?? 0,
            total: limits.plan,
          },
        ],
      };
    });
  }

  #limits(codename: string): { daily: number; plan: number } {
    const set = this.#settings.v2Limits[codename];
    return { daily: set?.daily ?? usualDaily, plan: set?.plan ?? usualPlan };
  }

  #usedToday(codename: string): number {
    const entry = this.#daily.get(codename);
    return entry && entry.day === Math.floor(this.#settings.clock.now() / dayMs) ? entry.used : 0;
  }

  #count(codename: string, at: number): void {
    const day = Math.floor(at / dayMs);
    const entry = this.#daily.get(codename);
    if (entry?.day === day) entry.used += 1;
    else this.#daily.set(codename, { day, used: 1 });
    this.#plan.set(codename, (this.#plan.get(codename) ?? 0) + 1);
  }
}

function refused(wanted: Permission, guard: 'limits.daily' | 'limit', message: string): V2Failure {
  return new V2Failure('limit', {
    access: {
      permission: wanted.codename,
      permission_name: wanted.name,
      module: wanted.module,
      module_name: wanted.moduleName,
      ...app,
    },
    error_guard: guard,
    message_guard: message,
  });
}
