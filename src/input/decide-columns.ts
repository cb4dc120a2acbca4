// Decides by header and content which column is which field.

import { ExitCode, KybatchError } from '../domain/errors.js';
import { isGermanSection, readGermanEntry } from '../domain/numbers/german.js';
import { sanitizeText } from '../util/sanitize-text.js';
import {
  A_FIFTH,
  areDays,
  areTowns,
  COMPARED,
  type ColumnContent,
  type Countries,
  contentOf,
  countriesIn,
  FEW,
  isCountryWithGaps,
  isFilled,
  legalForms,
  MOST,
  NEARLY_ALL,
  type NumberField,
  numberFit,
} from './column-content.js';
import { type Claim, type HeaderLookup, isNamedIn, meaningOf, SEARCH_FIELDS, STRENGTHS } from './header-meaning.js';
import { type ColumnChoice, type ColumnDoubt, INPUT_FIELDS, type InputField } from './types.js';

/** The first rows of a file: one list of trimmed cells for each column. */
export type SampledColumns = readonly (readonly string[])[];

export interface Columns {
  readonly headers: readonly string[];
  readonly lookup: HeaderLookup;
  readonly sample: SampledColumns;
  readonly country: string | null;
}

/** Fields settled before headers are read, with their columns. No columns: the field is not read. */
export type SettledFields = ReadonlyMap<InputField, readonly number[]>;

export interface ColumnDecision {
  readonly chosen: ReadonlyMap<InputField, Chosen>;
  readonly unclear: readonly Unclear[];
  readonly contents: readonly ColumnContent[];
  readonly countries: Countries;
  readonly passedOver: readonly { readonly index: number; readonly field: InputField }[];
  /** Columns whose header may mean a missing number, but whose content fits no country of the rows. */
  readonly refused: readonly { readonly index: number; readonly field: InputField }[];
}

interface Chosen {
  readonly index: number;
  readonly decidedBy: 'header' | 'content' | 'pipeline';
  /** The header is vague, so it may be another missing field. */
  readonly isWeak: boolean;
}

/** A field with several possible columns, or whose column has other content or is about another company. */
export interface Unclear {
  readonly field: InputField;
  readonly kind: 'several' | 'contradiction' | 'swapped' | 'somebody else';
  readonly columns: readonly number[];
  readonly isSure?: true;
}

/**
 * Countries first, because numbers depend on them. Names before keys: a column of codes is not a name, but may be a
 * key.
 */
const ORDER: readonly InputField[] = [
  'country',
  'registration_number',
  'vat_number',
  'name',
  ...INPUT_FIELDS.filter((field) => !['country', 'registration_number', 'vat_number', 'name'].includes(field)),
];

/** Decides by header and content. The order of columns matters only if two have the same header. */
export function decideColumns({ headers, lookup, sample, country }: Columns, settled: SettledFields): ColumnDecision {
  const contents = sample.map(contentOf);
  const taken = new Set([...settled.values()].flat());
  const chosen = new Map<InputField, Chosen>();
  const unclear: Unclear[] = [];
  const passedOver: { index: number; field: InputField }[] = [];
  const refused: { index: number; field: InputField }[] = [];
  const countriesAt = (index: number | undefined) =>
    (index === undefined ? (sample[0] ?? []).map(() => null) : countriesIn(sample[index] ?? [], true)).map(
      (own) => own ?? country,
    );
  let countries = countriesAt(settled.get('country')?.[0]);
  // A header above two columns leaves the second blank: `Reg no`, for the parent's and the company's own.
  const unnamedRivals = (best: Claimant) =>
    headers.flatMap((header, index) => {
      const content = contents[index];
      if (header.trim() !== '' || taken.has(index) || content === undefined) return [];
      const other: Claimant = { index, claim: best.claim, cells: sample[index] ?? [], content };
      return isUnnamedRival(best, other, countries) ? [other] : [];
    });
  for (const field of ORDER) {
    if (settled.has(field)) continue;
    const all = claimantsOf(field, { headers, lookup, sample, country }, contents).filter(
      ({ index }) => !taken.has(index),
    );
    const claimants = all.filter(({ claim }) => claim.strength !== 'doubtful');
    const verdict = decideColumn(field, claimants, countries);
    const { chosen: best, rivals, contradicting, byContent } = verdict;
    if (best === undefined) {
      if (field === 'registration_number' || field === 'vat_number')
        refused.push(...claimants.map(({ index }) => ({ index, field })));
      if (field === 'name' && contradicting.length > 0)
        unclear.push({ field, kind: 'contradiction', columns: contradicting.map(({ index }) => index) });
      else if (isMissed(field, chosen, settled, country)) {
        const others = all.filter((one) => one.claim.strength === 'doubtful' && holds(field, one, countries));
        if (others.length > 0)
          unclear.push({ field, kind: 'somebody else', columns: others.map(({ index }) => index) });
      }
      continue;
    }
    const twins = claimants.filter((other) => other !== best && isTwin(headers, best, other));
    const unnamed = field === 'registration_number' ? unnamedRivals(best) : [];
    const others = [...new Set([...rivals, ...twins, ...unnamed])];
    if (others.length > 0)
      unclear.push({ field, kind: 'several', columns: [best, ...others].map(({ index }) => index) });
    taken.add(best.index);
    const { strength } = best.claim;
    const isVague = strength === 'either' || strength === 'generic';
    const namesIt = !isVague || isNamedIn(headers[best.index] ?? '', field);
    const decidedBy = strength === 'pipeline' ? 'pipeline' : byContent && !namesIt ? 'content' : 'header';
    chosen.set(field, { index: best.index, decidedBy, isWeak: strength === 'generic' });
    for (const { index } of claimants) if (index !== best.index) passedOver.push({ index, field });
    if (field === 'country') countries = countriesAt(best.index);
  }
  const exchanged = namesAmongNumbers(chosen, unclear, sample, countries);
  if (exchanged.length > 0) unclear.splice(0, unclear.length, ...unclear.filter(({ field }) => field !== 'name'));
  unclear.push(...exchanged, ...swappedNumbers(chosen, sample, countries), ...swappedNames(chosen, sample));
  const isLeft = ({ index }: { readonly index: number }) => !taken.has(index);
  return {
    chosen,
    unclear,
    contents,
    countries,
    passedOver: passedOver.filter(isLeft),
    refused: refused.filter(isLeft),
  };
}

