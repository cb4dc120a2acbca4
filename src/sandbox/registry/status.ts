import type { Company } from './types.js';

const inactive = new Set(['Dissolved', 'Struck off', 'Gelöscht']);
const intermediate = new Set(['In liquidation', 'Insolvency proceedings', 'Dormant']);

/** The company-status nomenclature: Active 106, Inactive 108, Intermediate 1615. */
export function statusId(company: Company): number {
  if (inactive.has(company.status)) return 108;
  return intermediate.has(company.status) ? 1615 : 106;
}
