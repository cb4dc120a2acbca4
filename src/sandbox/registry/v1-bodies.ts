// Bodies of v1, and the groups of companies.

import { type Json, raw } from '../json.js';
import { hash } from '../random.js';
import type { Companies } from './companies.js';
import {
  addressOf,
  candidateOf,
  filedFinancials,
  identityOf,
  jurisdictionExtras,
  profileOf,
  sourceOf,
} from './facts.js';
import { hasTrait, listState, v1Wire } from './layout.js';
import { type Holders, type Holding, type Officer, officersOf, type Persons } from './people.js';
import type { Company } from './types.js';

type Fields = { readonly [key: string]: Json | undefined };

export function createV1Bodies(companies: Companies, persons: Persons, holders: Holders) {
  const { seed } = companies;
  const source = (company: Company, module = 0) => sourceOf(seed, company, module);

  /** The number in the record. For a few companies it differs from the candidate's. */
  const ownNumber = (company: Company): string | null =>
    company.registrationNumber !== null && hasTrait(seed, company.index, 'identityMismatch')
      ? companies.otherNumber(company)
      : company.registrationNumber;

  const financial = (company: Company): Fields => {
    const state = listState(seed, company.index, 'filedFinancials');
    if (state !== 'some') return { years: [], groups: [] };
    return { ...filedFinancials(seed, company.index, false) };
  };

  return {
    /** The source object of an envelope. */
    source,
    financial,
    candidate: (company: Company, provenance: boolean): Json => ({
      id: v1Wire(company.v1Id),
      ...candidateOf(company),
      jurisdiction: hash(seed, company.index, 112) % 5 === 0 ? undefined : company.jurisdiction,
      source: provenance ? source(company) : undefined,
    }),
    lite: (company: Company, provenance: boolean) =>
      lite(seed, { ...company, registrationNumber: ownNumber(company) }, provenance),
    officers: (company: Company, provenance: boolean) =>
      officersOf(companies, persons, company).map((officer) => officerItem(officer, provenance)),
    shareholders: (company: Company) => holders.of(company).map(holdingItem),
    groupLite: (company: Company) => tree(groupOf(companies, company), immediate),
    groupFull: (company: Company) => tree(groupOf(companies, company), (root) => root),
    full: (company: Company, provenance: boolean): Json => {
      const root = groupOf(companies, company);
      const list = (kind: 'officers' | 'shareholders' | 'groupLinks', items: () => Json[]): Json[] | undefined =>
        listState(seed, company.index, kind) === 'absent' ? undefined : items();
      const filed = listState(seed, company.index, 'filedFinancials');
      return {
        lite: {
          id: v1Wire(company.v1Id),
          ...identityOf({ ...company, registrationNumber: ownNumber(company) }),
          country_code: company.countryCode,
          legal_form: company.legalForm,
          ...jurisdictionExtras(seed, company),
        },
        officers: list('officers', () =>
          officersOf(companies, persons, company).map((item) => officerItem(item, false)),
        ),
        shareholders: list('shareholders', () => holders.of(company).map(holdingItem)),
        group_structures_full: list('groupLinks', () => (root === undefined ? [] : edges(seed, company, root))),
        financial:
          filed === 'absent' ? undefined : { id: v1Wire(company.v1Id), name: company.name, ...financial(company) },
        provenance: provenance
          ? {
              lite: source(company, 1),
              officers: source(company, 2),
              shareholders: source(company, 3),
              financial: source(company, 4),
            }
          : undefined,
      };
    },
  };
}

/** Grouped with provenance, flat without. The flat keys are the names of the leaves (V1-25). */
function lite(seed: number, company: Company, provenance: boolean): Json {
  const profile = profileOf(seed, company);
  const dice = hash(seed, company.index, 113);
  const ticker = company.ticker ?? (dice % 2 === 0 ? null : undefined);
  const basic = { ...identityOf(company), legal_form: company.legalForm };
  const address = { ...addressOf(company, profile), jurisdiction: company.jurisdiction };
  const contact = { website: profile.website, linkedin: dice % 6 === 0 ? undefined : profile.linkedin };
  const id = v1Wire(company.v1Id);
  const extras = jurisdictionExtras(seed, company);
  if (!provenance) return { id, ...basic, ticker, ...address, ...contact, ...extras };
  // The ticker occurs in both places.
  const inside = dice % 3 !== 0;
  return {
    id,
    basic: { ...basic, ticker: inside ? ticker : undefined, ...extras, source: sourceOf(seed, company, 1) },
    ticker: inside ? undefined : ticker,
    address: { ...address, source: sourceOf(seed, company, 5) },
    contact: { ...contact, source: sourceOf(seed, company, 6) },
  };
}

function officerItem(officer: Officer, provenance: boolean): Json {
  const person = {
    first_name: officer.first,
    last_name: officer.last,
    date_of_birth_year: officer.birthYear,
    date_of_birth_month: officer.birthMonth,
  };
  const appointment = {
    appointed_at: officer.appointed,
    resigned_at: officer.resigned,
    work_status: officer.status,
    job_title: officer.role,
  };
  const address = officerAddress(officer);
  const id = v1Wire(officer.id);
  if (!provenance) return { id, ...person, ...appointment, ...address };
  const contact = { email: officer.email, phone: officer.phone };
  return { id, ...person, ...appointment, ...address, officer: person, appointment, address, contact };
}

