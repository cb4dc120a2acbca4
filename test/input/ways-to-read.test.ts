import { expect, test } from 'vitest';
import { ColumnsUnclearError } from '../../src/input/decide-columns.js';
import type { ColumnDoubt, InputField } from '../../src/input/types.js';

const doubt = (field: InputField, ...headers: readonly string[]): ColumnDoubt => ({
  field,
  code: 'SEVERAL_COLUMNS',
  reason: 'because',
  choices: headers.map((header, source) => ({ source, header, samples: [], flag: `${field}=${header}` })),
});

test.each<[string, readonly ColumnDoubt[], readonly (readonly string[])[]]>([
  ['one likely column each: one way', [doubt('name', 'A'), doubt('country')], [['name=A', 'country=']]],
  [
    'two that are as likely: a way for each',
    [doubt('country', 'C'), doubt('name', 'A', 'B')],
    [
      ['country=C', 'name=A'],
      ['country=C', 'name=B'],
    ],
  ],
  [
    'two such fields: each choice of one with each of the other',
    [doubt('name', 'A', 'B'), doubt('country', 'C', 'D')],
    [
      ['name=A', 'country=C'],
      ['name=A', 'country=D'],
      ['name=B', 'country=C'],
      ['name=B', 'country=D'],
    ],
  ],
  [
    'more than four readings: choices at one position are combined, so that no command is refused again',
    [doubt('name', 'A', 'B', 'C'), doubt('country', 'D', 'E', 'F')],
    [
      ['name=A', 'country=D'],
      ['name=B', 'country=E'],
      ['name=C', 'country=F'],
    ],
  ],
  [
    'two columns with each other’s header are combined',
    [doubt('registration_number', 'VAT', 'HRB'), doubt('vat_number', 'HRB', 'VAT')],
    [
      ['registration_number=VAT', 'vat_number=HRB'],
      ['registration_number=HRB', 'vat_number=VAT'],
    ],
  ],
])('%s', (_, doubts, ways) => {
  expect(new ColumnsUnclearError('in.csv', doubts).ways).toEqual(ways);
});
