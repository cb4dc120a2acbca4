import { countries } from './countries/index.js';
import type { Country, Register } from './countries/types.js';
import type { VatRule } from './countries/vat.js';
import { at, hash, Permutation } from './random.js';

/** A register of this registry: where its companies sit among all indices, and the bijections of its numbers. */
export interface Shelf {
  readonly id: number;
  readonly country: Country;
  readonly register: Register;
  /** Position among the country's registers. */
  readonly position: number;
  readonly vat: VatRule;
  /** Companies it holds. */
  readonly count: number;
  /** From a company's rank to its position in the number space, which has gaps. */
  readonly numbers: Permutation;
  readonly vats: Permutation;
  readonly names: Permutation;
}

export interface Layout {
  readonly shelves: readonly Shelf[];
  readonly byCountry: ReadonlyMap<string, readonly Shelf[]>;
  locate(index: number): { readonly shelf: Shelf; readonly rank: number };
  /** The index of a rank; undefined beyond the register's end. */
  indexOf(shelf: Shelf, rank: number): number | undefined;
}

/** Numbers per company: three positions of five are taken, so that a number with one digit off often exists. */
const numbersPerCompany = 5 / 3;

/** Companies come in rounds: in each, every register has as many places as its share, in a scattered order. */
export function createLayout(seed: number, size: number): Layout {
  const places = scatterPlaces();
  const round = places.length;
  const placesOf = registers().map(() => [] as number[]);
  const rankInRound = places.map((shelf, place) => at(placesOf, shelf).push(place) - 1);
  const counts = placesOf.map(
    (own) => Math.floor(size / round) * own.length + own.filter((place) => place < size % round).length,
  );
  const shelves = registers().map((entry, id) => createShelf(entry, id, seed, at(counts, id)));
  const byCountry = new Map<string, Shelf[]>();
  for (const shelf of shelves) {
    const list = byCountry.get(shelf.country.code);
    if (list === undefined) byCountry.set(shelf.country.code, [shelf]);
    else list.push(shelf);
  }
  return {
    shelves,
    byCountry,
    locate: (index) => {
      const place = index % round;
      const shelf = at(shelves, at(places, place));
      return { shelf, rank: ((index - place) / round) * shelf.register.share + at(rankInRound, place) };
    },
    indexOf: (shelf, rank) => {
      if (!(rank >= 0 && rank < shelf.count)) return undefined;
      const own = at(placesOf, shelf.id);
      return Math.floor(rank / own.length) * round + at(own, rank % own.length);
    },
  };
}

function registers(): { country: Country; register: Register; position: number }[] {
  return countries.flatMap((country) =>
    country.registers.map((register, position) => ({ country, register, position })),
  );
}

/** The register of each place in a round. The order never changes: it is not seeded. */
function scatterPlaces(): number[] {
  const ordered = registers().flatMap(({ register }, id) => Array<number>(register.share).fill(id));
  const scatter = new Permutation(ordered.length, 17);
  return ordered.map((_, place) => at(ordered, scatter.forward(place)));
}

function createShelf(
  entry: { country: Country; register: Register; position: number },
  id: number,
  seed: number,
  count: number,
): Shelf {
  const { country, register, position } = entry;
  const vat = register.vat ?? country.vat;
  const room = Math.min(register.number.capacity, Math.ceil(count * numbersPerCompany) + 8);
  const vatRoom = vat.kind === 'own' ? Math.floor(vat.format.capacity / country.registers.length) : count;
  if (count > room || count > vatRoom) throw new RangeError(`too many companies for the register of ${country.name}`);
  return {
    id,
    country,
    register,
    position,
    vat,
    count,
    numbers: new Permutation(room, hash(seed, id, 1)),
    vats: new Permutation(Math.max(count, 1), hash(seed, id, 2)),
    names: new Permutation(Math.max(count, 1), hash(seed, id, 3)),
  };
}
