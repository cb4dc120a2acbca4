import { type ColumnContent, contentOf, countriesIn, legalForms, registerFit, vatFit } from './column-content.js';
import { type Claimant, decideColumn, holds, isUnnamedRival } from './decide-column.js';
import { ASKED_BY, type HeaderLookup, meaningOf } from './header-claims.js';
import { INPUT_FIELDS, type InputField } from './types.js';

/** The first rows of a file: one list of trimmed cells for each column. */
export type SampledColumns = readonly (readonly string[])[];

export interface Columns {
  readonly headers: readonly string[];
  readonly lookup: HeaderLookup;
  readonly sample: SampledColumns;
  /** The country of rows that name none. */
  readonly country: string | null;
}

/** What is settled before anybody looks at headers: the column of each field; none: it is not to be read. */
export type SettledFields = ReadonlyMap<InputField, readonly number[]>;

export interface ColumnDecision {
  readonly chosen: ReadonlyMap<InputField, Chosen>;
  readonly unclear: readonly Unclear[];
  readonly contents: readonly ColumnContent[];
  /** The country of each row that was looked at. */
  readonly countries: readonly (string | null)[];
  /** Columns that nothing was made of, though their header claims a field: which, and what has it instead. */
  readonly passedOver: readonly { readonly index: number; readonly field: InputField; readonly by: number }[];
  /** Columns whose header may mean a number that the file lacks, and that hold none of the rows' countries. */
  readonly refused: readonly { readonly index: number; readonly field: InputField }[];
}

export interface Chosen {
  readonly index: number;
  readonly decidedBy: 'header' | 'content' | 'pipeline';
  /** Its header says little: it may be something else that the file lacks. */
  readonly isWeak: boolean;
}

/** A field that several columns could be, or whose column holds something else, or is about somebody else. */
export interface Unclear {
  readonly field: InputField;
  readonly kind: 'several' | 'contradiction' | 'swapped' | 'somebody else';
  /** The likeliest first. */
  readonly columns: readonly number[];
}

/** Countries first: what a number is depends on them. Names before keys: what holds codes is no name, and may be a key. */
const ORDER: readonly InputField[] = [
  'country',
  'registration_number',
  'vat_number',
  'name',
  ...INPUT_FIELDS.filter((field) => !['country', 'registration_number', 'vat_number', 'name'].includes(field)),
];

/** Decides by header and content which column is what. Where columns stand plays no part, unless two have the same header. */
export function decideColumns({ headers, lookup, sample, country }: Columns, settled: SettledFields): ColumnDecision {
  const contents = sample.map(contentOf);
  const taken = new Set([...settled.values()].flat());
  const chosen = new Map<InputField, Chosen>();
  const unclear: Unclear[] = [];
  const passedOver: { index: number; field: InputField; by: number }[] = [];
  const refused: { index: number; field: InputField }[] = [];
  const countriesAt = (index: number | undefined) =>
    (index === undefined ? (sample[0] ?? []).map(() => null) : countriesIn(sample[index] ?? [], true)).map(
      (own) => own ?? country,
    );
  let countries = countriesAt(settled.get('country')?.[0]);
  // A header that stands over two columns leaves the second one blank: `Reg no`, for the parent's and the company's own.
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
    const decidedBy = best.claim.strength === 'pipeline' ? 'pipeline' : byContent ? 'content' : 'header';
    chosen.set(field, { index: best.index, decidedBy, isWeak: best.claim.strength === 'generic' });
    for (const { index } of claimants) if (index !== best.index) passedOver.push({ index, field, by: best.index });
    if (field === 'country') countries = countriesAt(best.index);
  }
  unclear.push(...swappedNumbers(chosen, sample, countries), ...swappedNames(chosen, sample));
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

/** Whether it is worth a question that the only column for a field is about somebody else. */
function isMissed(
  field: InputField,
  chosen: ReadonlyMap<InputField, Chosen>,
  settled: SettledFields,
  country: string | null,
): boolean {
  if (field === 'country') return country === null;
  // A row that has one number needs no other.
  const other = field === 'vat_number' ? 'registration_number' : 'vat_number';
  return ASKED_BY.has(field) && (field === 'name' || !(chosen.has(other) || settled.has(other)));
}

/** Each of the two columns of numbers holds what the other is called. */
function swappedNumbers(
  chosen: ReadonlyMap<InputField, Chosen>,
  sample: SampledColumns,
  countries: readonly (string | null)[],
): readonly Unclear[] {
  const [number, vat] = [chosen.get('registration_number')?.index, chosen.get('vat_number')?.index];
  if (number === undefined || vat === undefined) return [];
  const isOther = (index: number, own: typeof vatFit, other: typeof vatFit) => {
    const cells = sample[index] ?? [];
    const [mine, theirs] = [own(cells, countries), other(cells, countries)];
    return theirs.judged >= 3 && theirs.fit >= theirs.judged * 0.8 && mine.fit <= mine.judged * 0.2;
  };
  if (!isOther(number, registerFit, vatFit) || !isOther(vat, vatFit, registerFit)) return [];
  return [
    { field: 'registration_number', kind: 'swapped', columns: [vat, number] },
    { field: 'vat_number', kind: 'swapped', columns: [number, vat] },
  ];
}

/** The column of cities holds names with legal forms, and the column of names holds none. */
function swappedNames(chosen: ReadonlyMap<InputField, Chosen>, sample: SampledColumns): readonly Unclear[] {
  const [name, city] = [chosen.get('name')?.index, chosen.get('city')?.index];
  if (name === undefined || city === undefined) return [];
  const [names = [], cities = []] = [sample[name], sample[city]];
  if (legalForms(names) > 0.05 || legalForms(cities) < 0.5 || contentOf(cities).filled < 2) return [];
  return [
    { field: 'name', kind: 'swapped', columns: [city, name] },
    { field: 'city', kind: 'swapped', columns: [name, city] },
  ];
}

function claimantsOf(
  field: InputField,
  { headers, lookup, sample }: Columns,
  contents: readonly ColumnContent[],
): readonly Claimant[] {
  return headers.flatMap((header, index) => {
    const claim = meaningOf(header, lookup)?.claims.find((one) => one.field === field);
    const content = contents[index];
    return claim === undefined || content === undefined ? [] : [{ index, claim, cells: sample[index] ?? [], content }];
  });
}

/** The very same header twice: no choice is right, unless one column is empty, or both hold the same. */
function isTwin(headers: readonly string[], a: Claimant, b: Claimant): boolean {
  if (headers[a.index]?.trim().toLowerCase() !== headers[b.index]?.trim().toLowerCase()) return false;
  if (a.content.filled === 0 && b.content.filled === 0) return true;
  return b.content.filled > 0 && a.cells.some((cell, row) => cell !== b.cells[row]);
}
