import { test } from 'vitest';
import { type CandidateFacts, gradeCandidate, type Subject } from '../../src/domain/candidate-grade.js';
import { recordKey } from '../../src/domain/entity-key.js';
import { LedgerError } from '../../src/domain/errors.js';
import { mismatchInWords, readIdentityMismatch } from '../../src/domain/identity-mismatch.js';
import { parseRegistrationNumber } from '../../src/domain/numbers/parse.js';
import { parseVatNumber } from '../../src/domain/numbers/vat.js';
import { resolveLocation } from '../../src/domain/places/resolve-location.js';
import { suggestCountry } from '../../src/domain/places/suggest-country.js';
import { readSearchSubject } from '../../src/domain/search-subject.js';
import { expectGolden } from '../helpers/golden.js';

/** Reasons and evidence as a person reads them. Other tests assert codes, grades and numbers. */
const countries = ['UK?', '352', 'DE (zu prüfen)', 'FR (siège)', 'China (Taiwan)', 'Georgia (US)', 'Atlantis', ''];

test('a country that is not taken has a reason', async () => {
  await expectGolden(
    'countries',
    countries.map((text) => {
      const place = resolveLocation(text);
      return [text, place.ok ? '' : place.reason];
    }),
  );
});

test('a country that follows from a number has a reason', async () => {
  const numbers = [
    { vat_number: 'EL094259216' },
    { vat_number: 'CHE-107.787.577 MWST' },
    { registration_number: 'GB 00445790' },
  ];
  const reading = readSearchSubject({ name: 'Acme', country: 'FR', vat_number: 'DE136695976' });
  await expectGolden('country-from', [
    ...numbers.map((given): [string, string] => [JSON.stringify(given), suggestCountry(given)?.reason ?? '']),
    ['DE136695976 beside FR', reading.ok ? (reading.enquiry.subject.vatNumber?.reason ?? '') : ''],
  ]);
});

test('a grade has its evidence', async () => {
  const acme: CandidateFacts = {
    id: '1',
    name: 'Acme Trading Limited',
    registration_number: '01234567',
    vat_number: 'GB220430231',
    country_code: 'GB',
    state: null,
    jurisdiction: 'England and Wales',
  };
  const graded = (raw: string, rest: Partial<Subject>): string => {
    const subject = { countryCode: 'GB', registrationNumber: parseRegistrationNumber(raw, 'GB'), ...rest };
    return gradeCandidate(subject, acme).evidence.join('\n');
  };
  const vatNumber = parseVatNumber('GB 220 4302 31', 'GB');
  await expectGolden('evidence', [
    ['everything agrees', graded('01234567', { name: 'ACME Trading Ltd', vatNumber, state: 'England' })],
    ['a padded number', graded('1234567', { name: 'Acme Tradings Ltd' })],
    ['a cell that is no VAT number', graded('01234567', { vatNumber: parseVatNumber('siehe Rechnung', 'GB') })],
  ]);
});

test('an answer about another company shows how it differs', async () => {
  const confirmed = { id: 'DE|7', registration_number: 'HRB 1234', country_code: 'DE' };
  const records = [
    { registration_number: 'HRB 99', country_code: 'DE' },
    { registration_number: 'HRB 1234', country_code: 'AT' },
    { registration_number: null, country_code: 'DE' },
    { registration_number: 'HRB1234', country_code: 'DE' },
  ];
  await expectGolden(
    'mismatches',
    records.map((record) => [
      JSON.stringify(record),
      mismatchInWords(readIdentityMismatch(recordKey(confirmed, record))) ?? '',
    ]),
  );
});

test('an error of the machine names the next step', async () => {
  const codes = ['ENOSPC', 'EROFS', 'EACCES', 'SQLITE_CORRUPT', 'EIO'];
  await expectGolden(
    'machine',
    codes.map((code) => {
      const { message, hint } = new LedgerError(Object.assign(new Error('refused'), { code }), '/d/kybatch.db');
      return [code, `${message}\n${hint}`];
    }),
  );
});
