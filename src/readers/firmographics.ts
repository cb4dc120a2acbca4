import { glanceAt } from './parts/at-a-glance.js';
import { idOf, type JsonObject, memberOf } from './parts/body-path.js';
import { eachItem, type ListRead, leftIn, returned } from './parts/lists.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { extraOf, readFields } from './parts/read-fields.js';
import type { Reader, SubjectAnswers } from './reader.js';
import { timestamp } from './table.js';
import {
  classificationFields,
  classificationsTable,
  firmographicContacts,
  firmographicFields,
  firmographicsTable,
} from './tables/firmographics.js';

/** The profile of the companies module → its line, and a line for each class. */
export const firmographicsReader = {
  name: 'firmographics',
  space: 'companies',
  operations: ['companyProfile'],
  tables: [firmographicsTable, classificationsTable],
  glance: (out) =>
    glanceAt(out, firmographicsTable, {
      name: 'name',
      registration_number: 'registration_number',
      country_code: 'country_code',
      status: 'status',
      legal_form: 'company_legal_form',
      incorporation_date: 'founding_date',
      fetched_at: 'fetched_at',
    }),
  read(subject, out) {
    for (const answer of subject.answers) {
      const opened = openAnswer(answer, out);
      if (opened !== undefined) readProfile(opened, subject);
    }
  },
} as const satisfies Reader;

const fields = [...firmographicFields, ...firmographicContacts] as const;

function readProfile({ answer, body, path }: OpenedAnswer, { id, ids }: SubjectAnswers): void {
  const profile = path.object(body);
  if (profile === undefined) {
    path.left('a profile', body);
    return;
  }
  const { out } = path;
  const lists = {
    industry: readClasses('industry', profile, id, path),
    sic: readClasses('sic', profile, id, path),
  };
  const { cells, rest } = readFields(profile, fields, path, [...ownId(profile, id, path), ...Object.keys(lists)]);
  if (Object.values(cells).some((cell) => cell !== null)) out.noteCame(firmographicsTable);
  out.add(firmographicsTable, {
    companies_id: id,
    ...cells,
    industry_returned: returned(lists.industry),
    sic_returned: returned(lists.sic),
    fetched_at: timestamp(answer.fetchedAt),
    raw_sha256: answer.rawSha256,
    operation: answer.operation,
    v1_company_id: ids.v1 ?? null,
    v2_company_id: ids.v2 ?? null,
    extra: extraOf([...rest, ...leftIn(profile, 'industry', lists.industry), ...leftIn(profile, 'sic', lists.sic)]),
  });
}

function readClasses(kind: string, profile: JsonObject, id: string, path: OpenedAnswer['path']): ListRead {
  const read = eachItem(memberOf(profile, kind), { offset: 0 }, path.at(kind), (item, position, at) => {
    const { cells, rest } = readFields(item, classificationFields, at);
    path.out.add(classificationsTable, {
      companies_id: id,
      kind,
      position,
      ...cells,
      raw_sha256: path.origin.rawSha256,
      extra: extraOf(rest),
    });
  });
  if (read.count !== null) path.out.noteCame(classificationsTable, kind);
  return read;
}

/** The ID is the one that was asked for; another one is an issue, and stays in `extra`. */
function ownId(profile: JsonObject, id: string, path: OpenedAnswer['path']): readonly string[] {
  const own = memberOf(profile, 'id');
  if (own === undefined || own === null || idOf(own) === id) return ['id'];
  path.at('id').unexpected(`the ID ${id}`, own);
  return [];
}
