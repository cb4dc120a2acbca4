import { expect, test } from 'vitest';
import { recordKey } from '../../src/domain/entity-key.js';
import { gradeOfBought, mismatchInWords, readIdentityMismatch } from '../../src/domain/identity-mismatch.js';

const confirmed = { id: 'DE|7', registration_number: 'HRB 1234', country_code: 'DE' };

test.each([
  [{ registration_number: 'HRB 99', country_code: 'DE' }, 'has number HRB 99', 'FAZAZ'],
  [{ registration_number: 'HRB 1234', country_code: 'AT' }, 'is of AT', 'AAZFZ'],
  [{ registration_number: null, country_code: 'DE' }, 'has no number', 'ZAZAZ'],
  [{ registration_number: 'HRB1234', country_code: 'DE' }, 'names another company', 'AAZAZ'],
])('a record with %j %s', (record, words, grade) => {
  const odd = readIdentityMismatch(recordKey(confirmed, record));
  expect(mismatchInWords(odd)).toBe(words);
  expect(odd && gradeOfBought('AAZAZ', odd)).toBe(grade);
});

test.each(['DE|number:HRB1234@koln|name:acme [x]', 'record|7|[1', 'report|c|[]', ''])(
  '%j is not the key of an answer',
  (key) => expect(readIdentityMismatch(key)).toBeUndefined(),
);
