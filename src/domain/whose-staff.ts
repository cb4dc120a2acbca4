import { NAME_AGREEMENT, nameSimilarity } from './names.js';
import { mayBeSamePerson } from './person-names.js';
import { ownDomainOf } from './web-domain.js';

/** What stands with a person about the company; empty where it did not come. */
export interface Employer {
  readonly name: string;
  readonly website: string;
}

/**
 * Is a person said to work for another company than the one asked for? At the company's own address a name that has a part of
 * its name is enough: companies go by short names. What did not come says nothing.
 */
export function worksElsewhere({ name, website }: Employer, asked: Employer): boolean {
  const domain = ownDomainOf(website);
  const isTheirs = domain !== undefined && domain === ownDomainOf(asked.website);
  if (domain !== undefined && !isTheirs) return true;
  return isOtherName(name, [asked.name], isTheirs ? PARTLY : NAME_AGREEMENT);
}

/** What a name reaches that lacks words of the other, and has none that the other lacks. */
const PARTLY = 60;

/** Details of one person, as they were asked for: by the name, and by the names of the company. */
export interface AskedPerson {
  readonly name: string;
  readonly companies: readonly string[];
}

/** Are the details of another person than the one asked for, or of one who works elsewhere? */
export const isSomebodyElse = (
  told: { readonly name: string; readonly company: string },
  asked: AskedPerson,
): boolean => !mayBeSamePerson(told.name, asked.name) || isOtherName(told.company, asked.companies);

/** Not as the pipeline has it: whoever makes the tables, long after the run, must come to the same. */
function isOtherName(name: string, names: readonly string[], agreement = NAME_AGREEMENT): boolean {
  const given = names.filter((one) => one !== '');
  return name !== '' && given.length > 0 && given.every((one) => nameSimilarity(one, name) < agreement);
}
