import { expect, test } from 'vitest';
import { readNotification } from '../../src/portfolio/watch/inbox.js';
import { flatFinancialsReader } from '../../src/readers/flat-financials.js';
import { recordReader } from '../../src/readers/record.js';
import { answer, read } from './support.js';

/** An answer stored by a version without this check. */
test.each([
  ['a record', recordReader, 'fullKyb', '{"lite":{"id":1,"name":"A"},"lite":{"id":2,"name":"B"}}'],
  [
    'a repeated name with an escape',
    recordReader,
    'fullKyb',
    '{"lite":{"id":1,"name":"A"},"\\u006cite":{"id":2,"name":"B"}}',
  ],
  ['figures', flatFinancialsReader, 'financial', '{"2020":{"T":1},"2020":{"T":2}}'],
  ['an indicator', flatFinancialsReader, 'financial', '{"2020":{"T":1,"\\u0054":2}}'],
  ['figures that are no JSON', flatFinancialsReader, 'financial', '{"2019":{"T":1},"2020":{"T":Infinity}}'],
])('X-5 %s with a repeated member fills no table and is reported', (_, reader, operation, body) => {
  const out = read(reader, [answer(operation, body)]);
  expect([...out.rows.values()].flat().filter((row) => row.name != null || row.value != null)).toEqual([]);
  expect(out.issues).toMatchObject([{ pointer: '', expected: 'JSON' }]);
});

test('X-5 a callback that names two companies names none', () => {
  expect(readNotification(Buffer.from('{"company_data":{"id":"1"}}'))?.companyId).toBe('1');
  expect(readNotification(Buffer.from('{"company_data":{"id":"1","\\u0069d":"2"}}'))).toBeUndefined();
  expect(readNotification(Buffer.from('{"company_data":{"id":"1"},"company_data":{"id":"2"}}'))).toBeUndefined();
});
