import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { nonEmpty, oneOf } from '../../params.js';
import { id, list, listIfSent, nullable, record, scalar } from '../../schema.js';
import { opaque, registration_number, v2List } from '../fields.js';
import { shareholder } from '../records.js';

/** `children` is recursive and may be very deep, so it is checked one level at a time by whoever walks it. */
const groupNode = record({
  id: nullable(id),
  registration_number: nullable(scalar),
  name: nullable(scalar),
  selected: nullable(scalar),
  children: nullable(list(opaque)),
});

export const ownership = {
  ownership: {
    ...v2List,
    keep: { days: 90 },
    // There are no IDs here: the number stands for the company. One that is asked for by its name is nobody yet (V2-22).
    subject: { space: 'ownership', param: 'registration_number' },
    name: 'ownership',
    summary: 'Direct shareholders and group tree; links are not ownership',
    route: null,
    params: z
      .strictObject({ name: nonEmpty.optional().describe('Company name'), registration_number })
      .refine(oneOf('name', 'registration_number'), { error: 'needs name or registration_number' }),
    body: record({
      shareholders: listIfSent(shareholder),
      group_structure: listIfSent(groupNode),
      registration_number: nullable(scalar),
    }),
  },
} as const satisfies Readonly<Record<string, Operation>>;
