import { v2Operations } from '../api/v2/operations.js';
import type { Reveals } from '../domain/account-usage.js';
import { type ContactsContext, type ContactsOptions, contactsOptions, PER_PAGE } from './contacts-options.js';
import { byDomain, inEmployees } from './contacts-search.js';
import { deferNotes } from './defer-notes.js';
import { type Company, type StageCall, type StageOutcome, stage } from './stage.js';

const { companyProfile, enrichEmployeesSearch, enrichPerson, employeesSearch, employeeProfile, nomenclature } =
  v2Operations;

/** People of a company. Nothing is revealed unless the pipeline asks for it, and never more than it allows (V2-11). */
export const contactsStage = stage({
  name: 'contacts',
  summary: 'People who work for the company (v2): names and roles. E-mail and phone only if the pipeline reveals them',
  space: 'companies',
  additional: true,
  comparesCandidate: true,
  // The employees module uses the ID of another space.
  finds: ['employees'],
  // The domain comes from the profile.
  reads: ['firmographics'],
  ages: [enrichEmployeesSearch],
  calls: [],
  options: contactsOptions,
  configure: (options) =>
    options.from === 'employees'
      ? { space: 'employees', ages: [employeesSearch], calls: inEmployeesCalls(options) }
      : { space: 'companies', ages: [enrichEmployeesSearch], calls: byDomainCalls(options) },
  names: ({ from, seniority, department }) =>
    from === 'domain'
      ? []
      : [
          { key: 'contacts.seniority', vocabulary: { name: 'seniority' }, written: seniority },
          { key: 'contacts.department', vocabulary: { name: 'department' }, written: department },
        ],
  run: async (company: Company, context: ContactsContext): Promise<StageOutcome> => {
    const isEmployees = context.options.from === 'employees';
    const noting = deferNotes(context, [isEmployees ? employeesSearch : enrichEmployeesSearch]);
    return noting.ended(await (isEmployees ? inEmployees : byDomain)(company, noting.context));
  },
});

const pagesOf = ({ peopleAtMost }: ContactsOptions): number => Math.ceil(peopleAtMost / PER_PAGE);

function byDomainCalls(options: ContactsOptions): readonly StageCall[] {
  const { details, reveal, revealAtMost, peopleAtMost } = options;
  const revealed = reveal.length === 0 ? 0 : Math.min(revealAtMost, peopleAtMost);
  const asked = details ? peopleAtMost : revealed;
  return [
    { operation: companyProfile, atMost: 1 },
    { operation: enrichEmployeesSearch, atMost: pagesOf(options) },
    ...(asked === 0 ? [] : [{ operation: enrichPerson, atMost: asked, reveals: revealsOf(options, revealed) }]),
  ];
}

const revealsOf = ({ reveal }: ContactsOptions, people: number): Reveals => ({
  email: reveal.includes('email') ? people : 0,
  phone: reveal.includes('phone') ? people : 0,
});

/** Employee details have no switch: both kinds are revealed, whichever was named. */
function inEmployeesCalls(options: ContactsOptions): readonly StageCall[] {
  const { reveal, revealAtMost, peopleAtMost } = options;
  const revealed = reveal.length === 0 ? 0 : Math.min(revealAtMost, peopleAtMost);
  const looks = [options.seniority, options.department].filter(({ length }) => length > 0).length;
  return [
    ...(looks === 0 ? [] : [{ operation: nomenclature, atMost: looks }]),
    { operation: employeesSearch, atMost: pagesOf(options) },
    ...(revealed === 0
      ? []
      : [{ operation: employeeProfile, atMost: revealed, reveals: { email: revealed, phone: revealed } }]),
  ];
}
