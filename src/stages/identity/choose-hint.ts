import type { Subject } from '../../domain/grade.js';
import type { Hint } from '../../domain/hints.js';
import { NAME_AGREEMENT, nameSimilarity } from '../../domain/names.js';
import type { Named } from './fallback-steps.js';
import type { HintRequest } from './hint-requests.js';

interface NamedCompany {
  readonly name: string | undefined;
  readonly number: string;
  readonly country: string | null;
}

/**
 * The one company that an answer names, or how many it names where that is not one. Of several those in the row's own
 * country count, and of these the one that has the row's name: a person who is shown one of several would take it for the
 * only one.
 */
export function chooseHint(
  answer: readonly Named[],
  subject: Subject,
  { source, forName, operation }: Omit<HintRequest, 'params'> & { readonly operation: string },
): Hint | number {
  const named = distinct(answer.flatMap(companyIn));
  const here = named.filter(({ country }) => country === null || country === subject.countryCode);
  const near = here.length > 0 ? here : named;
  const alike = near.filter(({ name }) => agrees(subject.name, name));
  const chosen = near.length > 1 && alike.length === 1 ? alike[0] : near[0];
  if (chosen === undefined || (near.length > 1 && alike.length !== 1)) return near.length;
  return { source, operation, forName, registrationNumber: chosen.number, countryCode: chosen.country };
}

function companyIn({ name, registration_number, country_code }: Named): readonly NamedCompany[] {
  const number = textOf(registration_number);
  const country = textOf(country_code)?.toUpperCase() ?? null;
  return number === undefined ? [] : [{ name: textOf(name), number, country: isCountry(country) ? country : null }];
}

const isCountry = (text: string | null): boolean => text !== null && /^[A-Z]{2}$/.test(text);

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

function distinct(companies: readonly NamedCompany[]): readonly NamedCompany[] {
  return [...new Map(companies.map((company) => [`${company.country} ${company.number}`, company])).values()];
}

const agrees = (ours: string | undefined, theirs: string | undefined): boolean =>
  ours !== undefined && theirs !== undefined && nameSimilarity(ours, theirs) >= NAME_AGREEMENT;
