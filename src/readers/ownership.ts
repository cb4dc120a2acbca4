import { memberOf } from './parts/body-path.js';
import { readGroupTree } from './parts/group-links.js';
import { leftIn, returned } from './parts/lists.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { readShareholders } from './parts/people.js';
import { extraOf, readFields } from './parts/read-fields.js';
import type { Reader, SubjectAnswers } from './reader.js';
import { timestamp } from './table.js';
import { companyStructuresTable, structureFields } from './tables/company-structures.js';
import { groupLinksTable } from './tables/group-links.js';
import { shareholdersTable } from './tables/shareholders.js';
import { sourcesTable } from './tables/sources.js';

/** The ownership module, which has the company by its number: shareholders, and the tree as links (V2-22). */
export const ownershipReader = {
  name: 'ownership',
  space: 'ownership',
  operations: ['ownership'],
  tables: [companyStructuresTable, shareholdersTable, groupLinksTable, sourcesTable],
  read(subject, out) {
    for (const answer of subject.answers) {
      const opened = openAnswer(answer, out);
      if (opened !== undefined) readRecord(opened, subject);
    }
  },
} as const satisfies Reader;

function readRecord({ answer, body, path }: OpenedAnswer, { id, ids }: SubjectAnswers): void {
  const record = path.object(body);
  if (record === undefined) {
    path.left('a record', body);
    return;
  }
  const of = { v1: ids.v1 ?? null, v2: ids.v2 ?? null, offset: 0 };
  const held = readShareholders(memberOf(record, 'shareholders'), of, path.at('shareholders'));
  const tree = readGroupTree(memberOf(record, 'group_structure'), of, path.at('group_structure'));
  const { cells, rest } = readFields(record, structureFields, path, ['shareholders', 'group_structure']);
  path.out.add(companyStructuresTable, {
    ownership_number: id,
    ...cells,
    shareholders_returned: returned(held),
    group_links_returned: returned(tree),
    fetched_at: timestamp(answer.fetchedAt),
    raw_sha256: answer.rawSha256,
    operation: answer.operation,
    v1_company_id: of.v1,
    v2_company_id: of.v2,
    extra: extraOf([...rest, ...leftIn(record, 'shareholders', held), ...leftIn(record, 'group_structure', tree)]),
  });
}
