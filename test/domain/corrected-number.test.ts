import { expect, test } from 'vitest';
import { correctionProblem } from '../../src/domain/entity-key.js';

test.each([
  ['DE123', 'FR', false],
  ['DE123', 'NL', false],
  ['405003757 / 123', 'FR', false],
  ['552O32534', 'FR', false],
  ['none', 'GB', false],
  ['12345678', 'NL', true],
  ['552032534', 'FR', true],
  ['552 032 534', 'FR', true],
  ['HRB 317', 'DE', false],
  ['Köln HRB 317', 'DE', true],
  ['2', 'DE', false],
  ['AB-77', 'ZW', true],
])('a correction to %s in %s is accepted: %s', (number, country, taken) => {
  expect(correctionProblem(number, country, {}) === undefined).toBe(taken);
});

test.each([
  [{ registration_number: 'Charlottenburg HRB 10660 B' }, false],
  [{ city: 'Berlin' }, true],
  [{ state: 'Charlottenburg' }, true],
])('a German number without its court, in a row with %o, is accepted: %s', (row, taken) => {
  const german = { name: 'Krug AG', country: 'DE', ...row };
  expect(correctionProblem('HRB 4752 B', 'DE', german) === undefined).toBe(taken);
});

test.each([
  ['GB', '004 878 05', '00487805', undefined, false],
  ['GB', '519771', '00519771', undefined, false],
  ['GB', '519771', '00519772', undefined, true],
  ['GB', '519771', '519 772', '00519772', false],
  ['GB', '519771', '519771', '00519772', true],
  ['DE', 'HRB 10660 B', 'Charlottenburg HRB 10660 B', undefined, true],
])('in %s a row with %s is corrected to %s after %s: %s', (country, own, number, before, taken) => {
  const row = { name: 'Krug', country, registration_number: own };
  expect(correctionProblem(number, country, row, before) === undefined).toBe(taken);
});

test.each([
  ['HRB 10660', 'Stuttgart HRB 10660', { city: 'Stuttgart' }, false],
  ['HRB 10660', 'Stuttgart HRB 10660', { city: 'Ulm' }, true],
  ['Charlottenburg HRB 10660', 'Charlottenburg HRB 10660 B', {}, false],
])('a German row with %s is corrected to %s, in a row with %o: %s', (own, number, place, taken) => {
  const row = { name: 'Krug', country: 'DE', registration_number: own, ...place };
  expect(correctionProblem(number, 'DE', row) === undefined).toBe(taken);
});
