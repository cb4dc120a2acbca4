import { nameSimilarity } from '../domain/names.js';
import { isAloneInCountry } from '../domain/numbers/alone-in-country.js';
import { readQualified } from '../domain/numbers/qualified.js';
import type { ExactJson } from '../util/exact-json.js';
import { outsideText } from '../util/outside-text.js';

/** Whose an ownership answer says that it is. */
export interface OwnershipIdentity {
  readonly registrationNumber: string | null;
  /** The nodes of its tree that are marked as the company asked about. */
  readonly selected: readonly SelectedNode[];
  /** What else a person can judge by. */
  readonly shareholders: NamedList;
  readonly roots: NamedList;
  readonly nodes: number;
}

/** How many there are, and what the first of them are called. */
interface NamedList {
  readonly count: number;
  readonly names: readonly string[];
}

export interface SelectedNode {
  readonly name: string | null;
  readonly registrationNumber: string | null;
}

/** The company that was confirmed. */
export interface OwnedCompany {
  readonly number: string;
  readonly name: string | null;
  /** Empty where nobody knows it. */
  readonly countryCode: string;
}

interface OwnershipBody {
  readonly registration_number?: ExactJson | undefined;
  readonly shareholders?: readonly unknown[] | null | undefined;
  readonly group_structure?: readonly unknown[] | null | undefined;
}

/** Trees may be very deep: they are walked with a stack of their own. */
export function identityInOwnership({
  registration_number,
  shareholders,
  group_structure,
}: OwnershipBody): OwnershipIdentity {
  let nodes = 0;
  const selected: SelectedNode[] = [];
  const pending: unknown[] = [...(group_structure ?? [])].reverse();
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    nodes++;
    const { name, registration_number: number, selected: isSelected, children } = node as { [key: string]: ExactJson };
    if (isSelected === true) selected.push({ name: text(name), registrationNumber: text(number) });
    if (Array.isArray(children)) for (let at = children.length - 1; at >= 0; at--) pending.push(children[at]);
  }
  return {
    registrationNumber: text(registration_number),
    selected,
    shareholders: namedList(shareholders),
    roots: namedList(group_structure),
    nodes,
  };
}

const NAMES_SHOWN = 3;

function namedList(list: readonly unknown[] | null | undefined): NamedList {
  const named = (list ?? []).slice(0, NAMES_SHOWN).flatMap((item) => {
    const { name } = (typeof item === 'object' && item !== null ? item : {}) as { readonly name?: ExactJson };
    return text(name) ?? [];
  });
  return { count: list?.length ?? 0, names: named };
}

/** What the answer says of itself, in words: where it marks nobody, this is all that there is to judge by. */
export function inWords({ registrationNumber, shareholders, roots, nodes }: OwnershipIdentity): string {
  const number = registrationNumber === null ? 'no number' : `the number ${shown(registrationNumber)}`;
  const holders = `${counted(shareholders.count, 'shareholder', 'shareholders')}${namesOf(':', shareholders)}`;
  const tree = `${counted(nodes, 'company', 'companies')} in its group tree${namesOf(' under', roots)}`;
  return `the answer has ${number}; ${holders}; ${tree}`;
}

const counted = (count: number, one: string, several: string): string =>
  `${count === 0 ? 'no' : count} ${count === 1 ? one : several}`;

const namesOf = (before: string, { names, count }: NamedList): string =>
  names.length === 0 ? '' : `${before} ${names.map(shown).join(', ')}${count > names.length ? ', …' : ''}`;

const shown = (name: string): string => outsideText(name, 120);

const text = (value: ExactJson | undefined): string | null =>
  value === undefined || value === null || String(value).trim() === '' ? null : String(value);

/**
 * What keeps an answer from being the company's, in words; nothing where it is. The request has no country, and in another
 * country the same number is another company's (V2-22): the answer must name the number, mark one company in its tree,
 * and that must be the one that was confirmed, by number and by name. What was not returned agrees with nothing.
 */
export function doubtsAbout(
  { registrationNumber, selected }: Pick<OwnershipIdentity, 'registrationNumber' | 'selected'>,
  company: OwnedCompany,
  nameAgreement: number,
): readonly string[] {
  const own = doubtsAboutNumber('the answer', registrationNumber, company);
  const [node, second] = selected;
  if (node === undefined) return [...own, 'its group tree marks no company as the one asked about'];
  if (second !== undefined) return [...own, `its group tree marks ${selected.length} companies as the one asked about`];
  const marked = 'the company marked in its group tree';
  return [
    ...own,
    ...doubtsAboutNumber(marked, node.registrationNumber, company),
    ...doubtsAboutName(marked, node, company, nameAgreement),
  ];
}

function doubtsAboutNumber(whose: string, number: string | null, { number: confirmed, countryCode }: OwnedCompany) {
  if (number === null) return [`${whose} has no registration number; confirmed is ${confirmed}`];
  const { isSame, country } = readQualified(number, confirmed, countryCode);
  if (isSame) return [];
  if (country !== null) return [`${whose} is of ${country} (${number}); confirmed is ${confirmed} of ${countryCode}`];
  return [`${whose} has registration number ${number}; confirmed is ${confirmed}`];
}

/**
 * A number may be that of several registers and countries: without a name only one that names its country tells. Where it
 * does, and one register numbers all companies of the country, another name is a new name.
 */
function doubtsAboutName(
  whose: string,
  { name, registrationNumber }: SelectedNode,
  company: OwnedCompany,
  nameAgreement: number,
) {
  if (name === null) return [`${whose} has no name`];
  const { number, countryCode } = company;
  const { country, isSame } = readQualified(registrationNumber ?? '', number, countryCode);
  if (company.name !== null) {
    const agrees = nameSimilarity(company.name, name) >= nameAgreement;
    const isRenamed = isSame && country === countryCode && isAloneInCountry(number, countryCode);
    return agrees || isRenamed ? [] : [`${whose} is named ${name}; confirmed is ${company.name}`];
  }
  return country === null ? [`there is no name to hold against ${name}, and the answer names no country`] : [];
}
