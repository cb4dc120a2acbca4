import { z } from 'zod';
import type { Operation } from '../../operation.js';
import { nonEmpty, oneOf } from '../../params.js';
import { list, nullable, record, id as recordId, scalar, text } from '../../schema.js';
import { opaque, registration_number, textId, v2List } from '../fields.js';
import { textOrList } from '../records.js';

export const insightsHit = record({
  id: recordId,
  name: nullable(text),
  country_code: nullable(text),
  registration_number: nullable(text),
});

const profile = record({
  domain: nullable(text),
  nameservers: nullable(textOrList),
  ip: nullable(textOrList),
  isp_name: nullable(text),
  domain_creation_date: nullable(text),
  engagement_total_visits: nullable(scalar),
  engagement_bounce_rate: nullable(scalar),
  engagement_time_on_site: nullable(text),
  global_rank: nullable(scalar),
  country_rank: nullable(scalar),
  stat_organic_search_percent: nullable(scalar),
  stat_direct_percent: nullable(scalar),
  stat_referral_percent: nullable(scalar),
  technologies: nullable(list(record({ id: nullable(recordId), name: nullable(text), list: nullable(list(opaque)) }))),
});

export const insights = {
  insightsSearch: {
    ...v2List,
    name: 'insightsSearch',
    summary: 'Companies with a digital profile',
    route: null,
    params: z
      .strictObject({ name: nonEmpty.optional().describe('Company name'), registration_number })
      .refine(oneOf('name', 'registration_number'), { error: 'needs name or registration_number' }),
    body: list(insightsHit),
    itemIds: { id: 'insights' },
  },
  insightsProfile: {
    ...v2List,
    keep: { days: 90 },
    subject: { space: 'insights', param: 'id' },
    name: 'insightsProfile',
    summary: 'Digital profile: domain, traffic, technologies',
    route: null,
    params: z.strictObject({ id: textId.describe('ID of a hit of insightsSearch') }),
    body: profile,
  },
} as const satisfies Readonly<Record<string, Operation>>;
