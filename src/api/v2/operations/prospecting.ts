import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { id, nullable, record, text } from '../../schema.js';
import { per_page, v2List } from '../fields.js';
import { prospectingFilters } from '../prospecting-filters.js';
import { companiesEnvelope } from '../records.js';

export const prospecting = {
  prospecting: {
    ...v2List,
    name: 'prospecting',
    summary: 'Filter the company universe; the answer is company IDs and names, at most 10 pages',
    route: { method: 'POST', path: '/prospecting' },
    params: z.strictObject({
      page: z.int().min(1).max(10).optional().describe('Page, 1 to 10'),
      per_page,
      filters: prospectingFilters.optional().describe('The filters, all of which must hold'),
    }),
    body: companiesEnvelope(record({ id, name: nullable(text) })),
    // Not said to be one space (V2-18). A purge rather takes a list too many.
    itemIds: { id: 'companies' },
    pages: { perPageAtMost: null, pageAtMost: 10, countField: 'total_pages' },
  },
} as const satisfies Readonly<Record<string, Operation>>;
