import { nameSimilarity } from '../domain/names.js';
import { readQualified } from '../domain/numbers/qualified.js';
import type { ExactJson } from '../util/exact-json.js';

/** Whose an ownership answer says that it is. */
export interface OwnershipIdentity {
  readonly registrationNumber: string | null;
  /** The nodes of its tree that are marked as the company asked about. */
  readonly selected: readonly SelectedNode[];
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
  readonly group_structure?: readonly unknown[] | null | undefined;
}

/** Trees may be very deep: they are walked with a stack of their own. */
export function identityInOwnership({ registration_number, group_structure }: OwnershipBody): OwnershipIdentity {
  const selected: SelectedNode[] = [];
  const pending: unknown[] = [...(group_structure ?? [])].reverse();
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    const { name, registration_number: number, selected: isSelected, children } = node as { [key: string]: ExactJson };
    if (isSelected === true) selected.push({ name: text(name), registrationNumber: text(number) });
    if (Array.isArray(children)) for (let at = children.length - 1; at >= 0; at--) pending.push(children[at]);
  }
  return { registrationNumber: text(registration_number), selected };
}

const text = (value: ExactJson | undefined): string | null =>
  value === undefined || value === null || String(value).trim() === '' ? null : String(value);

/**
 * What keeps an answer from being the company's, in words; nothing where it is. The request has no country, and in another
 * country the same number is another company's (V2-22): the answer must name the number, mark one company in its tree,
 * and that must be the one that was confirmed, by number and by name. What was not returned agrees with nothing.
 */
export function doubtsAbout(
  { registrationNumber, selected }: OwnershipIdentity,
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

/** A number may be that of several registers and countries: without a name only one that names its country tells. */
function doubtsAboutName(
  whose: string,
  { name, registrationNumber }: SelectedNode,
  company: OwnedCompany,
  nameAgreement: number,
) {
  if (name === null) return [`${whose} has no name`];
  if (company.name !== null) {
    const agrees = nameSimilarity(company.name, name) >= nameAgreement;
    return agrees ? [] : [`${whose} is named ${name}; confirmed is ${company.name}`];
  }
  const { country } = readQualified(registrationNumber ?? '', company.number, company.countryCode);
  return country === null ? [`there is no name to hold against ${name}, and the answer names no country`] : [];
}
