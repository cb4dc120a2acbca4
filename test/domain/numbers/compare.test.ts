import { describe, expect, test } from 'vitest';
import { comparableNumber, compareRegistration } from '../../../src/domain/numbers/compare.js';
import { parseRegistrationNumber } from '../../../src/domain/numbers/parse.js';

const compare = (
  raw: string,
  candidate: string | null,
  country: string,
  place: { court?: string; state?: string; ours?: string } = {},
) =>
  compareRegistration(parseRegistrationNumber(raw, country, place.ours), candidate, country, {
    state: place.state ?? null,
    jurisdiction: place.court ?? null,
  }).letter;

describe('comparable form', () => {
  test.each([
    ['SC-123 456', 'GB', 'SC123456'],
    ['sc123456', 'GB', 'SC123456'],
    ['０１２３', 'GB', '0123'],
    ['0123', 'GB', '0123'],
    ['123', 'GB', '123'],
    ['hrb 12345 b', 'DE', 'HRB12345B'],
    ['Amtsgericht Köln HRB 12345', 'DE', 'HRB12345'],
    ['CHE-116.281.710', 'CH', 'CHE116281710'],
  ])('%s of %s is %s', (number, country, form) => {
    expect(comparableNumber(number, country)).toBe(form);
  });
});

describe('letters', () => {
  test.each([
    ['01234567', '01234567', 'GB', 'A'],
    ['0123 4567', '01234567', 'GB', 'B'],
    ['5560160680', '556016-0680', 'SE', 'A'],
    ['1234567', '01234567', 'GB', 'B'],
    ['GB01234567', '01234567', 'GB', 'B'],
    ['73282932000074', '732829320', 'FR', 'B'],
    ['01234567', 'GB01234567', 'GB', 'A'],
    ['01234567', '1234567', 'GB', 'F'],
    ['01234567', '01234568', 'GB', 'F'],
    ['01234567', null, 'GB', 'Z'],
    ['01234567', ' ', 'GB', 'Z'],
    ['1.23457E+11', '01234567', 'GB', 'Z'],
    ['O1234567', '01234567', 'GB', 'B'],
    // Only a person decides about these.
    ['FN 54452', 'FN 54452b', 'AT', 'B'],
    ['10084101', 'B10084101', 'ES', 'B'],
    ['240001560000', '24000156', 'NL', 'B'],
    ['Registered in Scotland No. 123456', 'SC123456', 'GB', 'B'],
    ['Registered in Scotland No. 123456', '00123456', 'GB', 'F'],
    ['11083', 'HRB 11083', 'DE', 'B'],
    ['011 083', 'HRB 11083 B', 'DE', 'B'],
    ['317', 'HRB 317', 'DE', 'B'],
    ['11083', 'HRB 6376', 'DE', 'F'],
    ['11083', null, 'DE', 'Z'],
    ['1108300', 'HRB 11083', 'DE', 'F'],
    ['FN 5445', 'FN 54452b', 'AT', 'F'],
    ['240001560001', '24000156', 'NL', 'F'],
  ])('%s against %s in %s: %s', (raw, candidate, country, letter) => {
    expect(compare(raw, candidate, country)).toBe(letter);
  });
});

