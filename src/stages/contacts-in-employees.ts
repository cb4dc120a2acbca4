import { v2Operations } from '../api/v2/operations.js';
import { worksElsewhere } from '../domain/whose-staff.js';
import { ExactNumber } from '../util/exact-json.js';
import { employeeFilters } from './contacts-filters.js';
import { type ContactsContext, chosenPeople, goesOn, nobody, PER_PAGE, textOf } from './contacts-people.js';
import { confirmedElsewhere } from './identity/confirmed-elsewhere.js';
import { askItems } from './pages.js';
import { type Company, identified, type StageOutcome, withoutAnswer } from './stage.js';

const { employeesSearch, employeeProfile } = v2Operations;

/** In the employees module, by the company's ID there. Its details have no switch: they show e-mail and phone (V2-11). */
export async function inEmployees(company: Company, context: ContactsContext): Promise<StageOutcome> {
  const { id, candidate } = identified(company, 'employees');
  const { options } = context;
  const about = { about: { space: 'employees', id } } as const;
  const wanted = await employeeFilters(context);
  if (wanted.kind !== 'filters') return wanted;
  const filters = { company_id: id, ...wanted.filters };
  const params = { filters, per_page: Math.min(options.peopleAtMost, PER_PAGE) };
  const pages = Math.ceil(options.peopleAtMost / PER_PAGE);
  const listed = await askItems(employeesSearch, params, pages, context, about);
  if (listed.kind !== 'pages') return listed;
  const asked = { name: textOf((candidate ?? confirmedElsewhere(company.ids))?.name), website: '' };
  const people = chosenPeople(
    listed,
    context,
    ({ company_id, company_name }) =>
      (idIn(company_id) ?? id) !== id || worksElsewhere({ name: textOf(company_name), website: '' }, asked),
  );
  if (people.length === 0) return nobody(options);
  const revealed = options.reveal.length === 0 ? [] : people.slice(0, options.revealAtMost);
  for (const person of revealed) {
    const employee = idIn(person.id);
    if (employee === undefined) continue;
    const outcome = await context.call(employeeProfile, { id: employee }, about);
    const trouble = outcome.kind === 'answer' ? undefined : withoutAnswer(outcome);
    if (trouble !== undefined && !goesOn(trouble, context)) return trouble;
  }
  return { kind: 'done' };
}

const idIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : value instanceof ExactNumber ? value.text : undefined;
