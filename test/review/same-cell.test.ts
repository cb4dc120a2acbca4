import { describe, expect, test } from 'vitest';
import { isSameCell } from '../../src/review/compare-cells.js';

describe('a cell still has its written value', () => {
  test.each([
    ['zeros in front are gone', '123456', '00123456'],
    ['an apostrophe in front', "'00123456", '00123456'],
    ['spaces and case', ' müller  &  SÖHNE gmbh', 'Müller & Söhne GmbH'],
    ['signs of another kind', "O'Neill – Sons", 'O’Neill - Sons'],
    ['scientific notation', '1.23457E+11', '123456789012'],
    ['scientific notation that cuts', '1.23456E+11', '123456789012'],
    ['scientific notation that rounds up to another power', '1.00E+12', '999999999999'],
    ['scientific notation of another country', '1,23457E+11', '123456789012'],
    ['scientific notation that was counted out', '500510000', '5.00510E+08'],
    ['scientific notation in another form', '5,01E+08', '5.00510E+08'],
    ['scientific notation of a stored value, rounded again', '9.10000006136519E+018', '9100000061365184095'],
    ['scientific notation of a long number', '9.10000006136518E+018', '9100000061365184095'],
    ['scientific notation that rounds a long number up', '9.10000087525563E+018', '9100000875255625759'],
    ['sixteen digits of a long number', '9100000061365185000', '9100000061365184095'],
    ['more than fifteen digits', '123456789012345000', '123456789012345678'],
    ['zeros after the point', '123.5', '123.50'],
    ['a number with points', '11247631', '11.247.631'],
    ['letters that the encoding lacks', '????? ?odzi', 'Фирма Łodzi'],
    ['letters that plain ones replace', 'Zaklad Lodz', 'Zakład Łódź'],
    ['nothing', '', ' '],
  ])('%s', (_, cell, written) => expect(isSameCell(cell, written)).toBe(true));
});

describe('a cell has another value', () => {
  test.each([
    ['another number', '00123457', '00123456'],
    ['another number of equal length in scientific notation', '1.23457E+11', '123556789012'],
    ['another long number in scientific notation', '9.10000006136520E+018', '9100000061365184095'],
    ['another long number, in the fifteenth digit', '9.10000006136517E+018', '9100000061365184095'],
    ['another power', '1.23457E+12', '123456789012'],
    ['another number with sixteen digits', '1234567890123456', '1234567890123457'],
    ['another name', 'Acme Holdings Ltd', 'Acme Ltd'],
    ['a number in the name', 'Fund 11', 'Fund 12'],
    ['nothing any more', '', '00123456'],
    ['a value instead of nothing', '00123456', ''],
    ['another name of which letters are lost', '????? ?rakow', 'Spółka Łodzi'],
  ])('%s', (_, cell, written) => expect(isSameCell(cell, written)).toBe(false));
});
