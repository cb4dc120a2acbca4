import { expect, test } from 'vitest';
import { recordKey } from '../../src/domain/entity-key.js';
import { gradeOfBought, readIdentityMismatch } from '../../src/domain/identity-mismatch.js';

const confirmed = { id: 'DE|7', registration_number: 'HRB 1234', country_code: 'DE' };

test.each([
  [{ registration_number: 'HRB 99', country_code: 'DE' }, 'FAZAZ'],
  [{ registration_number: 'HRB 1234', country_code: 'AT' }, 'AAZFZ'],
  [{ registration_number: null, country_code: 'DE' }, 'ZAZAZ'],
  [{ registration_number: 'HRB1234', country_code: 'DE' }, 'AAZAZ'],
])('a record with %j is graded %s', (record, grade) => {
  const odd = readIdentityMismatch(recordKey(confirmed, record));
  expect(odd && gradeOfBought('AAZAZ', odd)).toBe(grade);
});

test.each(['DE|number:HRB1234@koln|name:acme [x]', 'record|7|[1', 'report|c|[]', ''])(
  '%j is not the key of an answer',
  (key) => expect(readIdentityMismatch(key)).toBeUndefined(),
);
