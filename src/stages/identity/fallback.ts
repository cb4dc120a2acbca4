// Asks other operations for the number of a company that no search found.

import type { CandidateFacts, Subject } from '../../domain/candidate-grade.js';
import { type Hint, type Hints, hintInWords, hintMatches } from '../../domain/match-decision.js';
import { NAME_AGREEMENT, nameSimilarity } from '../../domain/names/similarity.js';
import type { SearchSubject } from '../../domain/search-subject.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { noteOf, orUnanswered, type StageContext, type StageOutcome, withoutAnswer } from '../stage.js';
import type { SearchResult } from './candidates.js';
import {
  type CompanyInAnswer,
  type FallbackStep,
  type HintRequest,
  type Search,
  type SearchPolicy,
  stepsFor,
} from './searches.js';

export interface FallbackTerms {
  readonly enquiry: SearchSubject;
  readonly fallback: SearchPolicy['fallback'];
  readonly context: Pick<StageContext, 'call' | 'keepError'>;
  /** The ordinary search of the space at a given place. Undefined if it cannot ask for this. */
  readonly search: (search: Search, place: SearchSubject) => Promise<SearchResult | StageOutcome | undefined>;
  /** Searches made before: they are not bought again, and their candidates are known. */
  readonly asked: readonly Search[];
  readonly seen: () => readonly CandidateFacts[];
  /** Takes the company that a hint names. True if that is enough. */
  readonly take: (found: readonly CandidateFacts[], hint: Hint) => boolean;
}

/**
 * Asks other operations for the number of a company that no search found, each once, until one finds it. A named number
 * gets at most one ordinary search. A step that knows nothing or fails is noted, and the next is asked. A step that
 * cannot be asked now holds the row, because "no match" would be a guess.
 */
export async function askFallback(terms: FallbackTerms): Promise<StageOutcome | undefined> {
  const asked = [...terms.asked];
  for (const step of stepsFor(terms.enquiry, terms.fallback)) {
    const hint = await askForHint(step, terms);
    if (hint === undefined) continue;
    if ('kind' in hint) return hint;
    const place = placeOf(hint, terms.enquiry);
    const search = { location: place.location, registration_number: hint.registrationNumber };
    const found = await searchOnce(search, place, asked, terms);
    if ('kind' in found) {
      if (isHeldUp(found)) return found;
      noteTrouble(found, hintInWords(hint), terms.context);
      continue;
    }
    asked.push(search);
    const named = found.filter((candidate) => hintMatches(hint, terms.enquiry.subject, candidate));
    if (named.length === 0)
      note('HINT_NOT_FOUND', `${hintInWords(hint)}, which the search does not find`, terms.context);
    else if (terms.take(named, hint)) return undefined;
  }
  return undefined;
}

async function askForHint(step: FallbackStep, terms: FallbackTerms): Promise<Hint | StageOutcome | undefined> {
  const { enquiry, context } = terms;
  const request = step.request(enquiry);
  if (request === undefined) return undefined;
  const { operation } = step;
  const outcome = await context.call(operation, request.params);
  if (outcome.kind !== 'answer') {
    const ended = withoutAnswer(outcome);
    if (isHeldUp(ended)) return ended;
    noteTrouble(ended, request.source, context);
    return undefined;
  }
  const named = await orUnanswered(() => step.read(outcome.body));
  if ('kind' in named) return named;
  const chosen = chooseHint(named, enquiry.subject, { ...request, operation: operation.name });
  if (typeof chosen !== 'number') return chosen;
  if (chosen === 0) note('HINT_EMPTY', `${operation.name} names no number for ${request.source}`, context);
  else
    note(
      'HINT_AMBIGUOUS',
      `${operation.name} names ${chosen} companies for ${request.source}. kybatch uses none`,
      context,
    );
  return undefined;
}

/** The row's own place, unless the hint names another country, where the named company may be. */
function placeOf({ countryCode }: Hint, enquiry: SearchSubject): SearchSubject {
  if (countryCode === null || countryCode === enquiry.subject.countryCode) return enquiry;
  const { locationId: _, state: __, ...subject } = enquiry.subject;
  return { location: countryCode, subject: { ...subject, countryCode } };
}

async function searchOnce(
  search: Search,
  place: SearchSubject,
  asked: readonly Search[],
  terms: FallbackTerms,
): Promise<readonly CandidateFacts[] | StageOutcome> {
  if (asked.some((one) => JSON.stringify(one) === JSON.stringify(search))) return terms.seen();
  const found = (await terms.search(search, place)) ?? NOBODY;
  return 'kind' in found ? found : found.candidates;
}

const NOBODY: SearchResult = { candidates: [], unreadable: 0 };

/** Nothing is decided yet: the company may be found when the row continues. */
const isHeldUp = (ended: StageOutcome): boolean =>
  (ended.kind === 'parked' && ended.reason !== 'ask_provider') || ended.kind === 'stopped' || ended.kind === 'waiting';

function noteTrouble(ended: StageOutcome, source: string, { keepError }: FallbackTerms['context']): void {
  const error = 'error' in ended ? ended.error : undefined;
  if (error !== undefined) keepError({ ...error, message: sanitizeText(`${source}: ${error.message}`) });
}

const note = (code: string, message: string, { keepError }: FallbackTerms['context']): void =>
  keepError(noteOf(code, sanitizeText(message)));

export class HintsByCandidate {
  readonly #hints = new Map<string, Hint>();

  take(candidates: readonly CandidateFacts[], hint: Hint): void {
    for (const { id } of candidates) if (!this.#hints.has(id)) this.#hints.set(id, hint);
  }

  get all(): Hints {
    return this.#hints;
  }
}

interface NamedCompany {
  readonly name: string | undefined;
  readonly number: string;
  readonly country: string | null;
}

/**
 * The one company that an answer names, or else their number. Of several, those in the row's country count, and of
 * these the one with the row's name. A person who sees one of several would take it for the only one.
 */
export function chooseHint(
  answer: readonly CompanyInAnswer[],
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

function companyIn({ name, registration_number, country_code }: CompanyInAnswer): readonly NamedCompany[] {
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
