import type { ExactJson } from '../util/exact-json.js';
import { type BodyPath, type JsonObject, memberOf } from './parts/body-path.js';
import { isRegistrarContact, removeContacts } from './parts/contacts.js';
import { eachItem, type ListRead, leftIn, oddOf, returned } from './parts/lists.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { extraOf, type Members, readFields } from './parts/read-fields.js';
import type { Reader, SubjectAnswers } from './reader.js';
import { column, timestamp } from './table.js';
import {
  digitalProfileFields,
  digitalProfilesTable,
  technologiesTable,
  technologyFields,
} from './tables/digital-profiles.js';

/** The digital profile → its line, and a line for each technology. */
export const insightsReader = {
  name: 'insights',
  space: 'insights',
  operations: ['insightsProfile'],
  tables: [digitalProfilesTable, technologiesTable],
  read(subject, out) {
    for (const answer of subject.answers) {
      const opened = openAnswer(answer, out);
      if (opened !== undefined) readProfile(opened, subject);
    }
  },
} as const satisfies Reader;

function readProfile({ answer, body, path }: OpenedAnswer, { id, ids }: SubjectAnswers): void {
  const { out } = path;
  if (!out.includeContacts) removeContacts(body, isRegistrarContact);
  const profile = path.object(body);
  if (profile === undefined) {
    path.left('a profile', body);
    return;
  }
  const technologies = readGroups(profile, id, path.at('technologies'));
  const { cells, rest } = readFields(profile, digitalProfileFields, path, ['technologies']);
  if (Object.values(cells).some((cell) => cell !== null)) out.noteCame(digitalProfilesTable);
  if (technologies.count !== null) out.noteCame(technologiesTable);
  out.add(digitalProfilesTable, {
    insights_id: id,
    ...cells,
    technologies_returned: returned(technologies),
    fetched_at: timestamp(answer.fetchedAt),
    raw_sha256: answer.rawSha256,
    operation: answer.operation,
    v1_company_id: ids.v1 ?? null,
    v2_company_id: ids.v2 ?? null,
    extra: extraOf([...rest, ...leftIn(profile, 'technologies', technologies)]),
  });
}

const groupFields = [column('id', 'id', ''), column('name', 'text', '')] as const;

/** The technologies of all groups, counted through; a group of which something is in no line is handed back with it. */
function readGroups(profile: JsonObject, id: string, path: BodyPath): ListRead {
  let count = 0;
  const left: ExactJson[] = [];
  const groups = eachItem(memberOf(profile, 'technologies'), { offset: 0 }, path, (group, _, at) => {
    const named = readFields(group, groupFields, at, ['list']);
    const inGroup = eachItem(memberOf(group, 'list'), { offset: count }, at.at('list'), (item, position, itemAt) => {
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
    });
    const lines = (inGroup.count ?? 0) - inGroup.odd.length;
    count += inGroup.count ?? 0;
    // Without a line nothing shows the group itself.
    if (lines <= 0) left.push(group);
    else if (named.rest.length + inGroup.odd.length > 0) left.push(restOf(group, named.rest, inGroup.odd));
  });
  return { count: groups.count === null ? null : count, odd: [...left, ...groups.odd] };
}

/** What is in no line, with the names by which the group is known. */
const restOf = (group: JsonObject, rest: Members, odd: ExactJson[]): ExactJson =>
  Object.fromEntries([
    ...Object.entries(group).filter(([key]) => groupFields.some(({ name }) => name === key)),
    ...rest,
    ...oddOf('list', odd),
  ]);
