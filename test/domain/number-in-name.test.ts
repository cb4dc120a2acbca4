import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readNumberInName, readSearchSubject } from '../../src/domain/search-subject.js';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { property } from '../helpers/long.js';

const registry = createRegistry({ seed: 12 });

describe('a number after the name', () => {
  test.each([
    ['Acme Ltd (11247631)', 'GB', 'Acme Ltd', '11247631'],
    ['Acme Ltd [11247631]', 'GB', 'Acme Ltd', '11247631'],
    ['Acme Ltd, 11247631', 'GB', 'Acme Ltd', '11247631'],
    ['Acme Ltd - SC123456', 'GB', 'Acme Ltd', 'SC123456'],
    ['Acme Ltd – sc123456', 'GB', 'Acme Ltd', 'SC123456'],
    ['Acme Ltd / 11247631', 'GB', 'Acme Ltd', '11247631'],
    ['Acme Ltd | 11247631', 'GB', 'Acme Ltd', '11247631'],
    ['Acme Ltd (Company No. 11247631)', 'GB', 'Acme Ltd', '11247631'],
    ['Fund 11 Ltd (11247631)', 'GB', 'Fund 11 Ltd', '11247631'],
    ['Acme (UK) Ltd (11247631)', 'GB', 'Acme (UK) Ltd', '11247631'],
    ['Acme BV (KVK 12345678)', 'NL', 'Acme BV', '12345678'],
    ['Acme SAS (552 081 317)', 'FR', 'Acme SAS', '552081317'],
    ['Acme GmbH (HRB 42243, Amtsgericht München)', 'DE', 'Acme GmbH', 'HRB 42243'],
    ['Acme Ltd 11247631', 'GB', 'Acme Ltd', '11247631'],
    ['Acme Ltd No. 11247631', 'GB', 'Acme Ltd', '11247631'],
    ['Acme SAS 552 081 317', 'FR', 'Acme SAS', '552081317'],
    ['Acme UG (haftungsbeschränkt) Amtsgericht Düsseldorf HRA 1595', 'DE', 'Acme UG (haftungsbeschränkt)', 'HRA 1595'],
    ['Acme GmbH & Co. KG HRA 1595 Düsseldorf', 'DE', 'Acme GmbH & Co. KG', 'HRA 1595'],
    ['Acme GmbH AG Düsseldorf HRB 1595', 'DE', 'Acme GmbH', 'HRB 1595'],
    ['Acme AG Düsseldorf HRB 1595', 'DE', 'Acme AG', 'HRB 1595'],
    ['Acme GmbH, Amtsgericht München, HRB 42243', 'DE', 'Acme GmbH', 'HRB 42243'],
    ['Acme S.r.l. (MI-1005826)', 'IT', 'Acme S.r.l.', 'MI-1005826'],
    ['Acme S.r.l., REA MI-1000179', 'IT', 'Acme S.r.l.', 'MI-1000179'],
    ['Acme S.r.l. MI 1000179', 'IT', 'Acme S.r.l.', 'MI-1000179'],
    ['Acme Ltd (NZCN 1234567)', 'NZ', 'Acme Ltd', '1234567'],
    ['Acme SpA (R.E.A. MI-1005826)', 'IT', 'Acme SpA', 'MI-1005826'],
    ['Acme AG (CHE-107.787.577)', 'CH', 'Acme AG', 'CHE-107.787.577'],
    ['Acme GmbH & Co. KG (AG Düsseldorf HRA 554)', 'DE', 'Acme GmbH & Co. KG', 'HRA 554'],
    ['Acme GmbH [AG Köln, HRB 14256]', 'DE', 'Acme GmbH', 'HRB 14256'],
    ['Acme GmbH HRB 14256 (AG Köln)', 'DE', 'Acme GmbH', 'HRB 14256'],
    ['Acme GmbH (HRB 14256) Amtsgericht Köln', 'DE', 'Acme GmbH', 'HRB 14256'],
    ['Acme UG (haftungsbeschränkt) HRB 14256 (Amtsgericht Köln)', 'DE', 'Acme UG (haftungsbeschränkt)', 'HRB 14256'],
    ['Acme Werke - HRB 14256 (AG Köln)', 'DE', 'Acme Werke', 'HRB 14256'],
    ['Schmidt GmbH Holding AG HRB 12 Köln', 'DE', 'Schmidt GmbH Holding AG', 'HRB 12'],
    ['Acme AB (SE 556012-3456)', 'SE', 'Acme AB', '556012-3456'],
    ['Acme GmbH (HG Wien FN 123456a)', 'AT', 'Acme GmbH', 'FN 123456a'],
    ['Acme GmbH FN 123456a (HG Wien)', 'AT', 'Acme GmbH', 'FN 123456a'],
    ['Acme SARL 552 081 317 (RCS Paris)', 'FR', 'Acme SARL', '552081317'],
    ['Acme SA B123456 (RCS Luxembourg)', 'LU', 'Acme SA', 'B123456'],
    ['Acme SRL 0403.227.515 (RPM Bruxelles)', 'BE', 'Acme SRL', '0403227515'],
    ['Acme BV KvK 12345678 (Amsterdam)', 'NL', 'Acme BV', '12345678'],
    ['Acme Ltd 11247631 (England & Wales)', 'GB', 'Acme Ltd', '11247631'],
    ['Acme Sp. z o.o. KRS 0000123456 (SR Warszawa)', 'PL', 'Acme Sp. z o.o.', '0000123456'],
  ])('%s of %s', (text, country, name, canonical) => {
    const found = readNumberInName(text, country);
    expect(found).toMatchObject({ name, number: { canonical, treatment: 'needs_name' } });
    expect(found?.number.repairs[0]).toMatchObject({ rule: 'number_in_name', before: text });
  });

  test.each(['Acme GmbH (HRB 42243)', 'Acme GmbH, HRB 42243', 'Acme GmbH HRB 42243'])('%s lacks its court', (text) => {
    const number = { canonical: 'HRB 42243', treatment: 'review', lacksCourt: true };
    expect(readNumberInName(text, 'DE')).toMatchObject({ name: 'Acme GmbH', number });
  });

  test.each([
    ['Fund 11 GmbH', 'DE'],
    ['3M', 'US'],
    ['Studio 54 Ltd', 'GB'],
    ['Hotel 1900 (2019)', 'GB'],
    ['Hotel 1900 (2010-2019)', 'GB'],
    ['Hotel 1900 (20190131)', 'GB'],
    ['Hotel 1900, 2019', 'IE'],
    ['Acme GmbH HRB 683 (1)', 'DE'],
    ['Acme Ltd 11247631 (2)', 'GB'],
    ['Acme Ltd (445790)', 'GB'],
    ['Acme 11247631', 'GB'],
    ['Acme Ltd 20190131', 'GB'],
    ['Acme Ltd Unit 5 11247631', 'GB'],
    ['Acme-11247631', 'GB'],
    ['11247631', 'GB'],
    ['(11247631)', 'GB'],
    ['Acme SAS (552 081 318)', 'FR'],
    ['Acme GmbH 42243', 'DE'],
    ['Acme Inc. (1234567)', 'US'],
    ['Acme Ltd (formerly Beta Ltd)', 'GB'],
    ['Acme Ltd (11247631)', 'BM'],
    ['Acme S.r.l. (1005826)', 'IT'],
    ['Acme Ltd (1234567)', 'NZ'],
    ['Acme Ltd (11247631)', ''],
  ])('%s of %s is a name', (text, country) => {
    expect(readNumberInName(text, country)).toBeUndefined();
  });

  property('no company name is split', 2_000, (numRuns) => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: registry.size - 1 }), (index) => {
        const { name, countryCode, state } = registry.company(index);
        expect(readNumberInName(name, countryCode, state ?? undefined)).toBeUndefined();
      }),
      { numRuns },
    );
  });

  test('is no part of the name if it repeats the number of the row', () => {
    const name = 'Acme S.r.l. (MI-1005826)';
    const reading = readSearchSubject({ name, country: 'IT', registration_number: 'REA MI 1005826' });
    expect(reading).toMatchObject({
      enquiry: { subject: { name: 'Acme S.r.l.', registrationNumber: { canonical: 'MI-1005826' } } },
    });
  });

  test('is ignored if the row has its own number', () => {
    const reading = readSearchSubject({ name: 'Acme Ltd (11247631)', country: 'GB', registration_number: '00445790' });
    expect(reading).toMatchObject({
      enquiry: { subject: { name: 'Acme Ltd (11247631)', registrationNumber: { canonical: '00445790' } } },
    });
  });
});
