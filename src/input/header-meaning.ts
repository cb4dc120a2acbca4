// The meaning of a header.

import { z } from 'zod';
import { UsageError } from '../domain/errors.js';
import { LEADS, type Lead } from '../domain/leads.js';
import { SPECIAL_LETTERS } from '../domain/names/similarity.js';
import { LONGEST_LINE, Memo, normalizeText } from '../util/text-limits.js';
import { barredWords, dataFile } from '../util/yaml.js';
import { INPUT_FIELDS, type InputField, type InputOptions } from './types.js';

/**
 * How clear a header is, clearest first. `pipeline`: the pipeline file names it. `exact`: it has one meaning.
 * `specific`: a usual name. `either`: one of several fields. `generic`: vague (`Customer`). `doubtful`: about another
 * company (`Parent country`).
 */
export const STRENGTHS = ['pipeline', 'exact', 'specific', 'either', 'generic', 'doubtful'] as const;
export type Strength = (typeof STRENGTHS)[number];

export interface Claim {
  readonly field: InputField;
  readonly strength: Strength;
  /** If two are equally clear, the one earlier in the list of headers wins. */
  readonly order: number;
  /** For a header with several meanings: the one to use if the content does not decide. */
  readonly isFirst?: boolean;
}

/** The meaning of a header. No claim: the header is known but not read automatically. */
interface Meaning {
  readonly claims: readonly Claim[];
  readonly part?: 'court' | 'section';
}

export type HeaderLookup = ReadonlyMap<string, Meaning>;

/** Every known header, by its folded form. Leads that are not followed claim nothing, so their columns are ordinary. */
export function headerLookup(extra: InputOptions['synonyms'] = {}, leads: readonly Lead[] = []): HeaderLookup {
  const key = leads.join();
  const builtIn = builtInByLeads.get(key) ?? builtInLookup(leads);
  builtInByLeads.set(key, builtIn);
  const added = [...fromPipeline(extra, fieldsRead(leads))];
  if (added.length === 0) return builtIn;
  const lookup = new Map(builtIn);
  for (const [word, claim] of added) lookup.set(fold(word), { claims: [claim] });
  return lookup;
}

/** Folding thousands of headers takes 20 ms, and the result is the same for every file. */
const builtInByLeads = new Map<string, HeaderLookup>();

const fieldsRead = (leads: readonly Lead[]): InputField[] =>
  INPUT_FIELDS.filter((field) => !LEADS.some((lead) => lead === field && !leads.includes(lead)));

const fieldName = z.enum(INPUT_FIELDS);
const byField = z.partialRecord(fieldName, barredWords(z));
const foldedWords = barredWords(z).transform((words) => new Set(words.map(fold)));

function inEitherOrder({ partners, numbers }: Readonly<Record<'partners' | 'numbers', readonly string[]>>): RegExp {
  const [partner, number] = [partners, numbers].map((words) => `(?:${words.map(fold).join('|')})`);
  return new RegExp(`^(?:${partner}${number}|${number}(?:de|du)?${partner})$`);
}

/** It stands behind the headers that are listed. */
const OWN_NUMBER: Meaning = { claims: [{ field: 'id', strength: 'specific', order: Number.MAX_SAFE_INTEGER }] };

const headerWords = dataFile(
  'input/header-words',
  z
    .strictObject({
      fields: byField,
      exact: byField,
      generic: byField,
      own_numbers: z.strictObject({ partners: barredWords(z), numbers: barredWords(z) }).transform(inEitherOrder),
      either: z.array(z.strictObject({ fields: z.array(fieldName), headers: barredWords(z) })),
      courts: barredWords(z),
      sections: barredWords(z),
      other: barredWords(z),
      somebody_else: foldedWords,
      people: foldedWords,
      itself: foldedWords,
      links: foldedWords,
      group_words: foldedWords,
    })
    .transform((words) => ({ ...words, prefixes: longFirst([...words.somebody_else, ...words.people]) })),
);

/**
 * Words that may join the next one without a space: `Herkunftsland`, `shippingcountry`. Shorter ones begin too many
 * words.
 */
const longFirst = (words: readonly string[]): readonly string[] =>
  words.filter(({ length }) => length >= 6).sort((a, b) => b.length - a.length);

/** Headers seen in analysts' files that mean a field. Earlier ones win over later ones. */
export const synonymsOf = (field: InputField): readonly string[] => headerWords().fields[field] ?? [];

