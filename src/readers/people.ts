import { type Employer, isDifferentPerson, worksElsewhere } from '../domain/names/employer-match.js';
import { type ExactJson, isObject, type JsonObject } from '../util/exact-json.js';
import { totalOf } from '../util/list-page.js';
import { eachItem, unreadPage } from './parts/lists.js';
import { type BodyPath, idOf, memberOf, openAnswer, tryParse } from './parts/open-answer.js';
import { extraOf, type Members, readNested } from './parts/read-fields.js';
import type { RawAnswer, Reader, ReaderOutput, SubjectAnswers } from './reader.js';
import {
  column,
  contactColumn,
  extraColumn,
  operationColumn,
  positionColumn,
  rawSha256,
  sameCompanyIn,
  table,
} from './table.js';

/** The fields of the four people operations. None returns all. */
const personFields = [
  column('name', 'text', 'Name, as a list of people has it'),
  column('full_name', 'text', 'Name, as the details of one person have it'),
  column('first_name', 'text', 'Given name'),
  column('last_name', 'text', 'Family name'),
  column('job_title', 'text', 'Role'),
  column('function_original_name', 'text', 'Role in the words of its source'),
  column('seniority_level', 'text_or_list', 'Seniority: a text, or a list as JSON'),
  column('gender', 'text', 'As sent'),
  column('country', 'text', 'Country of the person'),
  column('city', 'text', 'Country of the person'),
  column('company_name', 'text', 'Name of the company, as sent with the person'),
  column('company_id', 'id', 'ID of the company, as sent with the person'),
] as const;

const employerFields = [
  column('company_website', 'text', 'Its website', 'company.website'),
  column('company_country', 'text', 'Its country', 'company.country'),
  column('company_city', 'text', 'Its city', 'company.city'),
] as const;

const personContacts = [
  contactColumn('email', 'E-mail, a text, or a list as JSON. Only with --include-contacts', 'email', 'text_or_list'),
  contactColumn('phone', 'Phone, a text, or a list as JSON. Only with --include-contacts', 'phone', 'text_or_list'),
] as const;

export const peopleTable = table({
  name: 'people',
  onePer: 'person returned',
  description:
    'People who work for a company, from lists of people. Details of one person are a separate line and are not merged with the list. People of other companies are left out, and so are details of another person than requested.',
  source: 'v2 enrichEmployeesSearch /data, enrichPerson, employeesSearch /data, employeeProfile',
  key: ['companies_id', 'employees_company_id', 'operation', 'position'],
  keyAlwaysThere: false,
  columns: [
    column('companies_id', 'id', 'The company, in the ID space of the companies module', 'the request'),
    column('employees_company_id', 'id', 'The company, in the ID space of the employees module', 'the request'),
    ...sameCompanyIn,
    positionColumn,
    column('employee_id', 'id', 'The person, as the module has it', 'id'),
    ...personFields,
    ...employerFields,
    operationColumn,
    rawSha256,
    ...personContacts,
    extraColumn,
  ],
});

/** People found by the domain of a company. */
export const peopleReader = {
  name: 'people',
  space: 'companies',
  // Only the name is read from the profile, to exclude people of another company.
  operations: ['companyProfile'],
  asked: ['enrichEmployeesSearch', 'enrichPerson'],
  tables: [peopleTable],
  read: (subject, out) => readPeople(subject, { companies_id: subject.id, employees_company_id: null }, out),
} as const satisfies Reader;

/** People of the employees module, by the company's ID there. */
export const employeesReader = {
  name: 'employees',
  space: 'employees',
  operations: [],
  asked: ['employeesSearch', 'employeeProfile'],
  tables: [peopleTable],
  read: (subject, out) =>
    readPeople(subject, { companies_id: subject.ids.companies ?? null, employees_company_id: subject.id }, out),
} as const satisfies Reader;

interface Whose {
  readonly companies_id: string | null;
  readonly employees_company_id: string | null;
}

