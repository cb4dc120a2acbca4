import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { suggestCountry } from '../../src/domain/places/suggest-country.js';
import { readSearchSubject } from '../../src/domain/search-subject.js';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { property } from '../helpers/long.js';

const registry = createRegistry({ seed: 11 });

describe('the country of a VAT number', () => {
  test.each([
    ['DE136695976', 'DE'],
    ['de 136 695 976', 'DE'],
    ['EL094259216', 'GR'],
    ['GB980780684', 'GB'],
    ['XI980780684', 'GB'],
    ['UK980780684', 'GB'],
    ['ATU13585627', 'AT'],
    ['CHE-107.787.577 MWST', 'CH'],
    ['NL004495445B01', 'NL'],
  ])('%s: %s', (vat_number, countryCode) => {
    expect(suggestCountry({ vat_number })).toEqual({ countryCode, reason: expect.stringMatching(/\b[A-Z]{2}\b/) });
  });

  test.each(['136695976', 'DE136695975', 'DE12', '12-3456789', 'US123456789', 'ZZ123456789', 'DE', 'n/a', ''])(
    '%s has no country',
    (vat_number) => {
      expect(suggestCountry({ vat_number })).toBeUndefined();
    },
  );
});

describe('the country of a registration number', () => {
  test.each([
    ['GB 00445790', 'GB'],
    ['GB00445790', 'GB'],
    ['UK-00445790', 'GB'],
    ['FR 552081317', 'FR'],
    ['SC123456', 'GB'],
    ['CHE-107.787.577', 'CH'],
    ['CHE 107 787 577 HR/MWST', 'CH'],
    ['CHE-107.787.577 RC/TVA', 'CH'],
    ['UID: CHE-107.787.577', 'CH'],
    ['UID-Nr. CHE-107.787.577 HR', 'CH'],
    ['91310000775785552L', 'CN'],
    ['HRB 42243 Amtsgericht München', 'DE'],
    ['Amtsgericht Köln HRB 317', 'DE'],
    ['FN 123456a', 'AT'],
    ['2012/123456/07', 'ZA'],
    ['U72200MH2009PLC123456', 'IN'],
    ['DE136695976', 'DE'],
  ])('%s: %s', (registration_number, countryCode) => {
    expect(suggestCountry({ registration_number })?.countryCode).toBe(countryCode);
  });

  test.each([
    ['a number that many countries could have', '00445790'],
    ['an LEI', '5493006MHB84DD0ZWV18'],
    ['a number without its court', 'HRB 42243'],
    ['an Italian province', 'MI-1234567'],
    ['a province that is a country', 'CA-1234567'],
    ['a British prefix that is a country', 'NO123456'],
    ['another one', 'BR001234'],
    ['too few digits', 'GB 4457'],
    ['a failed check', 'CHE-107.787.578'],
    ['a code of no country', 'ZZ 12345678'],
    ['words', 'GB company'],
  ])('%s has no country: %s', (_, registration_number) => {
    expect(suggestCountry({ registration_number })).toBeUndefined();
  });

  test('a court beside the number counts', () => {
    expect(suggestCountry({ registration_number: 'HRB 42243', state: 'München' })?.countryCode).toBe('DE');
  });
});

test('numbers of two countries suggest none', () => {
  expect(suggestCountry({ vat_number: 'DE136695976', registration_number: 'GB 00445790' })).toBeUndefined();
});

property('the numbers of any company suggest its own country', 2_000, (numRuns) => {
  let told = 0;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: registry.size - 1 }), (index) => {
      const { countryCode, registrationNumber, vatNumber } = registry.company(index);
      const suggested = suggestCountry({
        ...(registrationNumber === null ? {} : { registration_number: registrationNumber }),
        ...(vatNumber === null ? {} : { vat_number: vatNumber }),
      });
      if (suggested === undefined) return;
      told += 1;
      expect(suggested.countryCode).toBe(countryCode);
    }),
    { numRuns },
  );
  expect(told).toBeGreaterThan(numRuns / 10);
});

describe('a row with a country', () => {
  test('is never read as another country, even if its numbers suggest one', () => {
    const reading = readSearchSubject({ name: 'Acme', country: 'FR', vat_number: 'DE136695976' });
    if (!reading.ok) throw new Error(reading.message);
    const { subject, location } = reading.enquiry;
    expect([location, subject.countryCode, subject.countryFrom]).toEqual(['FR', 'FR', undefined]);
    expect(subject.vatNumber?.reason).toMatch(/"FRDE136695976".*\bDE\b.*\bFR\b/);
  });
});

test('a row without a country is searched for in the country of its numbers, with the reason', () => {
  const reading = readSearchSubject({ name: 'Acme', registration_number: 'GB 00445790' });
  expect(reading).toMatchObject({
    ok: true,
    enquiry: {
      location: 'GB',
      subject: {
        countryCode: 'GB',
        countryFrom: expect.stringMatching(/\bGB\b/),
        registrationNumber: { canonical: '00445790', treatment: 'automatic' },
      },
    },
  });
  expect(readSearchSubject({ name: 'Acme', registration_number: '00445790' })).toMatchObject({ code: 'BAD_COUNTRY' });
});
