import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CandidateFacts, gradeCandidate } from '../../../src/domain/candidate-grade.js';
import { decide, defaultMatchPolicy } from '../../../src/domain/match-decision.js';
import { comparableNumber, compareRegistration } from '../../../src/domain/numbers/compare.js';
import { vatLabels } from '../../../src/domain/numbers/country-formats.js';
import { parseRegistrationNumber } from '../../../src/domain/numbers/parse.js';
import { compareVat, parseVatNumber } from '../../../src/domain/numbers/vat.js';
import { createRegistry } from '../../../src/sandbox/registry/index.js';

/** Numbers of the synthetic registry: real formats and checksums of about thirty countries. */
interface Real {
  readonly country: string;
  readonly state: string | undefined;
  readonly number: string;
  readonly vat: string | null;
  readonly facts: CandidateFacts;
}

const registry = createRegistry({ seed: 20 });

const REAL: readonly Real[] = Array.from({ length: 500 }, (_, i) =>
  registry.company((i * 1999) % registry.size),
).flatMap((company) => {
  const { registrationNumber: number, countryCode, state, jurisdiction, vatNumber: vat } = company;
  if (number === null) return [];
  const facts = {
    id: company.v1Id,
    name: company.name,
    registration_number: number,
    vat_number: vat,
    country_code: countryCode,
    state,
    jurisdiction,
  };
  return [{ country: countryCode, state: state ?? undefined, number, vat, facts }];
});

const real = fc.constantFrom(...REAL);
const parse = (text: string, { country, state }: Real) => parseRegistrationNumber(text, country, state);
const compare = (text: string, entry: Real) =>
  compareRegistration(parse(text, entry), entry.number, entry.country, entry.facts).letter;

const swapped = (text: string) => [' ', '-', ''].map((sign) => text.replace(/[\s./-]+/g, sign));

describe('clean numbers', () => {
  test('the sample covers at least 20 countries', () => {
    expect(new Set(REAL.map(({ country }) => country)).size).toBeGreaterThanOrEqual(20);
  });

  test('every clean number is used as written, and equals itself', () => {
    const readings = REAL.map((entry) => {
      const { canonical, treatment } = parse(entry.number, entry);
      return `${entry.country} ${canonical} ${treatment} ${compare(entry.number, entry)}`;
    });
    expect(readings).toEqual(REAL.map(({ country, number }) => `${country} ${number} as_written A`));
  });

  test('every usual spelling reads as the number, with a space, a hyphen or nothing between its groups', () => {
    for (const entry of REAL.slice(0, 200)) {
      const { spellings } = parse(entry.number, entry);
      const written = spellings.flatMap((text) => (entry.country === 'DE' ? [text] : [text, ...swapped(text)]));
      const canonical = written.map((text) => parse(text, entry).canonical);
      expect([entry.country, ...canonical]).toEqual([entry.country, ...written.map(() => entry.number)]);
    }
  });

  test('every clean VAT number is used as written, and equals itself', () => {
    const readings = REAL.flatMap(({ vat, country }) => {
      if (vat === null) return [];
      const parsed = parseVatNumber(vat, country);
      return [[vat, `${parsed.canonical} ${parsed.treatment} ${compareVat(parsed, vat, country)}`]];
    });
    expect(readings).toEqual(readings.map(([vat]) => [vat, `${vat} as_written A`]));
  });

  test('a row with number and name is confirmed', () => {
    for (const entry of REAL.slice(0, 150)) {
      const subject = {
        countryCode: entry.country,
        name: entry.facts.name ?? '',
        registrationNumber: parse(entry.number, entry),
        ...(entry.state === undefined ? {} : { state: entry.state }),
      };
      const graded = gradeCandidate(subject, entry.facts);
      const decision = decide(subject, [{ candidate: entry.facts, graded }], defaultMatchPolicy);
      expect(decision).toMatchObject({ kind: 'confirmed', matchedOn: 'registration_number' });
    }
  });
});

