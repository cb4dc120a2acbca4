import { expect, test } from 'vitest';
import { formerName, gradeShown } from '../../src/export/company-at-a-glance.js';
import type { RowQuestion } from '../../src/ledger/answers/snapshot.js';

const ACCEPTED: RowQuestion = {
  space: 'v1',
  stage: 'record',
  environmentId: 1,
  entityKey: 'record|77|["SE","559254-9256","SE","556254-9328"]',
  answered: 1,
  decision: 'confirm',
  decidedBy: 'Anna',
  secondBy: null,
  candidateId: '77',
  name: 'Granvik AB',
  grade: 'AAAAZ',
  candidates: 0,
  correction: null,
};

const ROW = {
  matchGrade: 'AAAAZ',
  ids: { v1: '77', v2: '9' },
  fields: { name: 'Granvik AB', country: 'SE', registration_number: '559254-9256' },
  questions: [ACCEPTED],
};
const RECORD = { name: 'Granvik AB', registrationNumber: '556254-9328', country: 'SE', register: null };

test.each<readonly [string, string | null, Partial<typeof ROW>, Partial<typeof RECORD>]>([
  ['of the record that was accepted with another number', 'FAAAZ', {}, {}],
  ['that has another name', 'FFAAZ', {}, { name: 'Somebody Else Entirely AB' }],
  [
    'that has the number of the list, if the search had another',
    'AAAAZ',
    { matchGrade: 'FAAAZ', fields: { ...ROW.fields, registration_number: '556254-9328' } },
    {},
  ],
  [
    'of the search, while the record is in question',
    'AAAAZ',
    { questions: [{ ...ACCEPTED, answered: 0, decision: null }] },
    { registrationNumber: '559254-9256' },
  ],
  [
    'of the search, if the record was refused',
    'AAAAZ',
    { questions: [{ ...ACCEPTED, decision: 'none_of_these' }] },
    { registrationNumber: '559254-9256' },
  ],
  ['of the shown match, if another record came later', 'AAAAZ', {}, { registrationNumber: '559254-9256' }],
  [
    'of the search, if the accepted record has no number and the search’s number is shown',
    'AAAAZ',
    { questions: [{ ...ACCEPTED, entityKey: 'record|77|["SE","559254-9256","SE",null]' }] },
    { registrationNumber: '559254-9256' },
  ],
  [
    'of v1, if a report was accepted',
    'AAAAZ',
    { questions: [{ ...ACCEPTED, space: 'credit', stage: 'credit-report' }] },
    { registrationNumber: '559254-9256' },
  ],
])('the grade is that %s', (_, grade, row, shown) => {
  expect(gradeShown({ ...ROW, ...row }, { ...RECORD, ...shown })).toBe(grade);
});

test('a renamed company has the grade of its present name, and its old name is known', () => {
  const row = {
    ...ROW,
    questions: [],
    confirmed: { name: 'Granvik AB', registrationNumber: null, countryCode: 'SE', register: null },
  };
  const today = { ...RECORD, name: 'Nordvik Holding AB' };
  expect(formerName(row, today)).toBe('Granvik AB');
  expect(gradeShown(row, today, true)).toBe('AFAAZ');
  expect(formerName(row, { ...RECORD, name: 'GRANVIK Aktiebolag' })).toBeUndefined();
});

test('a row that was never graded has no grade', () => {
  expect(gradeShown({ ...ROW, matchGrade: null }, RECORD)).toBeNull();
});
