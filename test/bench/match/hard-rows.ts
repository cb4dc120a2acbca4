import type { Random } from '../../../src/sandbox/random.js';
import type { Registry } from '../../../src/sandbox/registry/index.js';
import type { Company } from '../../../src/sandbox/registry/types.js';
import type { SampleInput, SampleRow } from '../../../src/sandbox/sample.js';

/**
 * Rows that the sampler does not write. Two of them look equal to any program: a right number alone, and a mistyped
 * number that belongs to another company. A policy has to choose between them.
 */
export function* hardRows(registry: Registry, random: Random, each: number): Generator<SampleRow> {
  for (const kind of KINDS) {
    for (let made = 0, draws = 0; made < each && draws < each * MOST_DRAWS; draws++) {
      const company = registry.company(random.int(registry.size));
      const { registrationNumber } = company;
      if (registrationNumber === null || !registry.hasRecord(company) || registry.traits(company).identityMismatch)
        continue;
      const change = kind.apply({ company, number: registrationNumber, registry, random });
      if (change === undefined) continue;
      made += 1;
      yield { input: { ...inputOf(company), ...change }, answer: answerOf(company, kind) };
    }
  }
}

/** A row with only a number. Its outcome is a matter of policy. */
export const isAlone = ({ answer }: SampleRow): boolean => answer.damage.endsWith('_alone');

const MOST_DRAWS = 4_000;

interface Context {
  readonly company: Company;
  readonly number: string;
  readonly registry: Registry;
  readonly random: Random;
}

interface Kind {
  readonly damage: string;
  readonly expected: 'confirmed' | 'needs_review';
  readonly apply: (context: Context) => Partial<SampleInput> | undefined;
}

const ALONE = { name: '', vat_number: '', city: '' };

const KINDS: readonly Kind[] = [
  { damage: 'number_alone', expected: 'confirmed', apply: () => ALONE },
  {
    damage: 'decoy_alone',
    expected: 'needs_review',
    apply: (context) => withNumber(context, oneDigitOff, ALONE),
  },
  {
    damage: 'swapped_alone',
    expected: 'needs_review',
    apply: (context) => withNumber(context, swapped, ALONE),
  },
  {
    damage: 'decoy_with_name',
    expected: 'needs_review',
    apply: (context) => withNumber(context, oneDigitOff, { vat_number: '' }),
  },
  {
    damage: 'without_court_in_place',
    expected: 'confirmed',
    apply: ({ company, number, registry }) => {
      if (company.countryCode !== 'DE') return undefined;
      const found = registry.search({ location: 'DE', registrationNumber: number }, 'forgiving');
      const isShared = found.filter(({ name }) => name === company.name).length > 1;
      return isShared ? undefined : { registration_number: number, vat_number: '' };
    },
  },
  {
    damage: 'without_court_elsewhere',
    expected: 'needs_review',
    apply: ({ company, number, registry, random }) => {
      const { city, countryCode } = registry.company(random.int(registry.size));
      const isElsewhere = countryCode === 'DE' && city !== company.city;
      return company.countryCode === 'DE' && isElsewhere
        ? { registration_number: number, vat_number: '', city }
        : undefined;
    },
  },
  { damage: 'name_in_capitals', expected: 'confirmed', apply: ({ company }) => ({ name: company.name.toUpperCase() }) },
  {
    damage: 'name_without_accents',
    expected: 'confirmed',
    apply: ({ company }) => changedName(company, company.name.normalize('NFD').replace(/\p{M}/gu, '')),
  },
  {
    damage: 'name_typo',
    expected: 'confirmed',
    apply: ({ company, random }) => {
      const place = 2 + random.int(4);
      const letters = [...company.name];
      if (!letters.slice(place, place + 2).every((letter) => /^[a-z]$/.test(letter))) return undefined;
      [letters[place], letters[place + 1]] = [letters[place + 1] ?? '', letters[place] ?? ''];
      return changedName(company, letters.join(''));
    },
  },
  {
    damage: 'legal_form_left_out',
    expected: 'confirmed',
    apply: ({ company }) =>
      changedName(
        company,
        company.name.replace(/[,\s]+(?:Ltd|Limited|GmbH|AG|B\.V\.|S\.A\.|AB|AS|ApS|Oy|Inc\.|LLC|Corp\.)$/, ''),
      ),
  },
];

/** A wrong number that belongs to another company in the same place. */
function withNumber(
  context: Context,
  spoil: (context: Context) => string | undefined,
  change: Partial<SampleInput>,
): Partial<SampleInput> | undefined {
  const { company, registry } = context;
  const wrong = spoil(context);
  if (wrong === undefined || wrong === context.number) return undefined;
  const location = inputOf(company).country;
  const others = registry
    .search({ location, registrationNumber: wrong }, 'exact')
    .filter((other) => other.jurisdiction === company.jurisdiction && other.name !== company.name);
  return others.length === 0 ? undefined : { ...change, registration_number: withCourt(company, wrong) };
}

function oneDigitOff({ number, random }: Context): string | undefined {
  const places = [...number].flatMap((character, place) => (/\d/.test(character) ? [place] : []));
  const place = places[random.int(places.length)] ?? 0;
  return `${number.slice(0, place)}${(Number(number[place]) + random.between(1, 9)) % 10}${number.slice(place + 1)}`;
}

function swapped({ number, random }: Context): string | undefined {
  const place = random.int(Math.max(1, number.length - 1));
  const pair = number.slice(place, place + 2);
  if (!/^\d\d$/.test(pair)) return undefined;
  return `${number.slice(0, place)}${pair[1]}${pair[0]}${number.slice(place + 2)}`;
}

const changedName = (company: Company, name: string) => (name === company.name ? undefined : { name });

const withCourt = ({ countryCode, jurisdiction }: Company, number: string) =>
  countryCode === 'DE' ? `${jurisdiction} ${number}` : number;

function inputOf(company: Company): SampleInput {
  const { countryCode, state } = company;
  return {
    id: company.v1Id,
    name: company.name,
    country: ['US', 'CA', 'CN'].includes(countryCode) ? `${countryCode}-${state}` : countryCode,
    registration_number: withCourt(company, company.registrationNumber ?? ''),
    vat_number: company.vatNumber ?? '',
    city: company.city,
    segment: '',
  };
}

const answerOf = (company: Company, { damage, expected }: Kind): SampleRow['answer'] => ({
  id: company.v1Id,
  damage,
  expected,
  reason: '',
  v1_company_id: company.v1Id,
  v2_company_id: company.v2Id,
  registration_number: company.registrationNumber ?? '',
});