function readPeople({ ids, answers, name }: SubjectAnswers, whose: Whose, out: ReaderOutput): void {
  const counts = new Map<string, number>();
  const of = { ...whose, v1_company_id: ids.v1 ?? null, v2_company_id: ids.v2 ?? null };
  const company = nameIn(answers);
  const listed = new Map<string, { items: number; total: number }>();
  for (const answer of answers) {
    if (answer.operation === 'companyProfile') continue;
    const opened = openAnswer(answer, out);
    if (opened === undefined) continue;
    const { body, path } = opened;
    const { operation } = answer;
    if (LISTS.has(operation) && isObject(body)) {
      const { items, total } = listed.get(operation) ?? { items: 0, total: 0 };
      const came = Array.isArray(body.data) ? body.data.length : 0;
      listed.set(operation, { items: items + came, total: Math.max(total, totalOf(body) ?? 0) });
    }
    const add = (item: JsonObject, at: BodyPath) => {
      if (isElsewhere(item, answer, whose, { profile: company, confirmed: name ?? '' })) return;
      const position = (counts.get(operation) ?? 0) + 1;
      counts.set(operation, position);
      addPerson(item, { ...of, position: String(position) }, at);
    };
    for (const [name, value] of LISTS.has(operation) ? eachPerson(body, path, add) : onePerson(body, path, add))
      path.at(name).left('a line of its own', value);
  }
  if ([...listed.values()].some(({ items, total }) => items < total)) out.noteMore(peopleTable);
}

const LISTS: ReadonlySet<string> = new Set(['enrichEmployeesSearch', 'employeesSearch']);

type Add = (item: JsonObject, at: BodyPath) => void;

/** Returns the unread parts. An empty list is a valid answer without rows. */
const eachPerson = (body: ExactJson, path: BodyPath, add: Add): Members =>
  unreadPage(body, (rows) => eachItem(rows, path.at('data'), (item, _, at) => add(item, at))).left;

function onePerson(body: ExactJson, path: BodyPath, add: Add): Members {
  if (!isObject(body)) return [['person', body]];
  add(body, path);
  return [];
}

function nameIn(answers: readonly RawAnswer[]): string {
  const profile = answers.find(({ operation }) => operation === 'companyProfile');
  return profile === undefined ? '' : textIn(tryParse(profile.body), 'name');
}

const textIn = (value: ExactJson | undefined, name: string): string => {
  const text = isObject(value) ? memberOf(value, name) : undefined;
  return typeof text === 'string' ? text.trim() : '';
};

interface KnownNames {
  readonly profile: string;
  readonly confirmed: string;
}

/** As in the stage: a person of another company is left out. An absent field proves nothing. */
function isElsewhere(item: JsonObject, { operation, params }: RawAnswer, whose: Whose, known: KnownNames): boolean {
  if (operation === 'employeesSearch' || operation === 'employeeProfile') {
    const id = idOf(memberOf(item, 'company_id'));
    if (id !== undefined && id !== whose.employees_company_id) return true;
    return worksElsewhere({ name: textIn(item, 'company_name'), website: '' }, { name: known.confirmed, website: '' });
  }
  const name = known.profile;
  if (operation === 'enrichPerson') {
    const told = { name: textIn(item, 'full_name'), company: textIn(item, 'company_name') };
    const asked = `${textOf(params.first_name)} ${textOf(params.last_name)}`.trim();
    return isDifferentPerson(told, { name: asked, companies: [textOf(params.company_name), name] });
  }
  if (operation !== 'enrichEmployeesSearch') return false;
  const company = memberOf(item, 'company');
  const employer: Employer = { name: textIn(company, 'name'), website: textIn(company, 'website') };
  const [domain] = Array.isArray(params.domain_list) ? (params.domain_list as readonly unknown[]) : [];
  return worksElsewhere(employer, { name, website: textOf(domain) });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

const fields = [
  column('employee_id', 'id', '', 'id'),
  ...personFields,
  ...personContacts,
  column('employer', 'text', '', 'company.name'),
  ...employerFields,
] as const;

type Line = Whose & { readonly v1_company_id: string | null; readonly v2_company_id: string | null } & {
  readonly position: string;
};

function addPerson(item: JsonObject, line: Line, at: BodyPath): void {
  const {
    cells: { company_name, employer, ...cells },
    rest,
  } = readNested(item, fields, at);
  // Both may come and differ.
  const isOther = employer !== null && company_name !== null && employer !== company_name;
  const { company = {}, ...others } = Object.fromEntries(rest);
  at.out.add(peopleTable, {
    ...line,
    ...cells,
    company_name: company_name ?? employer,
    operation: at.origin.operation,
    raw_sha256: at.origin.rawSha256,
    extra: extraOf(
      isOther ? Object.entries({ ...others, company: { ...(company as JsonObject), name: employer } }) : rest,
    ),
  });
}
