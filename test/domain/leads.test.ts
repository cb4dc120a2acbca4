import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entityKey, memberKey } from '../../src/domain/entity-key.js';
import { isCheckedLei, leadsIn } from '../../src/domain/leads.js';
import { readSearchSubject } from '../../src/domain/search-subject.js';

/** The published LEIs of three large companies. */
const PUBLISHED = ['HWUPKR0MPOU8FGXBT394', '7LTWFZYICNSX8D621K86', '5493006MHB84DD0ZWV18'];

describe('an LEI', () => {
  test.each(PUBLISHED)('%s passes its check digits in any spelling', (lei) => {
    expect(isCheckedLei(lei)).toBe(true);
    expect(isCheckedLei(` ${lei.toLowerCase().replace(/(.{4})/g, '$1 ')}`)).toBe(true);
  });

  test('fails with one wrong digit or letter, or with two neighbours swapped', () => {
    const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ');
    fc.assert(
      fc.property(fc.constantFrom(...PUBLISHED), fc.nat(17), character, (lei, at, other) => {
        const slip = lei.slice(0, at) + other + lei.slice(at + 1);
        // A digit for a letter may pass the check, because a letter counts as two digits.
        fc.pre(slip !== lei && /\d/.test(other) === /\d/.test(lei[at] ?? ''));
        expect(isCheckedLei(slip)).toBe(false);
      }),
    );
    const [lei = ''] = PUBLISHED;
    expect(isCheckedLei(`WH${lei.slice(2)}`)).toBe(false);
  });

  test('is followed even if it fails its check, because that is evidence, not proof', () => {
    expect(leadsIn({ lei: 'HWUPKR0MPOU8FGXBT395' })).toEqual({ lei: 'HWUPKR0MPOU8FGXBT395' });
  });

  test('any text is an LEI or is not, without an error', () => {
    fc.assert(fc.property(fc.string({ maxLength: 30 }), (text) => typeof isCheckedLei(text) === 'boolean'));
  });
});

test.each([
  [{ website: 'example.com' }, { website: 'example.com' }],
  [{ website: 'https://www.exämple.co.uk/de?x=1' }, { website: 'https://www.exämple.co.uk/de?x=1' }],
  [{ linkedin: 'https://www.linkedin.com/company/acme' }, { linkedin: 'https://www.linkedin.com/company/acme' }],
  [
    { email: 'info@example.com', phone: '+44 20 7946 0000' },
    { email: 'info@example.com', phone: '+44 20 7946 0000' },
  ],
  [{ website: 'n/a', linkedin: '-', lei: 'none', email: 'unknown', phone: '0' }, undefined],
  [{ website: 'info@example.com', linkedin: 'Acme', email: 'www.example.com' }, undefined],
  [{ name: 'Acme', country: 'GB' }, undefined],
])('the leads of %j', (fields, leads) => {
  expect(leadsIn(fields)).toEqual(leads);
});

test('reading leads ends for any text', () => {
  const texts = fc.record({
    website: fc.string(),
    linkedin: fc.string(),
    lei: fc.string(),
    email: fc.string(),
    phone: fc.string(),
  });
  fc.assert(fc.property(texts, (fields) => Object.keys(leadsIn(fields) ?? {}).every((lead) => lead in fields)));
});

describe('a review question', () => {
  const subjectOf = (fields: Parameters<typeof readSearchSubject>[0]) => {
    const reading = readSearchSubject(fields);
    if (!reading.ok) throw new Error(reading.message);
    return reading.enquiry.subject;
  };

  test('has the same key with and without leads if another value identifies the company', () => {
    const leads = { website: 'example.com', linkedin: 'linkedin.com/company/acme', email: 'a@example.com' };
    for (const fields of [
      { name: 'Acme Ltd', country: 'GB' },
      { name: 'Acme Ltd', country: 'GB', registration_number: '00445790' },
      { country: 'GB', vat_number: 'GB123456789' },
      { country: 'US', ticker: 'ACME' },
      { country: 'GB', registration_number: '445790' },
    ]) {
      expect(entityKey(subjectOf({ ...fields, ...leads }))).toBe(entityKey(subjectOf(fields)));
      expect(memberKey(subjectOf({ ...fields, ...leads }))).toBe(memberKey(subjectOf(fields)));
    }
  });

  test('about a website alone is about that website, in any spelling', () => {
    const keyOf = (website: string, more: object = {}) => entityKey(subjectOf({ country: 'GB', website, ...more }));
    expect(keyOf('https://www.Example.com/')).toBe('GB|website:example.com');
    expect(keyOf('example.com')).toBe(keyOf('http://example.com'));
    expect(keyOf('example.org')).not.toBe(keyOf('example.com'));
    expect(keyOf('example.com', { lei: PUBLISHED[0] })).not.toBe(keyOf('example.com'));
    expect(memberKey(subjectOf({ country: 'GB', website: 'example.com' }))).toBe('GB|website:example.com');
  });
});
