import type { Companies } from './companies.js';
import { compact } from './countries/format.js';
import type { Language } from './countries/types.js';
import type { Shelf } from './layout.js';
import { plain, readName } from './names.js';
import { hash } from './random.js';
import type { Company, SearchKind, SearchQuery } from './types.js';

/** Combinations of words that a name search tries in each register before it gives up. */
const TRIES = 40;

/**
 * Numbers first, then VAT, ticker and name: the first field that finds anything decides. So a wrong number beside
 * a name brings candidates that have another number, as real providers do.
 */
export function search(
  companies: Companies,
  shelves: readonly Shelf[],
  query: SearchQuery,
  kind: SearchKind,
  limit: number,
): readonly Company[] {
  const narrow = narrowing(query.cityOrState);
  const steps: (() => Iterable<Company>)[] = [];
  const { registrationNumber, vatNumber, ticker, name } = query;
  if (registrationNumber !== undefined) steps.push(() => numberHits(companies, shelves, registrationNumber, kind));
  if (vatNumber !== undefined) steps.push(() => vatHits(companies, shelves, vatNumber, kind));
  if (ticker !== undefined) steps.push(() => tickerHits(companies, shelves, ticker));
  if (name !== undefined) steps.push(() => nameHits(companies, shelves, name));
  for (const step of steps) {
    const hits = take(step(), narrow, limit);
    if (hits.length > 0) return name === undefined ? hits : rank(companies.seed, hits, name);
  }
  return [];
}

function take(hits: Iterable<Company>, accepts: (company: Company) => boolean, limit: number): Company[] {
  const taken = new Map<number, Company>();
  for (const hit of hits) {
    if (accepts(hit)) taken.set(hit.index, hit);
    if (taken.size >= limit) break;
  }
  return [...taken.values()];
}

function narrowing(cityOrState: readonly string[] | undefined): (company: Company) => boolean {
  if (cityOrState === undefined || cityOrState.length === 0) return () => true;
  const wanted = new Set(cityOrState.map(plain));
  return ({ city, state, jurisdiction }) =>
    [city, state, jurisdiction].some((place) => place !== null && wanted.has(plain(place)));
}

function* numberHits(companies: Companies, shelves: readonly Shelf[], text: string, kind: SearchKind) {
  for (const shelf of shelves) {
    const number = withoutCourt(shelf, text);
    if (number === undefined) continue;
    for (const form of kind === 'exact' ? [compact(number)] : forms(shelf, compact(number))) {
      const found = companies.byNumber(shelf, form);
      if (found !== undefined && (kind === 'forgiving' || found.registrationNumber === number)) {
        yield found;
        break;
      }
    }
  }
}

/**
 * A German number may name its court, before or after: `Amtsgericht Köln, HRB 12345`. Undefined when the text
 * names another court.
 */
function withoutCourt(shelf: Shelf, text: string): string | undefined {
  if (shelf.country.code !== 'DE') return text;
  const found = /HR\s*[AB][\s.:-]*\d{1,6}(?:\s*(?:B|KI)(?![\p{L}]))?/iu.exec(text.normalize('NFKC'));
  if (found === null) return text;
  const around = plain(text.slice(0, found.index) + text.slice(found.index + found[0].length));
  const named = around.replace(/\b(?:amtsgericht|registergericht|ag|germany|de)\b/g, '').trim();
  if (named === '') return found[0];
  return plain(shelf.register.state ?? '')
    .split(' ')
    .some((word) => named.split(' ').includes(word))
    ? found[0]
    : undefined;
}

/** Spellings that a forgiving search takes for the same number. */
function* forms(shelf: Shelf, number: string): Iterable<string> {
  yield number;
  const { width } = shelf.register.number;
  const { code } = shelf.country;
  const bare = number.startsWith(code) ? number.slice(code.length) : number;
  if (bare !== number) yield bare;
  if (/^\d+$/.test(bare)) {
    if (width !== undefined && bare.length < width) yield bare.padStart(width, '0');
    const stripped = bare.replace(/^0+/, '');
    if (stripped !== bare) yield width === undefined ? stripped : stripped.padStart(width, '0');
    if (code === 'CH') yield `CHE${bare}`;
    if (code === 'LU') yield `B${stripped}`;
    return;
  }
  // Letters, then digits: SC1234 for SC001234, HRB 0123 for HRB 123.
  const [, prefix, digits] = /^([A-Z]+)(\d{1,5})$/.exec(bare) ?? [];
  if (prefix !== undefined && digits !== undefined) yield `${prefix}${digits.padStart(6, '0')}`;
  const zero = /^(HR[AB])0+(\d.*)$/.exec(bare);
  if (zero !== null) yield `${zero[1]}${zero[2]}`;
  // The court's own suffix may be left out.
  const suffix = /^HR[AB]\d+$/.test(bare) ? /[A-Z]+$/.exec(compact(shelf.register.number.encode(1))) : null;
  if (suffix !== null) yield `${bare}${suffix[0]}`;
}

function* vatHits(companies: Companies, shelves: readonly Shelf[], text: string, kind: SearchKind) {
  const wanted = compact(text);
  for (const shelf of shelves) {
    const { code } = shelf.country;
    const candidates = kind === 'exact' ? [wanted] : [wanted, `${code}${wanted}`, wanted.replace(code, '')];
    for (const candidate of candidates) {
      const found = companies.byVat(shelf, candidate);
      if (found !== undefined && (kind === 'forgiving' || found.vatNumber === text)) {
        yield found;
        break;
      }
    }
  }
}

function* tickerHits(companies: Companies, shelves: readonly Shelf[], ticker: string) {
  const found = companies.byTicker(ticker);
  if (found !== undefined && shelves.includes(companies.shelfOf(found))) yield found;
}

function* nameHits(companies: Companies, shelves: readonly Shelf[], name: string) {
  const readings = new Map<Language, readonly number[]>();
  for (const { country } of shelves) {
    if (!readings.has(country.language)) readings.set(country.language, readName(country.language, name, TRIES));
  }
  // Every register's own reading of the name first, then the near names of all.
  for (const shelf of shelves) {
    const literal = readings.get(shelf.country.language)?.[0];
    if (literal !== undefined) yield* companiesNamed(companies, shelf, literal);
  }
  for (const shelf of shelves) {
    const codes = readings.get(shelf.country.language) ?? [];
    for (let near = 1; near < codes.length; near++) {
      const found = companiesNamed(companies, shelf, codes[near] ?? 0);
      if (found.length > 0) yield* found;
    }
  }
}

function companiesNamed({ names, layout, company }: Companies, shelf: Shelf, code: number): readonly Company[] {
  const ranks = names.ranksOf(shelf, code);
  if (ranks.length === 0) return nobody;
  const found: Company[] = [];
  for (const rankOfName of ranks) {
    const index = layout.indexOf(shelf, rankOfName);
    if (index !== undefined) found.push(company(index));
  }
  return found;
}

const nobody: readonly Company[] = [];

/**
 * Same name first, mostly: one company in twelve is ranked by something only the provider knows, so that the
 * first candidate is no proof of anything (V1-21).
 */
function rank(seed: number, hits: Company[], name: string): Company[] {
  if (hits.length < 2) return hits;
  const wanted = plain(name);
  const ranked = hits.map((company) => {
    const dice = hash(seed, company.index, 61);
    if (dice % 12 === 0) return { company, order: 0 };
    const same = company.name === name || plain(company.name) === wanted;
    return { company, order: (same ? 1 : 3) + (dice % 7) / 10 };
  });
  return ranked.sort((a, b) => a.order - b.order).map(({ company }) => company);
}
