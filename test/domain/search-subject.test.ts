import { expect, test } from 'vitest';
import { countryProblem, otherCountryInWords, readSearchSubject } from '../../src/domain/search-subject.js';

test.each([
  ['Stanford &amp; Sons Ltd', 'Stanford & Sons Ltd'],
  ['M&uuml;llmann AG', 'Müllmann AG'],
  ['M&#252;llmann &#xE9; AG', 'Müllmann é AG'],
  ['Caf&eacute;&nbsp;SA', 'Café\u00a0SA'],
  // No names of characters.
  ['A &b; C; D', 'A &b; C; D'],
  ['&#0;&#xD800; Ltd', '&#0;&#xD800; Ltd'],
  ['R&D; Ltd', 'R&D; Ltd'],
])('the name %s is searched for as %s, and its row stays as written', (name, searched) => {
  const fields = { name, country: 'GB' };
  const reading = readSearchSubject(fields);
  expect(reading.ok && reading.enquiry.subject.name).toBe(searched);
  expect(fields.name).toBe(name);
});

test('a country from a web page is known', () => {
  expect(countryProblem({ name: 'Acme', country: '&Ouml;sterreich' })).toBeUndefined();
});

test.each([
  [
    { registration_number: '402008577', vat_number: 'FR08402008577', country: 'Belgique' },
    'The number and the VAT number fit FR, not BE. Correct the country of the row',
  ],
  [{ vat_number: 'FR08402008577', country: 'BE' }, 'The VAT number fits FR, not BE. Correct the country of the row'],
  [{ registration_number: 'FN 123456a', country: 'DE' }, 'The number fits AT, not DE. Check both'],
  [{ registration_number: '402008577', country: 'Belgique' }, undefined],
  [{ registration_number: '0403227515', vat_number: 'FR08402008577', country: 'FR' }, undefined],
])('%o: %s', (fields, words) => {
  expect(otherCountryInWords(fields)).toBe(words);
});
