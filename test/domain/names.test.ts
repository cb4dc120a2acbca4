import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gradeCandidate } from '../../src/domain/candidate-grade.js';
import { nameSimilarity, normaliseName } from '../../src/domain/names/similarity.js';

/** The name's letter, the second of a grade. */
const nameGrade = (ours: string | undefined, theirs: string | null) => {
  const nothingElse = { registration_number: null, vat_number: null, country_code: null, state: null };
  const candidate = { id: '1', name: theirs, jurisdiction: null, ...nothingElse };
  return gradeCandidate({ countryCode: 'GB', ...(ours === undefined ? {} : { name: ours }) }, candidate).grade[1];
};

test.each([
  ['SA Dupont', 'Dupont SA', 'FR', 100],
  ['GmbH Müller', 'Müller GmbH', 'DE', 100],
  ['ООО Ромашка', 'Ромашка', 'RU', 100],
  ['PT Astra', 'Astra Tbk', 'ID', 100],
  // In these countries the word is a part of the name.
  ['SA Power Networks', 'Power Networks', 'AU', 70],
  ['AS Roma', 'Roma', 'IT', 70],
])('a legal form in front counts if the country has it: %s, %s, %s', (a, b, country, score) => {
  expect(nameSimilarity(a, b, country)).toBe(score);
});

describe('normalised names', () => {
  test.each([
    ['ACME Limited', 'acme'],
    ['Acme Ltd.', 'acme'],
    ['The Acme Company Limited', 'acme'],
    ['Müller GmbH', 'muller'],
    ['Nordwind Energie GmbH & Co. KG', 'nordwind energie'],
    ['Nordwind Energie GmbH & Co KG', 'nordwind energie'],
    ['Kraftwerk Gesellschaft m.b.H.', 'kraftwerk'],
    ['Start UG (haftungsbeschränkt)', 'start'],
    ['Dupont S.à r.l.', 'dupont'],
    ['Dupont S. à r. l.', 'dupont'],
    ['SARL Dupont', 'dupont'],
    ['Dupont SAS', 'dupont'],
    ['Rossi S.p.A.', 'rossi'],
    ['Rossi S.r.l. unipersonale', 'rossi'],
    ['Kowalski Sp. z o.o.', 'kowalski'],
    ['Kowalski sp. z o. o. sp. k.', 'kowalski'],
    ['Hansen A/S', 'hansen'],
    ['Hansen ApS', 'hansen'],
    ['Virtanen Oy', 'virtanen'],
    ['Svensson AB (publ)', 'svensson'],
    ['AB Volvo', 'volvo'],
    ['García S.L.U.', 'garcia'],
    ['Acme, Inc.', 'acme'],
    ['Acme L.L.C.', 'acme'],
    ['Acme Pty. Ltd.', 'acme'],
    ['Acme Pte. Ltd.', 'acme'],
    ['Novák s.r.o.', 'novak'],
    ['Bakker B.V.', 'bakker'],
    ['北京星光科技有限公司', '北京星光科技'],
    ['株式会社日本商事', '日本商事'],
    ['כוכב בע"מ', 'כוכב'],
    ['J. P. Morgan & Co.', 'jp morgan co'],
    ['Ｆｕｌｌ Ｗｉｄｔｈ Ltd', 'full width'],
    ["O'Brien's Bakery DAC", 'obriens bakery'],
    ['GmbH', 'gmbh'],
  ])('%s reads "%s"', (name, plain) => {
    expect(normaliseName(name)).toBe(plain);
  });

  test('umlauts are transcribed as the country does', () => {
    expect(normaliseName('Müller Bäder GmbH', 'DE')).toBe('mueller baeder');
    expect(normaliseName('Mueller Baeder GmbH', 'DE')).toBe('mueller baeder');
  });

  test('normalising twice changes nothing', () => {
    const word = fc.constantFrom('Acme', 'Ltd', 'GmbH', '&', 'Co.', 'KG', 'Søn', 'S.A.', '12', 'II', 'the', 'Müller');
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        const name = `Zenit ${words.join(' ')}`;
        expect(nameSimilarity(name, normaliseName(name))).toBeGreaterThanOrEqual(100);
      }),
    );
  });
});

describe('names that agree', () => {
  test.each([
    ['Acme Ltd', 'ACME LIMITED', 'A'],
    ['Müller GmbH', 'Mueller GmbH', 'A'],
    ['Muller GmbH', 'Müller GmbH', 'A'],
    ['Data Works Ltd', 'Dataworks Ltd', 'A'],
    ['Nordwind Energie', 'Nordwind Energie GmbH', 'A'],
    ['Smith & Jones Ltd', 'Smith and Jones Limited', 'A'],
    ['JP Morgan', 'J. P. Morgan', 'A'],
    ['Acme Trading Limted', 'Acme Trading Limited', 'A'],
    ['Fund 01 GmbH', 'Fund 1 GmbH', 'A'],
    ['Fotographic Studio Ltd', 'Photographic Studio Ltd', 'B'],
    ['Nordwind Energei GmbH', 'Nordwind Energie GmbH', 'B'],
    ['Acme Logistics Ltd', 'Acme Logistics PLC', 'B'],
    ['Logistics Acme', 'Acme Logistics Ltd', 'B'],
  ])('%s and %s: %s', (a, b, letter) => {
    expect(nameGrade(a, b)).toBe(letter);
    expect(nameGrade(b, a)).toBe(letter);
  });
});

describe('names that do not agree', () => {
  test.each([
    ['Acme', 'Acme Holdings Group Services Limited'],
    ['Fund 11 GmbH', 'Fund 12 GmbH'],
    ['Real Estate Fund II LP', 'Real Estate Fund III LP'],
    ['Real Estate Fund I LP', 'Real Estate Fund II LP'],
    ['Wohnpark Block A GmbH', 'Wohnpark Block E GmbH'],
    ['Alpha Logistics Ltd', 'Beta Logistics Ltd'],
    ['International Business Machines', 'International Business Machines Holdings'],
    ['Siemens AG', 'Siemens Energy AG'],
    ['Nordwind GmbH', 'Nordwind GmbH & Co. KG'],
    ['ABC Trading', 'ABD Trading'],
    ['北京星光科技有限公司', '北京星辰科技有限公司'],
    ['Ltd', 'GmbH'],
  ])('%s and %s', (a, b) => {
    expect(nameGrade(a, b)).toBe('F');
    expect(nameGrade(b, a)).toBe('F');
    expect(nameSimilarity(a, b)).toBeLessThan(85);
  });

  test.each([
    [undefined, 'Acme'],
    ['Acme', null],
    ['', 'Acme'],
    ['  ', 'Acme'],
    ['Acme', ''],
    ['Acme', '  '],
  ])('%s and %s cannot be compared', (a, b) => {
    expect(nameGrade(a, b)).toBe('Z');
  });

  test('similarity is symmetric and stays between 0 and 100', () => {
    const name = fc.array(
      fc.constantFrom('Acme', 'Alpha', 'Fund', '11', 'II', 'GmbH', 'Energie', 'Energy', 'und', 'A'),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(name, name, (left, right) => {
        const [a, b] = [left.join(' '), right.join(' ')];
        const score = nameSimilarity(a, b);
        expect(score).toBe(nameSimilarity(b, a));
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(100);
        expect(nameSimilarity(a, a)).toBe(100);
      }),
    );
  });
});
