import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { list, nullable, record, scalar, text } from '../../schema.js';
import { v2State } from '../fields.js';

const FORM = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/;

/** The zone is not shown, so the text is sent as it was written and never read as an instant (V2-14). */
const datetime = z.string().refine((value) => z.iso.date().safeParse(FORM.exec(value)?.[1]).success, {
  error: 'expected YYYY-MM-DD hh:mm:ss',
});

/** A figure in another form is no count, and no reason to leave the others beside it unread. */
export const metric = record({
  name: nullable(text),
  codename: nullable(text),
  used: nullable(scalar),
  total: nullable(scalar),
});
export const permission = record({ name: nullable(text), codename: nullable(text), metrics: nullable(list(metric)) });

export const metrics = {
  metrics: {
    ...v2State,
    meter: 'free',
    name: 'metrics',
    summary: 'Use and limits, by permission',
    route: { method: 'GET', path: '/metrics' },
    params: z.strictObject({}),
    body: list(permission),
  },
  metricsContacts: {
    ...v2State,
    meter: 'free',
    name: 'metricsContacts',
    summary: 'How many e-mail addresses and phone numbers were revealed in a range of time',
    route: { method: 'GET', path: '/metrics/contacts' },
    params: z.strictObject({
      date_from: datetime.describe('YYYY-MM-DD hh:mm:ss; the time zone is not documented'),
      date_to: datetime.describe('YYYY-MM-DD hh:mm:ss; the time zone is not documented'),
    }),
    body: record({ email_count: nullable(scalar), phone_count: nullable(scalar) }),
  },
} as const satisfies Readonly<Record<string, Operation>>;
