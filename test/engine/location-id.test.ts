import { describe, expect, test } from 'vitest';
import { gradeCandidate } from '../../src/domain/candidate-grade.js';
import { entityKey } from '../../src/domain/entity-key.js';
import { readSearchSubject } from '../../src/domain/search-subject.js';
import { pathOf } from '../../src/sandbox/registry/vocabularies.js';
import { long } from '../helpers/long.js';
import { present, wholeCompanies, withWorkshop } from './support.js';

describe('V1-15 a location ID as country neither confirms nor contradicts', () => {
  long('a row with number and name completes: the record, and v2 data by the country of the record', async () => {
    await withWorkshop({}, async ({ sandbox, open, work, rows }) => {
      const companies = wholeCompanies(sandbox, 3);
      const lines = companies.map(
        ({ name, countryCode, registrationNumber }) =>
          `,${name},${present(pathOf(countryCode))},${registrationNumber},`,
      );
      const run = await open(lines);
      await work(run);
      for (const row of await rows(run)) {
        expect(row).toMatchObject({ outcome: 'complete', errorCode: null, matchedOn: 'registration_number' });
        expect(row.matchGrade).toMatch(/^AA.Z/);
        expect(row.stages).toEqual({ record: 'done', financials: 'done', 'credit-report': 'done' });
      }
    });
  });

  test('a number alone is a review question, and continues after a decision', async () => {
    await withWorkshop({}, async ({ sandbox, ledger, open, work, rows }) => {
      const [company] = wholeCompanies(sandbox, 1);
      const { countryCode, registrationNumber } = present(company);
      const run = await open([`,,${present(pathOf(countryCode))},${registrationNumber},`]);
      await work(run);
      expect((await rows(run))[0]).toMatchObject({ outcome: 'needs_review', errorCode: 'NAME_NEEDED' });
      const { environmentId, entityKey: key, candidates, space, stage } = present((await ledger.review.questions())[0]);
      const candidateId = present(candidates[0]).id;
      const said = {
        decision: 'confirm',
        candidateId,
        decidedBy: 'me',
        decidedAt: 1,
        note: null,
        summary: '',
      } as const;
      await ledger.review.record({ ...said, shown: [candidateId], environmentId, entityKey: key, space, stage });
      await work(run);
      expect((await rows(run))[0]).toMatchObject({ outcome: 'complete', matchedOn: 'review' });
    });
  });

  test('credit reports are searched by country: without one the row reports what is missing', async () => {
    await withWorkshop({ pipeline: { stages: ['credit-report'] } }, async ({ sandbox, open, work, rows }) => {
      const [company] = wholeCompanies(sandbox, 1);
      const { name, countryCode, registrationNumber } = present(company);
      const run = await open([`,${name},${present(pathOf(countryCode))},${registrationNumber},`]);
      await work(run);
      expect((await rows(run))[0]).toMatchObject({ outcome: 'no_match', errorCode: 'COUNTRY_NEEDED' });
    });
  });

  test('numbers are parsed by the candidate’s country, and two locations are two questions', () => {
    const enquiryOf = (country: string) => {
      const reading = readSearchSubject({ name: 'Acme B.V.', country, registration_number: 'KvK 1234567' });
      if (!reading.ok) throw new Error(reading.message);
      return reading.enquiry.subject;
    };
    const candidate = {
      id: '1',
      name: 'Acme B.V.',
      registration_number: '01234567',
      vat_number: null,
      country_code: 'NL',
      state: null,
      jurisdiction: null,
    };
    expect(gradeCandidate(enquiryOf('1_48'), candidate)).toMatchObject({ grade: 'BAZZZ', needsName: true });
    expect(entityKey(enquiryOf('1_48'))).not.toBe(entityKey(enquiryOf('1_49')));
  });
});
