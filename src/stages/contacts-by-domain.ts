import { readAnswer } from '../api/answer.js';
import { ApiError } from '../api/errors.js';
import { scalarText } from '../api/schema.js';
import { v2Operations } from '../api/v2/operations.js';
import { postCheck } from '../domain/post-check.js';
import { domainOf } from '../domain/web-domain.js';
import { type ContactsContext, chosenPeople, goesOn, type Item, NOBODY, PER_PAGE, textOf } from './contacts-people.js';
import { nothingReturned } from './nothing-returned.js';
import { askPages } from './pages.js';
import {
  type Company,
  identified,
  type Params,
  type StageOutcome,
  toStageError,
  unanswered,
  withoutAnswer,
  withoutAnswerAbout,
} from './stage.js';

const { companyProfile, enrichEmployeesSearch, enrichPerson } = v2Operations;

/** By the domain of the website that the confirmed profile names. */
export async function byDomain(company: Company, context: ContactsContext): Promise<StageOutcome> {
  const { id } = identified(company, 'companies');
  const found = await findDomain(company, context);
  if (typeof found !== 'string') return found;
  const { options } = context;
  const about = { about: { space: 'companies', id } } as const;
  const params = {
    domain_list: [found],
    ...(options.seniority.length === 0 ? {} : { employee_seniorities: options.seniority.map(String) }),
    per_page: Math.min(options.peopleAtMost, PER_PAGE),
  };
  const pages = Math.ceil(options.peopleAtMost / PER_PAGE);
  const listed = await askPages(enrichEmployeesSearch, params, pages, context, about, false);
  if (listed.kind !== 'pages') return listed;
  const people = chosenPeople(listed, context, (item) => isOfOtherDomain(item, found));
  if (people.length === 0) return NOBODY;
  for (const [index, person] of people.entries()) {
    const asked = detailsOf(person, index, found, context);
    if (asked === undefined) continue;
    const outcome = await context.call(enrichPerson, asked, about);
    const trouble = outcome.kind === 'answer' ? undefined : withoutAnswer(outcome);
    if (trouble !== undefined && !goesOn(trouble, context)) return trouble;
  }
  return { kind: 'done' };
}

/** The profile is the company's: the same number and country as was confirmed, or accepted by a person. */
async function findDomain(company: Company, context: ContactsContext): Promise<string | StageOutcome> {
  const { id, candidate, matchedOn } = identified(company, 'companies');
  const outcome = await context.call(companyProfile, { id });
  if (outcome.kind !== 'answer') return await withoutAnswerAbout(companyProfile, { id }, outcome, context);
  const profile = readProfile(outcome.body);
  if (profile instanceof ApiError) return unanswered(toStageError(profile, 1));
  const check = candidate === null || matchedOn === 'review' ? { ok: true as const } : postCheck(candidate, profile);
  if (!check.ok)
    return nothingReturned('IDENTITY_MISMATCH', `${check.message}; the stage firmographics asks a person about it`);
  const domain = domainOf(profile.company_website ?? '');
  return domain ?? nothingReturned('NO_DOMAIN', 'the profile names no website whose people could be asked for');
}

function readProfile(body: Buffer) {
  try {
    const {
      registration_number = null,
      country_code = null,
      company_website = null,
    } = readAnswer(companyProfile, body);
    return { registration_number: scalarText(registration_number), country_code, company_website };
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** Where the website did not come nothing is said against it. */
function isOfOtherDomain({ company }: Item, domain: string): boolean {
  const website = typeof company === 'object' && company !== null ? textOf((company as Item).website) : '';
  return website !== '' && domainOf(website) !== domain;
}

/** The request for one of them; undefined where nothing more is wanted. What is not to be revealed is said (V2-11). */
function detailsOf(person: Item, index: number, domain: string, { options }: ContactsContext): Params | undefined {
  const { details, reveal, revealAtMost } = options;
  const mayReveal = reveal.length > 0 && index < revealAtMost;
  if (!details && !mayReveal) return undefined;
  const [first = '', ...rest] = textOf(person.name).split(/\s+/u);
  if (first === '') return undefined;
  const company = textOf((person.company as Item | null | undefined)?.name);
  return {
    ...(rest.length === 0 ? { last_name: first } : { first_name: first, last_name: rest.join(' ') }),
    ...(company === '' ? {} : { company_name: company }),
    domain,
    reveal_email: mayReveal && reveal.includes('email'),
    reveal_phone: mayReveal && reveal.includes('phone'),
  };
}
