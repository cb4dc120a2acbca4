import { z } from 'zod';
import type { ExactJson } from '../../../util/exact-json.js';
import type { Operation } from '../../operation.js';
import { aboutV2Company, isPlainObject, v2Id } from '../fields.js';

type FlatFinancials = Readonly<Record<string, Readonly<Record<string, ExactJson>> | null>>;

/** Only the shell: more than 250 indicators a year, and unknown ones are as welcome as known ones (V2-8). */
const flatFinancials = z.custom<FlatFinancials>(
  (value) => isPlainObject(value) && Object.values(value).every((year) => year === null || isPlainObject(year)),
  { error: 'expected an object of years' },
);

export const financial = {
  financial: {
    ...aboutV2Company,
    name: 'financial',
    summary: 'Flat financials: indicators by reporting year. Carries no identity, so confirm the ID first',
    route: { method: 'GET', path: '/financial/{id}' },
    params: z.strictObject({ id: v2Id, year: z.int().min(1).max(9999).optional().describe('One reporting year only') }),
    body: flatFinancials,
    knownBy: (year, first) => /^\d/.test(year) && (first === '{' || first === 'n'),
  },
} as const satisfies Readonly<Record<string, Operation>>;