/** Whether to ask about a field whose only column is about another company. */
function isMissed(
  field: InputField,
  chosen: ReadonlyMap<InputField, Chosen>,
  settled: SettledFields,
  country: string | null,
): boolean {
  if (field === 'country') return country === null;
  // A row with one number needs no other.
  const other = field === 'vat_number' ? 'registration_number' : 'vat_number';
  return SEARCH_FIELDS.has(field) && (field === 'name' || !(chosen.has(other) || settled.has(other)));
}

function swappedNumbers(
  chosen: ReadonlyMap<InputField, Chosen>,
  sample: SampledColumns,
  countries: Countries,
): readonly Unclear[] {
  const [number, vat] = [chosen.get('registration_number')?.index, chosen.get('vat_number')?.index];
  if (number === undefined || vat === undefined) return [];
  const isOther = (index: number, own: NumberField, other: NumberField) => {
    const cells = sample[index] ?? [];
    const [mine, theirs] = [numberFit(own, cells, countries), numberFit(other, cells, countries)];
    return theirs.judged >= FEW && theirs.fit >= theirs.judged * MOST && mine.fit <= mine.judged * A_FIFTH;
  };
  if (!isOther(number, 'registration_number', 'vat_number')) return [];
  if (!isOther(vat, 'vat_number', 'registration_number')) return [];
  return swapped(['registration_number', number], ['vat_number', vat]);
}

const swapped = (...[[first, a], [second, b]]: readonly [InField, InField]): readonly Unclear[] => [
  { field: first, kind: 'swapped', columns: [b, a] },
  { field: second, kind: 'swapped', columns: [a, b] },
];

type InField = readonly [field: InputField, column: number];

/** The number column has names with legal forms, and the name column has registration numbers. */
function namesAmongNumbers(
  chosen: ReadonlyMap<InputField, Chosen>,
  unclear: readonly Unclear[],
  sample: SampledColumns,
  countries: Countries,
): readonly Unclear[] {
  const contradicting = unclear.find(({ field, kind }) => field === 'name' && kind === 'contradiction')?.columns[0];
  const [name, number] = [chosen.get('name')?.index ?? contradicting, chosen.get('registration_number')?.index];
  if (name === undefined || number === undefined) return [];
  const { fit, nearly, judged } = numberFit('registration_number', sample[name] ?? [], countries);
  if (judged === 0 || fit + nearly < judged * MOST || legalForms(sample[number] ?? []) < 0.5) return [];
  return swapped(['name', name], ['registration_number', number]).map((one) => ({ ...one, isSure: true }));
}

