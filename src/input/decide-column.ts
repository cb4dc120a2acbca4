import { subdivisionCode } from '../domain/subdivisions.js';
import {
  COMPARED,
  type ColumnContent,
  countriesIn,
  isFilled,
  legalForms,
  registerFit,
  vatFit,
} from './column-content.js';
import { areDays } from './date-cells.js';
import { type Claim, STRENGTHS } from './header-claims.js';
import type { InputField } from './types.js';

/** A column that claims a field. */
export interface Claimant {
  readonly index: number;
  readonly claim: Claim;
  readonly cells: readonly string[];
  readonly content: ColumnContent;
}

export interface ColumnVerdict {
  /** None: nothing that claims the field can be it. */
  readonly chosen?: Claimant;
  /** What the columns hold had a word in it. */
  readonly byContent: boolean;
  /** Others that could be meant as well: somebody has to say which. */
  readonly rivals: readonly Claimant[];
  /** What is called so and holds something else. */
  readonly contradicting: readonly Claimant[];
}

/**
 * Gives a field its column. A column that cannot be what it is called is out; among the others the header that says most
 * wins, unless another one's content is far better. Where two say as much, content decides, or nobody can.
 */
export function decideColumn(
  field: InputField,
  claimants: readonly Claimant[],
  countries: readonly (string | null)[],
): ColumnVerdict {
  const judged = claimants.map((claimant) => ({ claimant, fits: canBe(field, claimant, countries) }));
  const fitting = judged.filter(({ fits }) => fits).map(({ claimant }) => claimant);
  const out = judged.filter(({ fits }) => !fits).map(({ claimant }) => claimant);
  // Only of names can it be told for certain; a number or a place that is odd is a matter of its row.
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

/** Behind these, content has to agree. */
const SAYS_ENOUGH = STRENGTHS.indexOf('specific');

const isPlain = (claimant: Claimant): boolean => rank(claimant) <= SAYS_ENOUGH;

/** A difference of so much of the rows tells. */
const CLEARLY = 0.3;
const MOST = 0.8;
const NEARLY_ALL = 0.9;

/** So few rows say nothing about a column. */
const FEW = 3;

type ComparedField = keyof typeof COMPARED;
const isCompared = (field: InputField): field is ComparedField => Object.hasOwn(COMPARED, field);

/** Whether what a column holds can be what it is called. */
function canBe(field: InputField, claimant: Claimant, countries: readonly (string | null)[]): boolean {
  const { claim, content, cells } = claimant;
  if (content.filled === 0 || claim.strength === 'pipeline') return true;
  const saysLittle = rank(claimant) > SAYS_ENOUGH;
  const isMany = content.filled >= FEW;
  switch (field) {
    case 'name':
      return !isMany || content.numbers + content.codes < (saysLittle ? 0.5 : MOST);
    case 'id':
      if (saysLittle && (content.isCount || content.distinct < content.filled * 0.9)) return false;
      return saysLittle ? content.codes + content.numbers >= MOST : !isMany || content.spaced < MOST;
    case 'country':
      if (!saysLittle || qualityOf('country', claimant, countries) >= 0.5) return true;
      return claim.strength === 'either' && isCountryWithGaps(cells);
    case 'state':
    case 'city':
      return !isMany || content.numbers < MOST;
    case 'registration_number':
    case 'vat_number': {
      if (isMany && !cells.some((cell) => /\d/.test(cell))) return false;
      if (!saysLittle) return true;
      if (areDays(cells)) return false;
      const { fit, nearly, judged } = field === 'vat_number' ? vatFit(cells, countries) : registerFit(cells, countries);
      if (claim.strength !== 'either') return judged < FEW || (fit + nearly) / judged >= 0.2;
      return judged === 0 ? claim.isFirst === true : fit / judged >= 0.5;
    }
    default:
      return true;
  }
}

/** Some cells are countries, and what the others are nobody knows: `Stát` with `CZ` and a word. States are known. */
function isCountryWithGaps(cells: readonly string[]): boolean {
  const filled = cells.filter(isFilled);
  const isState = (cell: string) => FEDERATIONS.some((country) => subdivisionCode(country, cell) !== undefined);
  const named = countriesIn(filled);
  return named.some((country) => country !== null) && !filled.some((cell, at) => named[at] === null && isState(cell));
}

const FEDERATIONS = ['US', 'CA', 'CN'];

/** The same of a column that is not empty. */
export const holds = (field: InputField, claimant: Claimant, countries: readonly (string | null)[]): boolean =>
  claimant.content.filled > 0 && canBe(field, claimant, countries);

/** Whether a column without a header holds other register numbers than the one that is called so: nobody can tell whose. */
export function isUnnamedRival(named: Claimant, unnamed: Claimant, countries: readonly (string | null)[]): boolean {
  const { fit, nearly, judged } = registerFit(unnamed.cells, countries);
  return (
    judged >= FEW &&
    fit + nearly >= judged * NEARLY_ALL &&
    !unnamed.content.isCount &&
    !areDays(unnamed.cells) &&
    differ('registration_number', named, unnamed, countries)
  );
}

/** How well a column's content fits: the share of rows that speak for it. */
function qualityOf(field: ComparedField, claimant: Claimant, countries: readonly (string | null)[]): number {
  const { cells, content } = claimant;
  if (content.filled === 0) return 0;
  switch (field) {
    case 'name': {
      // Our own company, in every row, is nobody's list.
      const isOneForAll = content.filled >= 10 && content.distinct < content.filled / 10;
      return isOneForAll ? -1 : legalForms(cells);
    }
    case 'country':
      return countriesIn(cells, isPlain(claimant)).filter((country) => country !== null).length / content.filled;
    case 'registration_number':
    case 'vat_number': {
      const { fit, judged } = field === 'vat_number' ? vatFit(cells, countries) : registerFit(cells, countries);
      return judged === 0 ? 0.5 : fit / judged;
    }
  }
}

/** Whether two columns say different things in the rows in which both say something. */
function differ(field: ComparedField, a: Claimant, b: Claimant, countries: readonly (string | null)[]): boolean {
  let both = 0;
  let same = 0;
  for (const [index, cell] of a.cells.entries()) {
    const other = b.cells[index] ?? '';
    if (!isFilled(cell) || !isFilled(other)) continue;
    both += 1;
    const country = countries[index] ?? null;
    if (COMPARED[field](cell, country) === COMPARED[field](other, country)) same += 1;
  }
  return both > 0 && same < both * 0.9;
}