describe('spelling damage', () => {
  const harmless: ((text: string, entry: Real) => string)[] = [
    (text) => ` ${text} `,
    (text) => `\u00a0${text}`,
    (text) => text.toLowerCase(),
    (text) => text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
    (text) => `'${text}`,
    (text) => `="${text}"`,
    (text, { country }) => (country === 'DE' ? text.replace(' ', '') : text.replace(/[\s./-]/g, '')),
    (text, { country }) => (country === 'DE' ? text.replace('HR', 'HR ') : text.replace(/(\d)(?=\d{3}$)/, '$1 ')),
    (text) => (/^\d+$/.test(text) ? `${text}.0` : text),
    (text) => (/^[1-9]\d{1,14}$/.test(text) ? `${text[0]}.${text.slice(1)}E+${text.length - 1}` : text),
    (text, { country }) => (/^\d+$/.test(text) ? `${country}${text}` : text),
  ];

  test('spaces, width, case, separators, .0, exponent and prefix are repaired automatically', () => {
    fc.assert(
      fc.property(real, fc.constantFrom(...harmless), (entry, damage) => {
        const parsed = parse(damage(entry.number, entry), entry);
        expect(parsed.canonical).toBe(entry.number);
        expect(['as_written', 'automatic']).toContain(parsed.treatment);
        expect(['A', 'B']).toContain(compare(damage(entry.number, entry), entry));
      }),
      { numRuns: 300 },
    );
  });

  test('no label changes a VAT number', () => {
    // NO is also Norway's prefix.
    const label = fc.stringMatching(new RegExp(`^(?:${vatLabels()})$`, 'u')).filter((words) => words !== 'NO');
    const separator = fc.constantFrom(' ', ': ', '. ', '.: ', ' - ', ' No. ', ' Nr: ', ' N° ', ' number ');
    const written = fc.constantFrom(...REAL.flatMap(({ vat, country }) => (vat === null ? [] : [{ vat, country }])));
    fc.assert(
      fc.property(written, label, separator, fc.boolean(), ({ vat, country }, words, between, isSmall) => {
        const text = `${isSmall ? words.toLowerCase() : words}${between}${vat}`;
        const parsed = parseVatNumber(text, country);
        expect([text, parsed.canonical, parsed.treatment]).toEqual([text, vat, 'automatic']);
        expect(compareVat(parsed, vat, country)).toBe('A');
      }),
      { numRuns: 1000 },
    );
  });

  test('the canonical form is its own canonical form', () => {
    fc.assert(
      fc.property(real, fc.constantFrom(...harmless), (entry, damage) => {
        const once = parse(damage(entry.number, entry), entry).canonical ?? '';
        const again = parse(once, entry);
        expect(again).toMatchObject({ canonical: once, treatment: 'as_written', repairs: [] });
      }),
      { numRuns: 200 },
    );
  });
});

describe('damage that could name another company', () => {
  const position = fc.nat(20);
  const digit = fc.integer({ min: 0, max: 9 }).map(String);
  const cut = (text: string, at: number, put = '') =>
    text.slice(0, at % text.length) + put + text.slice((at % text.length) + 1);
  const damaged = fc.oneof(
    fc.tuple(real, position).map(([entry, at]) => ({ entry, text: cut(entry.number, at) })),
    fc.tuple(real, position, digit).map(([entry, at, put]) => ({ entry, text: cut(entry.number, at, put) })),
    real.map((entry) => ({ entry, text: entry.number.replace(/^([A-Z]*[ -]?)0+/, '$1') })),
    real.map((entry) => ({ entry, text: entry.number.replace(/^[A-Z]+[ -]?/, '') })),
    real.map((entry) => ({ entry, text: entry.number.replace('0', 'O') })),
    real.map((entry) => ({ entry, text: entry.number.slice(0, -2) })),
    fc.tuple(real, digit).map(([entry, put]) => ({ entry, text: `${put}${entry.number}` })),
  );

  test('a repair to a number that the text does not spell needs the name or a person', () => {
    fc.assert(
      fc.property(damaged, ({ entry, text }) => {
        const parsed = parse(text, entry);
        if (parsed.canonical === null) return;
        const found = comparableNumber(parsed.canonical, entry.country);
        const spelled = comparableNumber(text, entry.country);
        if (found === comparableNumber(entry.number, entry.country) || found === spelled) return;
        // A missing FN or a removed prefix keeps the digits. Any other change is a guess.
        const sameDigits = found.replace(/\D/g, '') === spelled.replace(/\D/g, '');
        if (!sameDigits) expect(['needs_name', 'review', 'derived']).toContain(parsed.treatment);
        if (parsed.treatment === 'derived') expect(parsed.valid).toBe('yes');
      }),
      { numRuns: 500 },
    );
  });

  test('lost zeros are never restored without the name', () => {
    for (const entry of REAL) {
      const text = entry.number.replace(/^([A-Z]*[ -]?)0+/, '$1');
      if (text === entry.number) continue;
      expect(['needs_name', 'review', 'as_written']).toContain(parse(text, entry).treatment);
      if (parse(text, entry).treatment === 'as_written') expect(compare(text, entry)).toBe('F');
    }
  });

  test('a wrong digit never compares equal to the right number', () => {
    fc.assert(
      fc.property(real, position, digit, (entry, at, put) => {
        const text = cut(entry.number, at, put);
        if (!/\d/.test(entry.number.charAt(at % entry.number.length)) || text === entry.number) return;
        const sameInteger = text.replace(/^([A-Z]* ?)0+/, '$1') === entry.number;
        if (!sameInteger) expect(['F', 'Z']).toContain(compare(text, entry));
      }),
      { numRuns: 500 },
    );
  });
});