/** The city column has names with legal forms, and the name column has none. */
function swappedNames(chosen: ReadonlyMap<InputField, Chosen>, sample: SampledColumns): readonly Unclear[] {
  const [name, city] = [chosen.get('name')?.index, chosen.get('city')?.index];
  if (name === undefined || city === undefined) return [];
  const [names = [], cities = []] = [sample[name], sample[city]];
  if (legalForms(names) > 0.05 || legalForms(cities) < 0.5 || contentOf(cities).filled < 2) return [];
  return swapped(['name', name], ['city', city]);
}

function claimantsOf(
  field: InputField,
  { headers, lookup, sample }: Columns,
  contents: readonly ColumnContent[],
): readonly Claimant[] {
  const parts = headers.map((_, index) => registerPart({ headers, lookup, sample }, index));
  return headers.flatMap((header, index) => {
    const claims = meaningOf(header, lookup)?.claims ?? [];
    const isVague = claims.some((one) => one.field === 'id' && one.strength === 'generic');
    const isBeside = isVague && (parts[index - 1] ?? parts[index + 1]) !== undefined;
    const claim = isBeside
      ? besideRegister(field, claims, sample[index] ?? [], parts.includes('section'))
      : claims.find((one) => one.field === field);
    const content = contents[index];
    return claim === undefined || content === undefined ? [] : [{ index, claim, cells: sample[index] ?? [], content }];
  });
}

/** `Gericht | Art | Nummer`: a vague number beside a court or a section is the register's, and never a key. */
function besideRegister(
  field: InputField,
  claims: readonly Claim[],
  cells: readonly string[],
  hasSection: boolean,
): Claim | undefined {
  const isNumber = hasSection || cells.some((cell) => readGermanEntry(cell) !== undefined);
  if (field === 'registration_number' && isNumber) return { field, strength: 'generic', order: claims.length };
  return claims.find((one) => one.field === field && field !== 'id');
}

/** Whether a column is a part of a German number: by its header, or because all its cells are sections. */
export function registerPart(
  { headers, lookup, sample }: Pick<Columns, 'headers' | 'lookup' | 'sample'>,
  index: number,
): 'court' | 'section' | undefined {
  const cells = (sample[index] ?? []).filter(isFilled);
  const areSections = cells.some((cell) => /^HR/i.test(cell)) && cells.every(isGermanSection);
  return meaningOf(headers[index] ?? '', lookup)?.part ?? (areSections ? 'section' : undefined);
}

/** The same header twice: neither is right, unless one column is empty or both are equal. */
function isTwin(headers: readonly string[], a: Claimant, b: Claimant): boolean {
  if (headers[a.index]?.trim().toLowerCase() !== headers[b.index]?.trim().toLowerCase()) return false;
  if (a.content.filled === 0 && b.content.filled === 0) return true;
  return b.content.filled > 0 && a.cells.some((cell, row) => cell !== b.cells[row]);
}

interface Claimant {
  readonly index: number;
  readonly claim: Claim;
  readonly cells: readonly string[];
  readonly content: ColumnContent;
}

interface ColumnVerdict {
  /** Undefined: no claiming column can be the field. */
  readonly chosen?: Claimant;
  readonly byContent: boolean;
  readonly rivals: readonly Claimant[];
  readonly contradicting: readonly Claimant[];
}

/**
 * Chooses the column of a field. A column with contradicting content is out. Among the others the clearest header wins,
 * unless another column's content is far better. If two are equal, content decides, or else the user.
 */
function decideColumn(field: InputField, claimants: readonly Claimant[], countries: Countries): ColumnVerdict {
  const judged = claimants.map((claimant) => ({ claimant, fits: canBe(field, claimant, countries) }));
  const fitting = judged.filter(({ fits }) => fits).map(({ claimant }) => claimant);
  const out = judged.filter(({ fits }) => !fits).map(({ claimant }) => claimant);
  // Only names are certain. An odd number or place is a problem of its row.
  const usable = fitting.length === 0 && field !== 'name' && field !== 'id' ? out.filter(isPlain) : fitting;
  const ranked = usable.sort(
    (a, b) =>
      Number(a.content.filled === 0) - Number(b.content.filled === 0) ||
      rank(a) - rank(b) ||
      a.claim.order - b.claim.order ||
      a.index - b.index,
  );
  const [first, ...others] = ranked;
  if (first === undefined) return { byContent: false, rivals: [], contradicting: out.filter(isPlain) };
  const byContent = out.length > 0 || rank(first) > SAYS_ENOUGH;
  if (!isCompared(field) || first.claim.strength === 'pipeline')
    return { chosen: first, byContent, rivals: [], contradicting: [] };
  const differing = others.filter((other) => differ(field, first, other, countries));
  const quality = new Map(
    [first, ...differing].map((claimant) => [claimant, qualityOf(field, claimant, countries)] as const),
  );
  const lead = (a: Claimant, b: Claimant) => (quality.get(a) ?? 0) - (quality.get(b) ?? 0);
  const equals = differing.filter((other) => rank(other) === rank(first));
  const foremost = equals.reduce((top, other) => (lead(other, top) > 0 ? other : top), first);
  const best = lead(foremost, first) >= CLEARLY ? foremost : first;
  const rivals = [first, ...differing].filter((other) => {
    if (other === best) return false;
    return rank(other) === rank(best) ? lead(best, other) < CLEARLY : lead(other, best) >= CLEARLY;
  });
  return { chosen: best, byContent: byContent || equals.length > 0, rivals, contradicting: [] };
}

