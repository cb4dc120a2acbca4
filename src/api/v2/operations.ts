import type { Operation } from '../operation.js';
import { autocomplete } from './operations/autocomplete.js';
import { companies } from './operations/companies.js';
import { creditReport } from './operations/credit-report.js';
import { employees } from './operations/employees.js';
import { enrichment } from './operations/enrichment.js';
import { financial } from './operations/financial.js';
import { insights } from './operations/insights.js';
import { kyb } from './operations/kyb.js';
import { metrics } from './operations/metrics.js';
import { nomenclature } from './operations/nomenclature.js';
import { ownership } from './operations/ownership.js';
import { prospecting } from './operations/prospecting.js';
import { watch } from './operations/watch.js';

/** Every operation of v2. Those without a route take theirs from the routes file (V2-15). */
export const v2Operations = {
  ...metrics,
  ...kyb,
  ...prospecting,
  ...companies,
  ...employees,
  ...watch,
  ...enrichment,
  ...autocomplete,
  ...financial,
  ...insights,
  ...ownership,
  ...creditReport,
  ...nomenclature,
} as const satisfies Readonly<Record<string, Operation>>;

export type V2OperationName = keyof typeof v2Operations;