function builtInLookup(leads: readonly Lead[]): HeaderLookup {
  const { other, courts, sections, either, generic, exact: exactWords } = headerWords();
  const unread = LEADS.filter((lead) => !leads.includes(lead));
  const lookup = new Map<string, Meaning>();
  for (const word of [...other, ...unread.flatMap((lead) => [lead, ...synonymsOf(lead)])])
    lookup.set(fold(word), { claims: [] });
  for (const word of courts) lookup.set(fold(word), { claims: [], part: 'court' });
  for (const word of sections) lookup.set(fold(word), { claims: [], part: 'section' });
  const add = (word: string, claim: Claim) => {
    const key = fold(word);
    lookup.set(key, { claims: [...(lookup.get(key)?.claims ?? []), claim] });
  };
  for (const { fields, headers } of either)
    for (const [order, word] of headers.entries())
      for (const [at, field] of fields.entries()) add(word, { field, strength: 'either', order, isFirst: at === 0 });
  for (const field of fieldsRead(leads)) {
    for (const [order, word] of (generic[field] ?? []).entries()) add(word, { field, strength: 'generic', order });
    const exact = new Set((exactWords[field] ?? []).map(fold));
    for (const [order, word] of synonymsOf(field).entries())
      lookup.set(fold(word), { claims: [{ field, strength: exact.has(fold(word)) ? 'exact' : 'specific', order }] });
    // `Name` and `Country` may be a person's or an address's, so they are only as clear as other usual headers.
    const strength = field === 'name' || field === 'country' ? 'specific' : 'exact';
    lookup.set(fold(field), { claims: [{ field, strength, order: -1 }] });
  }
  return lookup;
}

function* fromPipeline(
  extra: NonNullable<InputOptions['synonyms']>,
  fields: readonly InputField[],
): Generator<readonly [string, Claim]> {
  const given = new Map<string, InputField>();
  for (const field of fields) {
    for (const [order, word] of (extra[field] ?? []).entries()) {
      const other = given.get(fold(word));
      if (other !== undefined && other !== field) {
        throw new UsageError(
          'SYNONYM_REPEATED',
          `the header synonym "${word}" is given for both ${other} and ${field}`,
          'Keep one of them.',
        );
      }
      given.set(fold(word), field);
      yield [word, { field, strength: 'pipeline', order }];
    }
  }
}

/** Each header is asked for several times, for every file that has it. */
export function meaningOf(header: string, lookup: HeaderLookup): Meaning | undefined {
  if (header.length > LONGEST_LINE) return undefined;
  const known = meanings.get(lookup) ?? new Memo();
  meanings.set(lookup, known);
  return known.getOrCompute(header, () => findMeaning(header, lookup) ?? null) ?? undefined;
}

const meanings = new WeakMap<HeaderLookup, Memo<Meaning | null>>();

/**
 * An unknown header may be a known one with an extra word: `Entity country`, `Company name now`, `Former company name`.
 */
function findMeaning(header: string, lookup: HeaderLookup): Meaning | undefined {
  if (fold(header) === '') return undefined;
  // Xero marks required fields: its `*ContactName` is the company, but elsewhere a contact is a person.
  const isXero = header.trim() === '*ContactName' && lookup.get(fold(header))?.claims.length === 0;
  if (isXero) return lookup.get(fold('customer name'));
  const plain =
    wholeMeaning(header, lookup) ??
    wholeMeaning(header.replace(COUNTED, ''), lookup) ??
    numberedMeaning(header, lookup) ??
    eitherWay(header, lookup) ??
    (headerWords().own_numbers.test(fold(header.replaceAll('#', 'no'))) ? OWN_NUMBER : undefined);
  const qualified = qualifiedHeader(header, (rest) => lookup.has(rest));
  if (qualified === undefined || plain?.claims.length === 0 || header.trim() === COMPANIES_HOUSE) return plain;
  const { whose, rest } = qualified;
  if (plain !== undefined) return whose === 'its own' ? plain : { ...plain, claims: doubtful(plain.claims, whose) };
  const found = rest.map((word) => lookup.get(word)).find((meaning) => meaning !== undefined);
  if (found === undefined) return undefined;
  const claims = found.claims.filter(({ field, strength }) => SEARCH_FIELDS.has(field) && strength !== 'pipeline');
  if (whose !== 'its own') return claims.length === 0 ? undefined : { claims: doubtful(claims, whose) };
  const sure = claims.filter(({ strength }) => strength === 'exact' || strength === 'specific');
  return sure.length === 0 ? undefined : { claims: sure.map((claim) => ({ ...claim, strength: 'specific' })) };
}

