import type { ExactJson, JsonObject } from '../util/exact-json.js';
import { isRegistrarContact, removeContacts } from '../util/sanitize-text.js';
import { countCell, eachItem, type ListRead, unreadItems, unreadMembers } from './parts/lists.js';
import { type BodyPath, eachRecord, memberOf, recordCells } from './parts/open-answer.js';
import { extraOf, type Members, readFields } from './parts/read-fields.js';
import type { Reader, SubjectAnswers } from './reader.js';
import { column, extraColumn, operationColumn, rawSha256, sameCompanyIn, table } from './table.js';

const insightsId = column('insights_id', 'id', 'The company, in the ID space of digital insights', 'the request');

const trafficFields = [
  column('engagement_total_visits', 'integer', 'Visits. Their period is not documented'),
  column('engagement_bounce_rate', 'scalar', 'Share of visits that end on the first page, as text'),
  column('engagement_time_on_site', 'text', 'Time on the site, HH:MM:SS'),
  column('global_rank', 'scalar', 'Rank among all websites'),
  column('country_rank', 'scalar', 'Rank among the websites of its country'),
  column('stat_organic_search_percent', 'number', 'Share of visits that come from searches'),
  column('stat_direct_percent', 'number', 'Share of visits that come directly'),
  column('stat_referral_percent', 'number', 'Share of visits that come from other sites'),
] as const;

/** Properties of a website. */
const siteFields = [
  column('domain', 'text', 'Domain of the website'),
  column('nameservers', 'text_or_list', 'Name servers: a text, or a list as JSON'),
  column('ip', 'text', 'Address of the server'),
  column('isp_name', 'text', 'Who hosts it'),
  column('domain_creation_date', 'text', 'When the domain was registered, as sent'),
] as const;

const digitalProfileFields = [...siteFields, ...trafficFields] as const;

export const digitalProfilesTable = table({
  name: 'digital_profiles',
  onePer: 'company',
  description:
    'The website of each company: domain, traffic, ranks. DNS records, rankings, sources of traffic and historical visits are in `extra`. Contacts of the registrar need --include-contacts. kybatch records changes of domain, name servers, host and creation date, not of traffic and ranks.',
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
      'Technologies in the profile. Empty: no list was returned. 0: the list was empty',
      '/technologies',
    ),
    column('fetched_at', 'timestamp', 'When the profile was bought', 'the call'),
    rawSha256,
    operationColumn,
    ...sameCompanyIn,
    extraColumn,
  ],
});

const technologyFields = [
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
    column('group_id', 'id', 'The group of the technology', '/technologies/id'),
    column('group_name', 'text', 'Its name', '/technologies/name'),
    ...technologyFields,
    rawSha256,
    extraColumn,
  ],
});

/** Reads the digital profile into its row and one row for each technology. */
export const insightsReader = {
  name: 'insights',
  space: 'insights',
  operations: ['insightsProfile'],
  tables: [digitalProfilesTable, technologiesTable],
  read: (subject, out) => eachRecord(subject, out, 'profile', (profile, path) => readProfile(profile, path, subject)),
} as const satisfies Reader;

function readProfile(profile: JsonObject, path: BodyPath, { id, ids }: SubjectAnswers): void {
  const { out } = path;
  if (!out.includeContacts) removeContacts(profile, isRegistrarContact);
  const technologies = readGroups(profile, id, path.at('technologies'));
  const { cells, rest } = readFields(profile, digitalProfileFields, path, ['technologies']);
  if (Object.values(cells).some((cell) => cell !== null)) out.noteCame(digitalProfilesTable);
  if (technologies.count !== null) out.noteCame(technologiesTable);
  out.add(digitalProfilesTable, {
    insights_id: id,
    ...cells,
    technologies_returned: countCell(technologies),
    ...recordCells(path, { ids }),
    extra: extraOf([...rest, ...unreadMembers(profile, 'technologies', technologies)]),
  });
}

const groupFields = [column('id', 'id', ''), column('name', 'text', '')] as const;

/** The technologies of all groups, numbered through. A group with unread parts is returned with them. */
function readGroups(profile: JsonObject, id: string, path: BodyPath): ListRead {
  let count = 0;
  const left: ExactJson[] = [];
  const groups = eachItem(memberOf(profile, 'technologies'), path, (group, _, at) => {
    const named = readFields(group, groupFields, at, ['list']);
    const use = (item: JsonObject, position: string, itemAt: BodyPath) => {
      const { cells, rest } = readFields(item, technologyFields, itemAt);
      path.out.add(technologiesTable, {
        insights_id: id,
        position,
        group_id: named.cells.id,
        group_name: named.cells.name,
        ...cells,
        raw_sha256: path.origin.rawSha256,
        extra: extraOf(rest),
      });
    };
    const inGroup = eachItem(memberOf(group, 'list'), at.at('list'), use, { offset: count });
    const lines = (inGroup.count ?? 0) - inGroup.odd.length;
    count += inGroup.count ?? 0;
    // Without a row nothing shows the group itself.
    if (lines <= 0) left.push(group);
    else if (named.rest.length + inGroup.odd.length > 0) left.push(restOf(group, named.rest, inGroup.odd));
  });
  return { count: groups.count === null ? null : count, odd: [...left, ...groups.odd] };
}

/** The unread parts, with the fields that identify the group. */
const restOf = (group: JsonObject, rest: Members, odd: ExactJson[]): ExactJson =>
  Object.fromEntries([
    ...Object.entries(group).filter(([key]) => groupFields.some(({ name }) => name === key)),
    ...rest,
    ...unreadItems('list', odd),
  ]);