export function officerAddress(officer: Officer): Fields {
  return {
    address_country: officer.country,
    address_line_1: officer.line,
    address_locality: officer.locality,
    address_region: officer.region,
    address_postal_code: officer.postalCode,
  };
}

export const numberOrNull = (text: string | null): Json => (text === null ? null : raw(text));

function holdingItem(holding: Holding): Json {
  return {
    id: v1Wire(holding.id),
    name: holding.name,
    percentage: numberOrNull(holding.percentage),
    quantity: numberOrNull(holding.quantity),
    share_price: numberOrNull(holding.sharePrice),
    share_type: holding.shareType,
    share_value: holding.shareValue,
    currency: holding.currency,
    status: holding.status,
    total_value: numberOrNull(holding.totalValue),
  };
}

function tree(root: GroupNode | undefined, cut: (root: GroupNode) => GroupNode): readonly Json[] {
  return root === undefined ? [] : [groupNode(cut(root))];
}

/** The number has a country prefix here, so it is not the local number (V1-27). */
function groupNode(node: GroupNode): Json {
  return {
    id: v1Wire(node.company.v1Id),
    name: node.company.name,
    country: node.company.countryCode,
    registration_number: prefixedNumber(node.company),
    selected: node.selected,
    children: node.children.map(groupNode),
  };
}

export function prefixedNumber(company: Company): string | null {
  return company.registrationNumber === null ? null : `${company.countryCode}-${company.registrationNumber}`;
}

/** `source` is the parent's prefixed number or ID, a string and not a source object (V1-26). */
function edges(seed: number, company: Company, root: GroupNode): Json[] {
  return Array.from(links(root), ({ parent, child }) => ({
    company_id: v1Wire(company.v1Id),
    country_source: parent.countryCode,
    country_target: child.countryCode,
    source: prefixedNumber(parent) ?? parent.v1Id,
    target: prefixedNumber(child) ?? child.v1Id,
    title: parent.name,
    target_title: child.name,
    temporary: hash(seed, child.index, 114) % 9 === 0,
  }));
}

/** A company in its group. Children come in a stable order. */
export interface GroupNode {
  readonly company: Company;
  readonly selected: boolean;
  readonly children: readonly GroupNode[];
}

const BLOCK = 12;
const DEEP = 64;
const WIDE = 300;

/**
 * Twelve neighbouring indices are a group or a part of one. The first is the parent, the others are below it in threes.
 * A few companies are in a chain of 64 levels, a few have 300 subsidiaries.
 */
export function groupOf(companies: Companies, company: Company): GroupNode | undefined {
  const { seed, size } = companies;
  if (listState(seed, company.index, 'groupLinks') !== 'some') return undefined;
  const other = (place: number) => companies.company(hash(seed, company.index, 95, place) % size);
  if (hasTrait(seed, company.index, 'deepGroup')) return chain(company, other);
  if (hasTrait(seed, company.index, 'wideGroup')) return fan(company, other);
  const first = company.index - (company.index % BLOCK);
  const members = Math.min(1 + (hash(seed, first, 94) % BLOCK), size - first);
  const place = company.index - first;
  if (place >= members) return { company, selected: true, children: [] };
  const node = (at: number): GroupNode => ({
    company: companies.company(first + at),
    selected: at === place,
    children: [3 * at + 1, 3 * at + 2, 3 * at + 3].filter((child) => child < members).map(node),
  });
  return node(0);
}

/** Parent, the company itself and its direct children. */
function immediate(root: GroupNode): GroupNode {
  if (root.selected) return trim(root);
  const parent = parentOfSelected(root);
  return parent === undefined ? root : { ...parent, children: parent.children.filter(isSelected).map(trim) };
}

/** Every link of the group. */
export function* links(root: GroupNode): Iterable<{ readonly parent: Company; readonly child: Company }> {
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const child of node.children) {
      yield { parent: node.company, child: child.company };
      stack.push(child);
    }
  }
}

function chain(company: Company, other: (place: number) => Company): GroupNode {
  let node: GroupNode = { company: other(DEEP), selected: false, children: [] };
  for (let level = DEEP - 1; level >= 0; level--) {
    const selected = level === DEEP / 2;
    node = { company: selected ? company : other(level), selected, children: [node] };
  }
  return node;
}

function fan(company: Company, other: (place: number) => Company): GroupNode {
  const children = Array.from({ length: WIDE }, (_, place) => ({
    company: other(place),
    selected: false,
    children: [],
  }));
  return { company, selected: true, children };
}

const isSelected = (node: GroupNode): boolean => node.selected;

const trim = (node: GroupNode): GroupNode => ({
  ...node,
  children: node.children.map((child) => ({ ...child, children: [] })),
});

function parentOfSelected(root: GroupNode): GroupNode | undefined {
  const stack = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node.children.some(isSelected)) return node;
    stack.push(...node.children);
  }
  return undefined;
}
