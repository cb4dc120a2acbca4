import type { JsonObject } from '../util/exact-json.js';
import { glanceAt } from './parts/glance.js';
import { groupLinksTable, readGroupTree } from './parts/group-links.js';
import { countCell, unreadMembers } from './parts/lists.js';
import { readShareholders, shareholdersTable } from './parts/officers-shareholders.js';
import { type BodyPath, eachRecord, memberOf, recordCells } from './parts/open-answer.js';
import { extraOf, readFields } from './parts/read-fields.js';
import { sourcesTable } from './parts/sources.js';
import type { Reader, SubjectAnswers } from './reader.js';
import { column, extraColumn, operationColumn, rawSha256, sameCompanyIn, table } from './table.js';

const structureFields = [column('registration_number', 'text', 'The number that the answer names')] as const;

export const companyStructuresTable = table({
  name: 'company_structures',
  onePer: 'company',
  description:
    'The answer of the ownership module about each company, with counts. Shareholders are in `shareholders`, the tree is in `group_links`. An empty list does not prove that there are none.',
  source: 'v2 ownership',
  key: ['ownership_number', 'v1_company_id', 'v2_company_id', 'raw_sha256'],
  keyAlwaysThere: false,
  columns: [
    column('ownership_number', 'id', 'The requested number', 'the request'),
    ...structureFields,
    column(
      'shareholders_returned',
      'integer',
      'Returned direct shareholders. Empty: no list was returned. 0: the list was empty',
      '/shareholders',
    ),
    column(
      'group_links_returned',
      'integer',
      'Returned lines of `group_links`, empty or 0 as with shareholders',
      '/group_structure',
    ),
    column('fetched_at', 'timestamp', 'When the answer was bought', 'the call'),
    rawSha256,
    operationColumn,
    ...sameCompanyIn,
    extraColumn,
  ],
});

/** The ownership module, which knows a company by its number: shareholders, and the tree as links (V2-22). */
export const ownershipReader = {
  name: 'ownership',
  space: 'ownership',
  operations: ['ownership'],
  tables: [companyStructuresTable, shareholdersTable, groupLinksTable, sourcesTable],
  glance: (out) => glanceAt(out, companyStructuresTable, ['shareholders_returned']),
  read: (subject, out) => eachRecord(subject, out, 'record', (record, path) => readRecord(record, path, subject)),
} as const satisfies Reader;

function readRecord(record: JsonObject, path: BodyPath, { id, ids }: SubjectAnswers): void {
  const of = { v1: ids.v1 ?? null, v2: ids.v2 ?? null, offset: 0 };
  const held = readShareholders(memberOf(record, 'shareholders'), of, path.at('shareholders'));
  const tree = readGroupTree(memberOf(record, 'group_structure'), of, path.at('group_structure'));
  const { cells, rest } = readFields(record, structureFields, path, ['shareholders', 'group_structure']);
  path.out.add(companyStructuresTable, {
    ownership_number: id,
    ...cells,
    shareholders_returned: countCell(held),
    group_links_returned: countCell(tree),
    ...recordCells(path, { ids }),
    extra: extraOf([
      ...rest,
      ...unreadMembers(record, 'shareholders', held),
      ...unreadMembers(record, 'group_structure', tree),
    ]),
  });
}
