import { NAME_AGREEMENT, nameSimilarity } from './names.js';
import { mayBeSamePerson } from './person-names.js';
import { ownDomainOf } from './web-domain.js';

/** What stands with a person about the company; empty where it did not come. */
export interface Employer {
  readonly name: string;
  readonly website: string;
}

/** Is a person said to work for another company than the one asked for? What did not come says nothing. */
export function worksElsewhere({ name, website }: Employer, asked: Employer): boolean {
  const domain = ownDomainOf(website);
  return (domain !== undefined && domain !== ownDomainOf(asked.website)) || isOtherName(name, [asked.name]);
}

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
function isOtherName(name: string, names: readonly string[]): boolean {
  const given = names.filter((one) => one !== '');
  return name !== '' && given.length > 0 && given.every((one) => nameSimilarity(one, name) < NAME_AGREEMENT);
}
