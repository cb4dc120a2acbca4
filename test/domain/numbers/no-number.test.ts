import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRegistrationNumber } from '../../../src/domain/numbers/parse.js';
import { readSearchSubject } from '../../../src/domain/search-subject.js';
import { planSearches } from '../../../src/stages/identity/searches.js';
import { expectGolden } from '../../helpers/golden.js';

const COUNTRIES =
  'AT AU BE BR CA CH CN CY CZ DE DK EE ES FI FR GB HK HR HU IE IL IN IS IT JP KE LI LT LU LV MT MX NL NO NZ PL PT SE SG SK TW US ZA'.split(
    ' ',
  );

describe('a text that is not a number is a review question, and is not searched for', () => {
  const OTHER_THINGS = [
    ['GB', '2025-02-01', 'a date'],
    ['NL', '2025-02-01 00:00:00', 'a date'],
    ['GB', '2025-02-01T00:00:00.000Z', 'a date'],
    ['GB', '01.02.2025', 'a date'],
    ['GB', '01/02/2025', 'a date'],
    ['US', '1/31/2025 12:30 PM', 'a date'],
    ['GB', '2025/2/1', 'a date'],
    ['NL', '01-02-2025', 'a date'],
    ['IE', '01.02.25', 'a date'],
    ['GB', '1-Feb-25', 'a date'],
    ['GB', '1 February 2025', 'a date'],
    ['DE', '1. März 2025', 'a date'],
    ['US', 'Dec 31, 2024', 'a date'],
    ['JP', '2025年2月1日', 'a date'],
    ['KE', '2025-02-01', 'a date'],
    ['GB', '1122388.3', 'a decimal'],
    ['GB', '0.5', 'a decimal'],
    ['NL', '1122388,35', 'a decimal'],
    ['GB', '11.263.689,50', 'a decimal'],
    ['GB', '-11223883', 'a negative'],
    ['GB', '−420675', 'a negative'],
    ['NO', '+47 911 23 456', 'a phone number'],
    ['DK', '+45 12 34 56 74', 'a phone number'],
    ['US', '+1 (212) 555-0100', 'a phone number'],
    ['GB', '020 7946 0000', 'a phone number'],
    ['DE', '0711 123456', 'a phone number'],
    ['FR', '01 23 45 67 89', 'a phone number'],
    ['GB', 'SW1A 1AA', 'a postal code'],
    ['GB', '11247631; 11210161', 'more than one number'],
    ['GB', '11247631/11210161', 'more than one number'],
    ['GB', '11247631 and 11210161', 'more than one number'],
    ['FR', '552100554 / 40367889900017', 'more than one number'],
    ['GB', '11', 'too short'],
    ['NL', '1', 'too short'],
    ['GB', '1111', 'too short'],
  ] as const;

  test.each(OTHER_THINGS)('%s %s: %s', (country, raw) => {
    const parsed = parseRegistrationNumber(raw, country);
    expect(parsed).toMatchObject({ canonical: null, spellings: [], treatment: 'review', valid: 'no' });
  });

  test('the reason names its kind', async () => {
    await expectGolden(
      'other-things',
      OTHER_THINGS.map(([country, raw, what]) => [
        `${country} ${raw}: ${what}`,
        parseRegistrationNumber(raw, country).reason ?? '',
      ]),
    );
  });

  const policy = {
    attempts: 3,
    order: ['registration_number', 'vat_number', 'name'],
    furtherSpellings: true,
    fallback: [],
  } as const;
  const boughtFor = (fields: { readonly name?: string; readonly registration_number: string }) => {
    const reading = readSearchSubject({ country: 'GB', ...fields });
    return reading.ok ? planSearches(reading.enquiry, policy).bought : undefined;
  };

  test('the name is searched for instead, and nothing if it is missing', () => {
    expect(boughtFor({ registration_number: '2025-02-01' })).toEqual([]);
    expect(boughtFor({ registration_number: '2025-02-01', name: 'Acme Ltd' })).toEqual([
      { location: 'GB', name: 'Acme Ltd' },
    ]);
  });
});

describe('similar numbers stay numbers', () => {
  test.each([
    ['GB', '20250201', '20250201', 'as_written'],
    ['GB', '11.247.631', '11247631', 'automatic'],
    ['GB', '11,210,161', '11210161', 'automatic'],
    ['GB', '11.263.689,00', '11263689', 'automatic'],
    ['GB', '11,263,689.00', '11263689', 'automatic'],
    ['GB', '11221938,00', '11221938', 'automatic'],
    ['GB', '79.724', '00079724', 'needs_name'],
    ['GB', '123', '00000123', 'needs_name'],
    ['NL', '24-01-5325', '24015325', 'automatic'],
    ['NL', '24-015-325', '24015325', 'automatic'],
    ['DK', '22-75-62-14', '22756214', 'automatic'],
    ['DK', '22 75 62 14', '22756214', 'as_written'],
    ['SE', '556254-9328', '556254-9328', 'as_written'],
    ['HU', '01-09-123456', '01-09-123456', 'as_written'],
    ['ZA', '2012/123456/07', '2012/123456/07', 'as_written'],
    ['BE', '0403.019.261', '0403019261', 'as_written'],
    ['IE', '11', '11', 'as_written'],
    ['IE', '1111', '1111', 'as_written'],
    ['IE', '222222', '222222', 'as_written'],
  ])('%s %s → %s', (country, raw, canonical, treatment) => {
    expect(parseRegistrationNumber(raw, country)).toMatchObject({ canonical, treatment });
  });
});

test('no date is ever read as a number, in any country and form', () => {
  const two = (part: number) => String(part).padStart(2, '0');
  const day = fc.record({
    y: fc.integer({ min: 1900, max: 2099 }),
    m: fc.integer({ min: 1, max: 12 }),
    d: fc.integer({ min: 1, max: 31 }),
  });
  const sign = fc.constantFrom('.', '/', '-');
  const time = fc.constantFrom('', ' 00:00:00', 'T12:30:00Z', ' 9:05');
  fc.assert(
    fc.property(day, sign, time, fc.constantFrom(...COUNTRIES), ({ y, m, d }, s, at, country) => {
      const dates = [
        [y, two(m), two(d)],
        [two(d), two(m), y],
        [two(m), two(d), y],
        [d, m, y],
        [d, m, two(y % 100)],
      ];
      for (const parts of dates) {
        const { treatment, canonical } = parseRegistrationNumber(`${parts.join(s)}${at}`, country);
        expect({ treatment, canonical }).toEqual({ treatment: 'review', canonical: null });
      }
    }),
    { numRuns: 200 },
  );
});