describe('German courts', () => {
  test.each([
    ['München HRB 12345', 'HRB 12345', 'Amtsgericht München', 'A'],
    ['München HRB 12345', 'HRB 12345', 'Munich', 'A'],
    ['Muenchen HRB 12345', 'HRB 12345', 'München', 'A'],
    ['HRB 12345 Köln', 'HRB12345', 'Amtsgericht Koeln', 'A'],
    ['Amtsgericht Charlottenburg HRB 12345 B', 'HRB 12345 B', 'Charlottenburg (Berlin)', 'A'],
    ['Berlin HRB 12345 B', 'HRB 12345 B', 'Amtsgericht Berlin (Charlottenburg)', 'A'],
    ['Frankfurt/Main HRB 1234', 'HRB 1234', 'Frankfurt am Main', 'A'],
    ['AG Ffm HRB 1234', 'HRB 1234', 'Frankfurt am Main', 'A'],
    ['HRB 1234 Ffm.', 'HRB 1234', 'Frankfurt am Main', 'A'],
    ['AG Ffm HRB 1234', 'HRB 1234', 'Frankfurt (Oder)', 'F'],
    ["AG D'dorf HRB 1234", 'HRB 1234', 'Düsseldorf', 'A'],
    ['München HRB 12345', 'München HRB 12345', undefined, 'A'],
    ['HRB 12345 Amtsger. München', 'HRB 12345', 'München', 'A'],
    ['AmtsG München HRB 12345', 'HRB 12345', 'München', 'A'],
    ['RegG München HRB 12345', 'HRB 12345', 'München', 'A'],
    ['Reg.-Ger. München HRB 12345', 'HRB 12345', 'München', 'A'],
    ['München HR B 12345', 'HRB 12345', 'München', 'B'],
    ['Charlottenburg HRB 12345', 'HRB 12345 B', 'Charlottenburg (Berlin)', 'B'],
    ['München HRB 12345', 'HRB 12345', undefined, 'B'],
    ['München HRB 12345', 'HRB 12345', 'Bayern', 'B'],
    ['HRB 12345', 'HRB 12345', 'München', 'B'],
    ['Frankfurt HRB 1234', 'HRB 1234', 'Frankfurt (Oder)', 'B'],
    ['München HRB 12345', 'HRB 12345', 'Köln', 'F'],
    ['München HRB 12345', 'HRA 12345', 'München', 'F'],
    ['München HRB 12345', 'HRB 12346', 'München', 'F'],
    ['Kiel HRB 1234 KI', 'HRB 1234 PI', 'Kiel', 'F'],
  ])('%s against %s at %s: %s', (raw, candidate, court, letter) => {
    expect(compare(raw, candidate, 'DE', court === undefined ? {} : { court })).toBe(letter);
  });

  test.each([
    ['HRB 5770 Amtsger. Hamb.', undefined, true],
    ['HRB 5770 Amtsger. Ham.', undefined, true],
    ['HRB 5770', undefined, true],
    ['HRB 5770 Hamm', 'Hamm', undefined],
    ['HRB 5770 Frankfurt', 'Frankfurt', undefined],
    ['HRB 5770 Oldenburg', 'Oldenburg', undefined],
  ])('%s: the court is %s', (raw, register, lacksCourt) => {
    const parsed = parseRegistrationNumber(raw, 'DE');
    expect([parsed.register, parsed.lacksCourt]).toEqual([register, lacksCourt]);
  });

  test('a court or a suffix missing on one side needs the name', () => {
    const needsName = (raw: string, candidate: string, jurisdiction: string | null) =>
      compareRegistration(parseRegistrationNumber(raw, 'DE'), candidate, 'DE', { jurisdiction }).needsName;
    expect(needsName('München HRB 12345', 'HRB 12345', null)).toBe(true);
    expect(needsName('Kiel HRB 1234', 'HRB 1234 KI', 'Kiel')).toBe(true);
    expect(needsName('Charlottenburg HRB 1234', 'HRB 1234 B', 'Charlottenburg')).toBe(false);
    expect(needsName('München HRB 12345', 'HRB 12345', 'München')).toBe(false);
  });
});

describe('states number their companies separately', () => {
  test.each([
    ['Delaware', 'DE', 'A'],
    ['DE', 'Delaware', 'A'],
    ['DE', undefined, 'A'],
    ['DE', 'NY', 'Z'],
  ])('searched in %s, found in %s: %s', (ours, state, letter) => {
    expect(compare('2345678', '2345678', 'US', state === undefined ? { ours } : { ours, state })).toBe(letter);
  });
});

describe('a candidate’s number may have a country prefix', () => {
  test.each([
    ['GB01234567', 'GB', '01234567'],
    ['GB-01234567', 'GB', '01234567'],
    ['GB:SC123456', 'GB', 'SC123456'],
    ['UK 01234567', 'GB', '01234567'],
    ['DE-HRB 12345', 'DE', 'München HRB 12345'],
    ['CHE-116.281.710', 'CH', 'CHE-116.281.710'],
    ['CH-CHE-116.281.710', 'CH', 'CHE-116.281.710'],
    ['FR552100554', 'FR', '552100554'],
    ['01234567', 'GB', '01234567'],
    ['GB', 'GB', 'GB'],
  ])('%s of %s is %s', (qualified, country, local) => {
    expect(compare(local, qualified, country, country === 'DE' ? { court: 'München' } : {})).toBe('A');
  });

  test.each([
    ['GB-01234568', 'GB', '01234567'],
    ['IE-01234567', 'GB', '01234567'],
    ['GB', 'GB', '01234567'],
    ['E-116.281.710', 'CH', 'CHE-116.281.710'],
  ])('%s of %s is not %s', (qualified, country, local) => {
    expect(compare(local, qualified, country)).toBe('F');
  });
});
