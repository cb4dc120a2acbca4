import { addCompany, type Piece, readProfile } from './parts/company-line.js';
import { readFiledFinancials } from './parts/filed-financials.js';
import type { ListOf } from './parts/lists.js';
import { type OpenedAnswer, openAnswer } from './parts/open-answer.js';
import { readPagedList } from './parts/paged-list.js';
import { readOfficers, readShareholders } from './parts/people.js';
import { nested } from './parts/read-fields.js';
import type { Reader } from './reader.js';
import { companiesTable } from './tables/companies.js';
import { filedFinancialsTable } from './tables/filed-financials.js';
import { officersTable } from './tables/officers.js';
import { shareholdersTable } from './tables/shareholders.js';
import { sourcesTable } from './tables/sources.js';

/** v2's profile, officers, shareholders and filed statements: the same tables, under v2's ID (V2-9). */
export const registryReader = {
  name: 'registry',
  space: 'v2',
  operations: ['kybLite', 'kybOfficers', 'kybShareholders', 'kybFinancial'],
  tables: [companiesTable, officersTable, shareholdersTable, filedFinancialsTable, sourcesTable],
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
    // v1 has a line of its own.
    addCompany(pieces, { v1: null, v2: id }, main, out);
  },
} as const satisfies Reader;

const ORDER: readonly string[] = registryReader.operations;

function profile({ answer: { operation }, body, path }: OpenedAnswer, { v2 }: ListOf): Piece {
  const object = path.object(body);
  if (object === undefined) return { operation, rest: [[operation, body]] };
  return { operation, ...readProfile(object, { v1: null, v2 }, path) };
}

/** How long a page is where nobody says it is the provider's affair: the document shows no default. */
function paged(module: 'officers' | 'shareholders', answers: readonly OpenedAnswer[], of: ListOf): readonly Piece[] {
  const [first] = answers;
  if (first === undefined) return [];
  const { operation } = first.answer;
  const { count, total, rest } = readPagedList(answers, of, module, null, READ[module]);
  return [{ operation, rest, counts: { [module]: count }, totals: { [module]: total } }];
}

const READ = { officers: readOfficers, shareholders: readShareholders };

function statements({ answer: { operation }, body, path }: OpenedAnswer, of: ListOf): Piece {
  const object = path.object(body);
  if (object === undefined) return { operation, rest: [[operation, body]] };
  const { periods, rest } = readFiledFinancials(object, of, path);
  const others = Object.entries(object).filter(([key]) => key !== 'years' && key !== 'groups');
  return { operation, rest: nested(operation, [...others, ...rest]), counts: { filed_periods: periods } };
}
