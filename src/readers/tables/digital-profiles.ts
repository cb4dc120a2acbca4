import { column, table } from '../table.js';
import { extra, operation, rawSha256, sameCompanyIn } from './columns.js';

const insightsId = column('insights_id', 'id', 'The company, in the ID space of digital insights', 'the request');

/** What a website is. */
const siteFields = [
  column('domain', 'text', 'Domain of the website'),
  column('nameservers', 'text_or_list', 'Name servers: a text, or a list as JSON'),
  column('ip', 'text', 'Address of the server'),
  column('isp_name', 'text', 'Who hosts it'),
  column('domain_creation_date', 'text', 'When the domain was registered, as sent; its form is not documented'),
] as const;

/** How it is used: other figures every month. */
const trafficFields = [
  column('engagement_total_visits', 'integer', 'Visits; over which time is not documented'),
  column('engagement_bounce_rate', 'scalar', 'Share of visits that end on the first page; comes as text'),
  column('engagement_time_on_site', 'text', 'Time on the site, HH:MM:SS'),
  column('global_rank', 'scalar', 'Rank among all websites'),
  column('country_rank', 'scalar', 'Rank among the websites of its country'),
  column('stat_organic_search_percent', 'number', 'Share of visits that come from searches'),
  column('stat_direct_percent', 'number', 'Share of visits that come directly'),
  column('stat_referral_percent', 'number', 'Share of visits that come from other sites'),
] as const;

export const digitalProfileFields = [...siteFields, ...trafficFields] as const;

export const digitalProfilesTable = table({
  name: 'digital_profiles',
  onePer: 'company',
  description:
    'The website of each company: domain, traffic, ranks. DNS records, category rankings, sources of traffic, shares of countries and historical visits are in `extra`; registrar contacts only with --include-contacts. Traffic, ranks, the address and `extra` move all the time and are not compared between two answers: domain, name servers, host and creation date are.',
  source: 'v2 insightsProfile',
  key: ['insights_id'],
  keyAlwaysThere: true,
  knownBy: {
    columns: [['insights_id']],
    single: true,
    besides: ['ip', ...trafficFields.map(({ name }) => name), 'technologies_returned', 'extra'],
  },
  columns: [
    insightsId,
    ...digitalProfileFields,
    column(
      'technologies_returned',
      'integer',
      'Technologies in the profile, over all groups; empty: the list did not come, 0: it came without any',
      '/technologies',
    ),
    column('fetched_at', 'timestamp', 'When the profile was bought', 'the call'),
    rawSha256,
    operation,
    ...sameCompanyIn,
    extra,
  ],
});

export const technologyFields = [
  column('id', 'id', 'The technology'),
  column('name', 'text', 'Its name'),
  column('category', 'text', 'Its category'),
] as const;

export const technologiesTable = table({
  name: 'technologies',
  onePer: 'technology of a website',
  description: 'What a company’s website is made with, group by group.',
  source: 'v2 insightsProfile /technologies',
  key: ['insights_id', 'position'],
  keyAlwaysThere: true,
  knownBy: { columns: [['id'], ['name']] },
  columns: [
    insightsId,
    column('position', 'integer', 'Place in the list, from 1, over all groups', 'order of the lists'),
    column('group_id', 'id', 'The group that it stands in', '/technologies/id'),
    column('group_name', 'text', 'Its name', '/technologies/name'),
    ...technologyFields,
    rawSha256,
    extra,
  ],
});
