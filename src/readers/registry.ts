import {
  addCompany,
  type CompanyRowPart,
  companiesTable,
  companyGlance,
  originIn,
  readProfile,
} from './parts/company-row.js';
import { filedFinancialsTable, readFiledFinancials } from './parts/filed-financials.js';
import type { ListOf } from './parts/lists.js';
import { officersTable, shareholdersTable } from './parts/officers-shareholders.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { type PagedModule, pagedPiece, statementsPiece } from './parts/paged-list.js';
import { sourcesTable } from './parts/sources.js';
import type { Reader } from './reader.js';

/** v2's profile, officers, shareholders and filed statements in the same tables, under v2's ID (V2-9). */
export const registryReader = {
  name: 'registry',
  space: 'v2',
  operations: ['kybLite', 'kybOfficers', 'kybShareholders', 'kybFinancial'],
  tables: [companiesTable, officersTable, shareholdersTable, filedFinancialsTable, sourcesTable],
  glance: companyGlance,
  read({ id, answers }, out) {
    const opened = answers.flatMap((answer) => openAnswer(answer, out) ?? []);
    const of = (name: string) => opened.filter(({ answer }) => answer.operation === name);
    const main = ORDER.flatMap(of)[0]?.answer;
    if (main === undefined) return;
    const list: ListOf = { v1: main.ids.v1 ?? null, v2: id, offset: 0 };
    const pieces = [
      ...of('kybLite').map((one) => profile(one, list)),
      ...paged('officers', of('kybOfficers'), list),
      ...paged('shareholders', of('kybShareholders'), list),
      ...of('kybFinancial').map((one) => statements(one, list)),
    ];
    // v1 has its own row.
    addCompany(pieces, { v1: null, v2: id }, out);
  },
} as const satisfies Reader;

const ORDER: readonly string[] = registryReader.operations;

function profile({ answer, body, path }: OpenedAnswer, { v2 }: ListOf): CompanyRowPart {
  const object = path.object(body);
  if (object === undefined) return { ...originIn(answer), rest: [[answer.operation, body]] };
  return { ...originIn(answer), ...readProfile(object, { v1: null, v2 }, path) };
}

/** The document shows no default page size. */
function paged(module: PagedModule, answers: readonly OpenedAnswer[], of: ListOf): readonly CompanyRowPart[] {
  const [first] = answers;
  if (first === undefined) return [];
  return [pagedPiece(first.answer.operation, module, answers, of, null)];
}

function statements({ answer, body, path }: OpenedAnswer, of: ListOf): CompanyRowPart {
  const object = path.object(body);
  if (object === undefined) return { ...originIn(answer), rest: [[answer.operation, body]] };
  const { rest, ...came } = readFiledFinancials(object, of, path);
  const others = Object.entries(object).filter(([key]) => key !== 'years' && key !== 'groups');
  return { ...originIn(answer), ...statementsPiece(answer.operation, { ...came, rest: [...others, ...rest] }) };
}
