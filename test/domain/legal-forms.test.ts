import { describe, expect, test } from 'vitest';
import { haveDifferentForms, nameSimilarity } from '../../src/domain/names/similarity.js';

describe('several forms in a row are each compared', () => {
  test.each([
    ['Ravenley Foundation Limited', 'Ravenley Limited', 'GB'],
    ['Ravenley Stiftung GmbH', 'Ravenley GmbH', 'DE'],
    ['Stichting Ravenley B.V.', 'Ravenley B.V.', 'NL'],
    ['Ravenley KG GmbH', 'Ravenley GmbH', 'DE'],
    ['Ravenley eG GmbH', 'Ravenley GmbH', 'DE'],
    ['Ravenley EU GmbH', 'Ravenley GmbH', 'DE'],
    ['Ravenley SE AG', 'Ravenley AG', 'DE'],
    ['Ravenley LLP Limited', 'Ravenley Limited', 'GB'],
    ['Ravenley PLC Ltd', 'Ravenley Ltd', 'GB'],
    ['Ravenley SCI SARL', 'Ravenley SARL', 'FR'],
    ['Ravenley C.V. N.V.', 'Ravenley N.V.', 'NL'],
    ['Ravenley AG & Co. KGaA', 'Ravenley GmbH & Co. KG', 'DE'],
    ['Ravenley Stiftung & Co. KG', 'Ravenley GmbH & Co. KG', 'DE'],
  ])('%s is not %s', (a, b, country) => {
    expect(haveDifferentForms(a, b, country)).toBe(true);
    expect(haveDifferentForms(b, a, country)).toBe(true);
    expect(nameSimilarity(a, b)).toBeLessThan(100);
  });

  test.each([
    ['Ravenley GmbH & Co. KG', 'Ravenley GmbH & Co KG', 'DE'],
    ['Ravenley GmbH & Co. KG', 'Ravenley Gesellschaft mit beschränkter Haftung & Co. KG', 'DE'],
    ['Ravenley GmbH & Co. KG', 'Ravenley mbH + Co. KG', 'DE'],
    ['Ravenley UG (haftungsbeschränkt) & Co. KG', 'Ravenley UG & Co. KG', 'DE'],
    ['Ravenley AG & Co. KGaA', 'RAVENLEY AG & CO KGAA', 'DE'],
    ['Ravenley Gesellschft mbH', 'Ravenley GmbH', 'DE'],
    ['Ravenley Co., Ltd.', 'Ravenley Company Limited', 'GB'],
    ['Ravenley Ltd Ltd', 'Ravenley Limited', 'GB'],
    ['Ravenley Limted', 'Ravenley Limited', 'GB'],
    ['Oy Ravenley Ab', 'Ravenley Oy', 'FI'],
    ['SARL Ravenley', 'Ravenley SARL', 'FR'],
    ['Ravenley SA/NV', 'Ravenley NV', 'BE'],
    ['PT Ravenley Tbk', 'PT Ravenley', 'ID'],
  ])('%s is %s', (a, b, country) => {
    expect(haveDifferentForms(a, b, country)).toBe(false);
  });
});

describe('every form that is removed is compared as a form', () => {
  test.each([
    ...['B.V.', 'AG', 'BV', 'SA', 'N.V.', 'GmbH', 'Ltd', 'Inc.'].flatMap((form) =>
      ['NL', 'CH', 'BE', 'FR', 'DE', 'GB'].flatMap((country) =>
        ['Stichting Ravenley', 'Ravenley Stichting', 'Ravenley Stiftung', 'Ravenley Foundation'].map(
          (name) => [name, `Ravenley ${form}`, country] as const,
        ),
      ),
    ),
    ['Ravenley Inc.', 'Ravenley AG', 'DE'],
    ['Ravenley Ltd', 'Ravenley AG', 'DE'],
    ['Ravenley Limted', 'Ravenley AG', 'DE'],
    ['Ravenley PLC', 'Ravenley GmbH', 'DE'],
    ['Ravenley Ltd', 'Ravenley PLC', 'DE'],
    ['Ravenley LLP', 'Ravenley GmbH', 'DE'],
    ['ラベン株式会社', 'ラベン合同会社', 'JP'],
    ['雷文股份有限公司', '雷文有限公司', 'CN'],
  ] as const)('%s is not %s in %s', (a, b, country) => {
    expect(haveDifferentForms(a, b, country)).toBe(true);
    expect(haveDifferentForms(b, a, country)).toBe(true);
  });

  test.each([
    ['Ravenley Ltd', 'Ravenley GmbH', 'DE'],
    ['Ravenley Limited', 'Ravenley SARL', 'FR'],
    ['Ravenley Ltd', 'Ravenley B.V.', 'NL'],
    ['Ravenley PLC', 'Ravenley AG', 'DE'],
    ['Ravenley PLC', 'Ravenley N.V.', 'NL'],
    ['Ravenley Co., Ltd.', 'Ravenley 有限公司', 'HK'],
    ['Ravenley Inc.', 'Ravenley 株式会社', 'JP'],
  ])('%s may be the translation of %s in %s', (a, b, country) => {
    expect(haveDifferentForms(a, b, country)).toBe(false);
  });
});

/** Ways to write one form: with and without points, spaces and the word for "&". */
const SPELLINGS: readonly (readonly [country: string, spellings: readonly string[]])[] = [
  [
    'DE',
    ['GmbH & Co. KG', 'GmbH und Co. KG', 'GmbH u. Co. KG', 'GmbH u Co KG', 'GmbH&Co KG', 'GmbH u.Co.KG', 'mbH + Co KG'],
  ],
  ['AT', ['Ges.m.b.H.', 'GesmbH', 'Ges. m. b. H.', 'Ges.mbH', 'GmbH']],
  [
    'PL',
    [
      'Sp. z o.o.',
      'Sp.z o.o.',
      'Sp.z o. o.',
      'Sp. z o. o.',
      'Sp.z.o.o.',
      'Spółka z o. o.',
      'Spółka z o.o.',
      'sp.zo.o.',
    ],
  ],
  ['CZ', ['s.r.o.', 's. r. o.', 's r.o.', 'spol. s r.o.', 'spol.s r.o.', 'spol. s r. o.', 'spol.s.r.o.']],
  ['IT', ['S.r.l.', 'S. r. l.', 'Srl', 'Srl Unip.', 'Srl unipersonale']],
  ['FR', ['S.A.R.L.', 'S. à r. l.', 'Sàrl', 'S.à r.l.', 'SARL']],
  ['NL', ['Coöperatie U.A.', 'Coop. UA', 'Coöperatie UA']],
];

test.each(
  SPELLINGS.flatMap(([country, [usual = '', ...others]]) => others.map((other) => [country, usual, other] as const)),
)('in %s "%s" is also written "%s"', (country, usual, other) => {
  expect(nameSimilarity(`Ravenley ${usual}`, `Ravenley ${other}`, country)).toBe(100);
  expect(haveDifferentForms(`Ravenley ${usual}`, `Ravenley ${other}`, country)).toBe(false);
});
