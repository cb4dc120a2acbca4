import type { Operation } from '../operation.js';
import { autocomplete, companies, insights } from './operations/companies.js';
import { creditReport } from './operations/credit-report.js';
import { financial, kyb, ownership } from './operations/kyb.js';
import { metrics, watch } from './operations/metrics-watch.js';
import { employees, enrichment } from './operations/people.js';
import { nomenclature, prospecting } from './operations/prospecting.js';

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
