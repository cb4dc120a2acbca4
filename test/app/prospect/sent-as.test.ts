import { expect, test } from 'vitest';
import { sentAs, sentAsPlace } from '../../../src/app/provider/prospect-filters.js';
import { ExactNumber } from '../../../src/util/exact-json.js';

const named = (id: string, parents: string | null = null) => ({ written: 'x', id, parents, name: 'X' });

test('IDs are sent exactly, in the form of the filter', () => {
  const items = [named('106'), named('007'), named('90071992547409931'), named('GB')];
  expect(sentAs('texts', items)).toEqual({ values: ['106', '007', '90071992547409931', 'GB'] });
  expect(sentAs('either', items)).toEqual({ values: [106, '007', new ExactNumber('90071992547409931'), 'GB'] });
  expect(sentAs('integers', items)).toEqual({ unfit: '007' });
  expect(sentAs('integers', [named('106'), named('0')])).toEqual({ values: [106, 0] });
});

test('a place is sent by its path if known, otherwise by its ID, and several as a list', () => {
  expect(sentAsPlace({ either: [named('44', '1_44')] })).toEqual({ parents: '1_44' });
  expect(sentAsPlace({ either: [named('44', '1_44'), named('1_40'), named('9')] })).toEqual({
    parents: ['1_44', '1_40'],
    id: 9,
  });
  expect(sentAsPlace({ parents: [named('44', '1_44'), named('2')], id: [named('1000'), named('x')] })).toEqual({
    parents: ['1_44', '2'],
    id: [1000, 'x'],
  });
});
