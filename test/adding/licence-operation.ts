import { z } from 'zod';
import type { Operation } from '../../src/api/operation.js';
import { looseObject, nullOrAbsent, text } from '../../src/api/schema.js';
import { aboutV2Company, v2Id } from '../../src/api/v2/fields.js';

/** An operation that the provider does not have, as its document would show it. */
export const licence = {
  licence: {
    ...aboutV2Company,
    name: 'licence',
    summary: 'The licence of a company',
    route: { method: 'GET', path: '/licence/{id}' },
    params: z.strictObject({ id: v2Id, year: z.int().optional() }),
    body: looseObject({ number: nullOrAbsent(text), holder: nullOrAbsent(text) }),
  },
} as const satisfies Readonly<Record<string, Operation>>;