const rank = ({ claim }: Claimant): number => STRENGTHS.indexOf(claim.strength);

/** For vaguer headers, the content has to agree. */
const SAYS_ENOUGH = STRENGTHS.indexOf('specific');

const isPlain = (claimant: Claimant): boolean => rank(claimant) <= SAYS_ENOUGH;

const CLEARLY = 0.3;

type ComparedField = keyof typeof COMPARED;
const isCompared = (field: InputField): field is ComparedField => Object.hasOwn(COMPARED, field);

/** Whether the content of a column can be what its header means. */
function canBe(field: InputField, claimant: Claimant, countries: Countries): boolean {
  const { claim, content, cells } = claimant;
  if (content.filled === 0 || claim.strength === 'pipeline') return true;
  const saysLittle = rank(claimant) > SAYS_ENOUGH;
  const isMany = content.filled >= FEW;
  switch (field) {
    case 'name':
      return !isMany || content.numbers + content.codes < (saysLittle ? 0.5 : MOST);
    case 'id':
      // A key below a vague header is in most rows.
      if (saysLittle && content.filled < cells.length * 0.5) return false;
      if (saysLittle && ((content.isCount && !cells.some(isPadded)) || content.distinct < content.filled * NEARLY_ALL))
        return false;
      return saysLittle ? content.codes + content.numbers >= MOST : !isMany || content.spaced < MOST;
    case 'country':
      if (!saysLittle || qualityOf('country', claimant, countries) >= 0.5) return true;
      return claim.strength === 'either' && isCountryWithGaps(cells);
    case 'city':
      return saysLittle ? areTowns(cells) : !isMany || content.numbers < MOST;
    case 'state':
      return !isMany || content.numbers < MOST;
    case 'registration_number':
    case 'vat_number': {
      if (isMany && !cells.some((cell) => /\d/.test(cell))) return false;
      if (!saysLittle) return true;
      if (areDays(cells)) return false;
      const { fit, nearly, judged } = numberFit(field, cells, countries);
      if (claim.strength !== 'either') return judged < FEW || (fit + nearly) / judged >= A_FIFTH;
      return judged === 0 ? claim.isFirst === true : fit / judged >= 0.5;
    }
    default:
      return true;
  }
}

/** Rows are numbered 1, 2, 3. `00001` is a code, even if no code is missing yet. */
const isPadded = (cell: string): boolean => /^0\d/.test(cell);

const holds = (field: InputField, claimant: Claimant, countries: Countries): boolean =>
  claimant.content.filled > 0 && canBe(field, claimant, countries);

/** Whether a column without a header has other register numbers than the named one. Then their owner is unclear. */
function isUnnamedRival(named: Claimant, unnamed: Claimant, countries: Countries): boolean {
  const { fit, nearly, judged } = numberFit('registration_number', unnamed.cells, countries);
  return (
    judged >= FEW &&
    fit + nearly >= judged * NEARLY_ALL &&
    !unnamed.content.isCount &&
    !areDays(unnamed.cells) &&
    differ('registration_number', named, unnamed, countries)
  );
}

function qualityOf(field: ComparedField, claimant: Claimant, countries: Countries): number {
  const { cells, content } = claimant;
  if (content.filled === 0) return 0;
  switch (field) {
    case 'name': {
      // The user's own company in every row is not a list of companies.
      const isOneForAll = content.filled >= 10 && content.distinct < content.filled / 10;
      return isOneForAll ? -1 : legalForms(cells);
    }
    case 'country':
      return countriesIn(cells, isPlain(claimant)).filter((country) => country !== null).length / content.filled;
    case 'registration_number':
    case 'vat_number': {
      const { fit, judged } = numberFit(field, cells, countries);
      return judged === 0 ? 0.5 : fit / judged;
    }
  }
}