/** Companies House spells it so for the company's country. Elsewhere it is the country of goods. */
const COMPANIES_HOUSE = 'CountryOfOrigin';

/** The claims of a header about another company. Such a column is used only if the user says so. */
const doubtful = (claims: readonly Claim[], whose: QualifiedHeader['whose']): readonly Claim[] =>
  claims.flatMap((claim) => {
    if (!WHOSE_MATTERS.has(claim.field) || claim.strength === 'pipeline') return [claim];
    return whose === 'a person' && claim.field === 'name' ? [] : [{ ...claim, strength: 'doubtful' }];
  });

/** Leads and keys are used even if they are about another company. */
const WHOSE_MATTERS: ReadonlySet<InputField> = new Set([
  'name',
  'country',
  'registration_number',
  'vat_number',
  'city',
  'state',
]);

export const SEARCH_FIELDS: ReadonlySet<InputField> = new Set(['name', 'country', 'registration_number', 'vat_number']);

/** A year, or the first of several: `Lieferant 2026`, `Customer 1`. A second one is another column. */
const COUNTED = /(?:[\s_./-]*(?:19|20)\d\d|[\s_./-]+0?1)\s*$/;

function wholeMeaning(header: string, lookup: HeaderLookup): Meaning | undefined {
  const whole = fold(header);
  // Salesforce ends the names of custom fields with `__c`.
  const plain = /__c$/i.test(header.trim()) ? lookup.get(whole.slice(0, -1)) : undefined;
  return lookup.get(whole) ?? plain ?? lookup.get(fold(header.replace(/\([^)]*\)|\[[^\]]*\]/g, '')));
}

/** `N° d'immatriculation`, `Nº de registro`, `Nr. Firmenbuch`: the sign stands for the word. */
function numberedMeaning(header: string, lookup: HeaderLookup): Meaning | undefined {
  const [sign] = NUMBER_SIGN.exec(header) ?? [];
  if (sign === undefined) return undefined;
  const rest = header.slice(sign.length);
  const spelled = ['numero', 'nummer', 'number', 'numer'].flatMap((word) => [`${word} ${rest}`, `${rest} ${word}`]);
  return spelled.map((words) => wholeMeaning(words, lookup)).find((meaning) => meaning !== undefined);
}

const NUMBER_SIGN = /^\s*(?:n[°º]\.?|(?:n|no|nr|num)[.:]|(?:no|nr|num)(?=\s))\s*/i;

/** `Lieferant / Dienstleister`: both mean the same field, and the vaguer one decides how clear the header is. */
function eitherWay(header: string, lookup: HeaderLookup): Meaning | undefined {
  const [first, ...others] = header.split(/\s*[/|]\s*|\s+(?:or|oder|ou)\s+/i).map((word) => wholeMeaning(word, lookup));
  if (first === undefined || others.length === 0) return undefined;
  const claims = others.reduce<readonly Claim[]>(
    (left, other) =>
      left.flatMap((claim) => {
        const same = other?.claims.find(({ field }) => field === claim.field);
        if (same === undefined) return [];
        return [STRENGTHS.indexOf(same.strength) > STRENGTHS.indexOf(claim.strength) ? same : claim];
      }),
    first.claims,
  );
  if (claims.length > 0) return { claims };
  // `Reg no / VAT`: a row has one of the two. A VAT number among registration numbers is recognised by its form.
  const areNumbers = [first, ...others].every((one) => one?.claims.some(({ field }) => NUMBERS.includes(field)));
  if (!areNumbers) return undefined;
  return { claims: NUMBERS.map((field) => ({ field, strength: 'generic', order: NUMBERS.length })) };
}

const NUMBERS: readonly InputField[] = ['registration_number', 'vat_number'];

/** One word for the meaning of a header in any spelling. Undefined for an unknown header. */
export function recogniser(lookup: HeaderLookup): (header: string) => string | undefined {
  return (header) => {
    const meaning = meaningOf(header, lookup);
    return meaning && (meaning.claims[0]?.field ?? meaning.part ?? fold(header));
  };
}

/** Columns of leads that are not followed. A row with nothing else is told which setting would follow them. */
export function unreadLeads(
  headers: readonly string[],
  taken: ReadonlySet<number>,
  { synonyms, leads = [] }: Pick<InputOptions, 'synonyms' | 'leads'>,
): UnreadLeads {
  const lookup = headerLookup(synonyms, LEADS);
  const means = (header: string, lead: Lead) =>
    meaningOf(header, lookup)?.claims.some(({ field }) => field === lead) === true;
  const unread = LEADS.filter((lead) => !leads.includes(lead)).flatMap((lead) => {
    const index = headers.findIndex((header, at) => !taken.has(at) && means(header, lead));
    return index === -1 ? [] : [[lead, index] as const];
  });
  return Object.fromEntries(unread);
}

