import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flatFinancialsTable, readParsed, scanFlat } from '../../src/readers/flat-financials.js';
import { ReaderOutput } from '../../src/readers/reader.js';
import { anyCharacter } from '../helpers/any-text.js';
import { property } from '../helpers/long.js';
import { answer } from './support.js';

const theLongWay = (body: string) => {
  const out = new ReaderOutput();
  readParsed(answer('financial', body), '9', out);
  return { rows: out.rowsOf(flatFinancialsTable), issues: out.issues };
};

const key = fc.oneof(fc.constantFrom('Turnover', 'Cash', 'a', 'ü'), fc.string({ unit: anyCharacter, maxLength: 8 }));
const scalar = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.10',
    '-5.20',
    '01',
    '1.',
    '.5',
    '1e5',
    '-',
    'null',
    'true',
    '[1]',
    '{}',
    '12345678901234567890.10',
  ),
  fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text)),
);
const member = (value: fc.Arbitrary<string>) =>
  fc.tuple(key, value).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
const object = (members: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.array(members, { maxLength: 6 }), fc.constantFrom(',', ', ', ',,'))
    .map(([list, comma]) => `{${list.join(comma)}}`);
const body = object(member(fc.oneof({ weight: 9, arbitrary: object(member(scalar)) }, scalar)));

property("the scan of bytes gives the parser's result, and nothing that the parser refuses", 2_000, (numRuns) => {
  fc.assert(
    fc.property(body, fc.constantFrom('', ' ', 'x'), (text, tail) => {
      const scanned = scanFlat(Buffer.from(text + tail), '9');
      if (scanned === undefined) return;
      const { rows, issues } = theLongWay(text + tail);
      expect(scanned).toEqual(rows);
      expect(issues).toEqual([]);
    }),
    { numRuns },
  );
});

test('the usual form is scanned', () => {
  const usual = '{"2024":{"Turnover":-5.20,"Cash":null,"Note":"ü"},"2023":{"Turnover":12345678901234567890.10}}';
  expect(scanFlat(Buffer.from(usual), '9')).toEqual(theLongWay(usual).rows);
  expect(scanFlat(Buffer.from('{}'), '9')).toEqual([]);
  for (const other of ['{"2024":{"a":1,"a":2}}', '{"2024":null}', '{"2024":{"a":1}', '[]', '{"2024":{"a":01}}', '{\n}'])
    expect(scanFlat(Buffer.from(other), '9')).toBeUndefined();
});
