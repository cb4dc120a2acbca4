import { compact } from './countries/format.js';
import { createIds, type Ids } from './ids.js';
import { createLayout, type Layout, type Shelf } from './layout.js';
import { createNames, type Names } from './names.js';
import { at, hash, Permutation } from './random.js';
import { hasTrait, LISTED_AT, LISTED_EVERY } from './traits.js';
import type { Company } from './types.js';

/** Identity: from an index to a company, and from each of its numbers back to the index. */
export interface Companies {
  readonly seed: number;
  readonly size: number;
  readonly layout: Layout;
  readonly ids: Ids;
  readonly names: Names;
  company(index: number): Company;
  /** From now on the company is as the register says. */
  change(index: number, field: string, value: string | null): void;
  shelfOf(company: Company): Shelf;
  isNamesake(company: Company): boolean;
  /** The number at another position of the same register: for records that contradict the search. */
  otherNumber(company: Company): string;
  /** The company of a register whose compact number is exactly this. */
  byNumber(shelf: Shelf, compactNumber: string): Company | undefined;
  byVat(shelf: Shelf, compactVat: string): Company | undefined;
  byTicker(ticker: string): Company | undefined;
}

export function createCompanies(seed: number, size: number): Companies {
  const layout = createLayout(seed, size);
  const ids = createIds(seed, size);
  const names = createNames(seed, layout.shelves);
  const tickers = new Permutation(26 ** 4, hash(seed, 51));

  const numberAt = (shelf: Shelf, rank: number) => shelf.register.number.encode(shelf.numbers.forward(rank));

  const vatAt = (shelf: Shelf, rank: number, index: number, number: string): string | null => {
    if (hasTrait(seed, index, 'noVatNumber')) return null;
    if (shelf.vat.kind === 'derived') return shelf.vat.encode(compact(number));
    return shelf.vat.format.encode(shelf.vats.forward(rank) * shelf.country.registers.length + shelf.position);
  };

  const changes = new Map<number, Readonly<Record<string, string | null>>>();

  const company = (index: number): Company => {
    const changed = changes.get(index);
    return changed === undefined ? founded(index) : asChanged(founded(index), changed);
  };

  const founded = (index: number): Company => {
    if (!Number.isInteger(index) || index < 0 || index >= size) throw new RangeError(`no company ${index}`);
    const { shelf, rank } = layout.locate(index);
    const number = numberAt(shelf, rank);
    const dice = hash(seed, index, 52);
    return {
      index,
      v1Id: ids.v1(index),
      v2Id: ids.v2(index),
      sourceId: ids.source(index, shelf.country.code),
      name: names.of(shelf, rank, index),
      registrationNumber: hasTrait(seed, index, 'noRegistrationNumber') ? null : number,
      vatNumber: vatAt(shelf, rank, index, number),
      ticker: index % LISTED_EVERY === LISTED_AT ? letters(tickers.forward(Math.floor(index / LISTED_EVERY))) : null,
      countryCode: shelf.country.code,
      state: shelf.register.state,
      jurisdiction: shelf.register.jurisdiction,
      city: at(shelf.register.cities, dice),
      status: statusOf(seed, index),
      legalForm: dice % 41 === 0 ? null : names.legalForm(shelf, index),
      incorporationDate: dice % 53 === 0 ? null : dateOf(dice),
    };
  };

  /** A company is found by what its own entry shows, and by nothing that it hides. */
  const confirm = (index: number | undefined, shows: (found: Company) => boolean): Company | undefined => {
    if (index === undefined) return undefined;
    const found = company(index);
    return shows(found) ? found : undefined;
  };

  const byNumber = (shelf: Shelf, wanted: string): Company | undefined => {
    const position = shelf.register.number.decode(wanted);
    if (position === undefined || !(position >= 0 && position < shelf.numbers.size)) return undefined;
    return confirm(
      layout.indexOf(shelf, shelf.numbers.backward(position)),
      (found) => found.registrationNumber !== null && compact(found.registrationNumber) === wanted,
    );
  };

  return {
    seed,
    size,
    layout,
    ids,
    names,
    company,
    change: (index, field, value) => void changes.set(index, { ...changes.get(index), [field]: value }),
    shelfOf: (entry) => layout.locate(entry.index).shelf,
    isNamesake: (entry) => {
      const { shelf, rank } = layout.locate(entry.index);
      return names.isNamesake(shelf, rank);
    },
    otherNumber: (entry) => {
      const { shelf, rank } = layout.locate(entry.index);
      return shelf.register.number.encode((shelf.numbers.forward(rank) + 1) % shelf.numbers.size);
    },
    byNumber,
    byVat: (shelf, wanted) => {
      const shows = (found: Company) => found.vatNumber !== null && compact(found.vatNumber) === wanted;
      if (shelf.vat.kind === 'derived') {
        const position = shelf.register.number.decode(shelf.vat.decode(wanted));
        if (position === undefined || !(position >= 0 && position < shelf.numbers.size)) return undefined;
        return confirm(layout.indexOf(shelf, shelf.numbers.backward(position)), shows);
      }
      const position = shelf.vat.format.decode(wanted);
      const registers = shelf.country.registers.length;
      if (position === undefined || position % registers !== shelf.position) return undefined;
      const slot = Math.floor(position / registers);
      if (!(slot >= 0 && slot < shelf.count)) return undefined;
      return confirm(layout.indexOf(shelf, shelf.vats.backward(slot)), shows);
    },
    byTicker: (ticker) => {
      const text = ticker.toUpperCase();
      if (!/^[A-Z]{4}$/.test(text)) return undefined;
      const index = tickers.backward(fromLetters(text)) * LISTED_EVERY + LISTED_AT;
      return index < size ? company(index) : undefined;
    },
  };
}

function asChanged(company: Company, changes: Readonly<Record<string, string | null>>): Company {
  const { name, vat_number: vatNumber, company_status: status } = changes;
  return {
    ...company,
    ...(name == null ? {} : { name, formerName: company.name }),
    ...(vatNumber === undefined ? {} : { vatNumber }),
    ...(status == null ? {} : { status }),
    changes,
  };
}

function statusOf(seed: number, index: number): string {
  const dice = hash(seed, index, 53);
  if (hasTrait(seed, index, 'dissolved')) return at(['Dissolved', 'Dissolved', 'Struck off', 'Gelöscht'], dice);
  if (hasTrait(seed, index, 'intermediate')) return at(['In liquidation', 'Insolvency proceedings', 'Dormant'], dice);
  return at(['Active', 'Active', 'Active', 'Live', 'ACTIVE'], dice);
}

/** 1921 to 2024, no day that a month lacks. */
function dateOf(dice: number): string {
  const year = 2024 - Math.floor(((dice >>> 8) % 104) * (((dice >>> 4) % 16) / 16));
  return `${year}-${two(1 + (dice % 12))}-${two(1 + ((dice >>> 12) % 28))}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

function letters(value: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < 4; i++) {
    text = String.fromCharCode(65 + (rest % 26)) + text;
    rest = Math.floor(rest / 26);
  }
  return text;
}

function fromLetters(text: string): number {
  let value = 0;
  for (const letter of text) value = value * 26 + letter.charCodeAt(0) - 65;
  return value;
}