export type UnreadLeads = Readonly<Partial<Record<Lead, number>>>;

/**
 * Removes case, accents, width, spaces and punctuation: `Reg. No.` and `reg_no` are the same, and so are `Ünvan` and
 * `UNVAN`.
 */
export function fold(header: string): string {
  return normalizeText(header, 'NFKD')
    .toLowerCase()
    .replace(/[łøßæœđðþıς]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, '');
}

const PLAIN_LETTERS: Readonly<Record<string, string>> = { ...SPECIAL_LETTERS, ς: 'σ' };

interface QualifiedHeader {
  readonly whose: 'another company' | 'a person' | 'its own';
  /** Folded, without the words that say so, shortest first. */
  readonly rest: readonly string[];
}

/** Undefined: the header does not say which company it is about. */
function qualifiedHeader(header: string, isKnown: (rest: string) => boolean): QualifiedHeader | undefined {
  const { somebody_else: others, people, itself, links } = headerWords();
  const all = wordsIn(header).flatMap((word) => split(word, isKnown));
  const of = (set: ReadonlySet<string>) => all.some((word) => set.has(word));
  const whose = of(people) ? 'a person' : of(others) ? 'another company' : of(itself) ? 'its own' : undefined;
  if (whose === undefined) return undefined;
  const without = all.filter((word) => !isElse(word));
  const plain = without.filter((word) => !links.has(word));
  const own = plain.filter((word) => !itself.has(word));
  return { whose, rest: [without, plain, own].map((some) => some.join('')).filter((rest) => rest !== '') };
}

/**
 * The headers with their group: a header below a group about another company includes it (`Parent: Reg no`). Every word
 * of the group must be known, because a title such as the user's own bank or holding may be above any list. A header
 * that is known only with its group includes it, too (`Registration` above `Number`).
 */
export function withGroups(
  headers: readonly string[],
  groups: readonly string[],
  lookup: HeaderLookup,
): readonly string[] {
  const isClear = (header: string) =>
    (lookup.get(fold(header))?.claims ?? []).some(({ strength }) => strength === 'exact' || strength === 'specific');
  return headers.map((header, index) => {
    const group = groups[index] ?? '';
    if (header.trim() === '' || group.trim() === '') return header;
    const whose = somebodyElseIn(group);
    const whole = `${group.trim()} ${header.trim()}`;
    if (whose === '') return isClear(whole) && !isClear(header) ? whole : header;
    return `${whose}: ${header.trim()}`;
  });
}

/** The words of a group that name another company's role, if any. */
function somebodyElseIn(group: string): string {
  const { itself, links, group_words: plain } = headerWords();
  const isPlain = (word: string) => [itself, links, plain].some((set) => set.has(word)) || /^\d+$/.test(word);
  const all = wordsOfHeader(group)
    .filter((word) => word !== '')
    .flatMap((word) => (isElse(fold(word)) ? [word] : split(fold(word), isPlain)));
  const found = all.filter((word) => isElse(fold(word)));
  const isGroup = all.every((word) => isElse(fold(word)) || isPlain(word)) && !group.trim().endsWith(':');
  return isGroup ? found.join(' ') : '';
}

/** `ShippingCountry` is two words, `Parent's country` three. */
const wordsOfHeader = (header: string): readonly string[] =>
  header.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').split(/[^\p{L}\p{M}\p{N}]+/u);

/** `Vendor ID` names `id`, and `Provider` does not. */
export const isNamedIn = (header: string, field: InputField): boolean =>
  ` ${wordsIn(header).join(' ')} `.includes(` ${field.replaceAll('_', ' ')} `);

const wordsIn = (header: string): readonly string[] =>
  wordsOfHeader(header)
    .map(fold)
    .filter((word) => word !== '');

const isElse = (word: string): boolean => headerWords().somebody_else.has(word) || headerWords().people.has(word);

function split(word: string, isKnown: (rest: string) => boolean): readonly string[] {
  if (isElse(word)) return [word];
  const prefix = headerWords().prefixes.find((one) => word.startsWith(one) && isKnown(word.slice(one.length)));
  return prefix === undefined ? [word] : [prefix, word.slice(prefix.length)];
}