/** Whether two columns differ in rows that fill both. Without its country, a number is only compared as text. */
function differ(field: ComparedField, a: Claimant, b: Claimant, countries: Countries): boolean {
  const pairs = a.cells.flatMap((cell, row) => {
    const other = b.cells[row] ?? '';
    return isFilled(cell) && isFilled(other) ? [{ cell, other, country: countries[row] ?? null }] : [];
  });
  const located = field === 'name' ? [] : pairs.filter(({ country }) => country !== null);
  const compared = located.length > 0 ? located : pairs;
  const same = compared.filter(
    ({ cell, other, country }) => COMPARED[field](cell, country) === COMPARED[field](other, country),
  );
  return same.length < compared.length * NEARLY_ALL;
}

export class ColumnsUnclearError extends KybatchError {
  override readonly name = 'ColumnsUnclearError';

  constructor(
    path: string,
    readonly doubts: readonly ColumnDoubt[],
    /** The first line, which is a company instead of a header. The columns are then named by their places. */
    readonly noHeader?: { readonly line: number; readonly text: string },
  ) {
    const said = doubts.map(inWords);
    const which = doubts.length === 0 ? '' : ` Choose one: ${doubts.map(waysOut).join('; ')}.`;
    super(`${path}${noHeader === undefined ? ': ' : aCompany(noHeader)}${said.join('\n')}`, {
      code: 'COLUMNS_UNCLEAR',
      hint: `Nothing was spent.${noHeader === undefined ? '' : withoutHeader(noHeader)}${which}`,
      exit: ExitCode.usage,
    });
  }

  /**
   * The `--map` flags that would settle it: one list for each choice, because none is likelier. If all combinations
   * would be more than four lists, a further doubt takes the choice in the same place, which is the same company's.
   */
  get ways(): readonly [readonly string[], ...(readonly string[])[]] {
    let ways: string[][] = [[]];
    const settled: ColumnDoubt[] = [];
    for (const doubt of this.doubts) {
      const flags = flagsOf(doubt);
      const partner = settled.find((other) => areSwapped(doubt, other));
      if (partner !== undefined) {
        // The second of two swapped columns follows the choice of the first.
        const chosen = flagsOf(partner);
        ways = ways.map((way) => [...way, flags[chosen.findIndex((flag) => way.includes(flag))] ?? `${doubt.field}=`]);
      } else if (flags.length === 0) ways = ways.map((way) => [...way, `${doubt.field}=`]);
      else if (settled.length === 0 || ways.length * flags.length <= WAYS_AT_MOST)
        ways = ways.flatMap((way) => flags.map((flag) => [...way, flag]));
      else ways = ways.map((way, at) => [...way, flags[at % flags.length] ?? `${doubt.field}=`]);
      settled.push(doubt);
    }
    const [first = [], ...others] = ways;
    return [first, ...others];
  }
}

const WAYS_AT_MOST = 4;

/** If the columns are unlikely, having no column is as good. */
const flagsOf = ({ field, choices, isUnlikely = false }: ColumnDoubt): readonly string[] => [
  ...choices.map(({ flag }) => flag),
  ...(isUnlikely ? [`${field}=`] : []),
];

/** Each doubt is about the columns of the other: their contents are swapped. */
const areSwapped = (a: ColumnDoubt, b: ColumnDoubt): boolean =>
  a.choices.length === 2 &&
  b.choices.length === 2 &&
  a.choices.every(({ header }, index) => header === b.choices[1 - index]?.header);

const aCompany = ({ line, text }: { readonly line: number; readonly text: string }): string =>
  `, line ${line}: ${JSON.stringify(sanitizeText(text, 80))} looks like a company, not a header\n`;

const withoutHeader = ({ line }: { readonly line: number }): string =>
  ` If the list has no header, add --header-line 0. Its columns are then called #1, #2. If line ${line} is the header, add --header-line ${line}.`;

const inWords = ({ reason, choices }: ColumnDoubt): string =>
  choices.length === 0 ? reason : `${reason}: ${choices.map(choiceInWords).join(', ')}`;

/** `"Company" (Acme GmbH, Beta AG)` */
const choiceInWords = ({ header, samples }: ColumnChoice): string => {
  const some = samples.map((sample) => sanitizeText(sample, 60)).join(', ');
  return `${JSON.stringify(sanitizeText(header, 40))}${some === '' ? '' : ` (${some})`}`;
};

const waysOut = ({ field, choices }: ColumnDoubt): string =>
  [
    ...(choices.length === 0 ? [`--map ${field}=HEADER`] : choices.map(({ flag }) => `--map ${quoted(flag)}`)),
    `--map ${field}= for none`,
  ].join(', or ');

const quoted = (flag: string): string => (/^[\w#.=-]+$/.test(flag) ? flag : flag.replace(/=(.*)$/, '="$1"'));
