import { describe, expect, test } from 'vitest';
import { compareNames, gradeCandidate } from '../../src/domain/candidate-grade.js';
import { namesWithoutDecorations } from '../../src/domain/names/decorations.js';
import { haveDifferentForms } from '../../src/domain/names/similarity.js';
import { readSearchSubject } from '../../src/domain/search-subject.js';

describe('additions to a name', () => {
  test.each([
    ['Muster GmbH Niederlassung Leipzig', 'Muster GmbH'],
    ['Muster GmbH, Zweigniederlassung Köln', 'Muster GmbH'],
    ['Acme plc - London Branch', 'Acme plc'],
    ['Acme plc London branch office', 'Acme plc'],
    ['Neu GmbH (vormals Alt GmbH)', 'Neu GmbH'],
    ['Neu GmbH vorm. Alt AG', 'Neu GmbH'],
    ['Alt GmbH, jetzt: Neu GmbH', 'Neu GmbH'],
    ['Alt GmbH (jetzt Neu GmbH)', 'Neu GmbH'],
    ['Acme Ltd formerly known as Widgets Ltd', 'Acme Ltd'],
    ['Acme Ltd t/a The Widget Shop', 'Acme Ltd'],
    ['Dupont SARL (anciennement Durand SARL)', 'Dupont SARL'],
    ['Muster GmbH, Hauptstr. 5, 04109 Leipzig', 'Muster GmbH'],
    ['Acme Ltd, 12 High Street, London', 'Acme Ltd'],
    ['Muster GmbH - 04109 Leipzig', 'Muster GmbH'],
    ['Muster GmbH i.L.', 'Muster GmbH'],
    ['In liquidation: Muster GmbH', 'Muster GmbH'],
    ['i.L. – Muster GmbH', 'Muster GmbH'],
    ['(en liquidation) Muster SA', 'Muster SA'],
    ['Muster GmbH (in Liquidation)', 'Muster GmbH'],
    ['Muster GmbH i. L. (vormals Alt GmbH)', 'Muster GmbH'],
    ['Acme Ltd (in liquidation), c/o Baker & Partners', 'Acme Ltd'],
    ['Rossi S.r.l. in liquidazione', 'Rossi S.r.l.'],
    ['Muster GmbH z. Hd. Frau Koch', 'Muster GmbH'],
    ['Acme Ltd, attn: Accounts', 'Acme Ltd'],
    ['Muster GmbH Niederlassung Bautzen', 'Muster GmbH'],
    ['Fa. Muster GmbH', 'Muster GmbH'],
    ['Firma Muster GmbH, Hauptstr. 5, 04109 Leipzig', 'Muster GmbH'],
    ['Spett.le Rossi S.r.l.', 'Rossi S.r.l.'],
    ['Messrs. Acme Ltd', 'Acme Ltd'],
    ['M/s Acme Ltd', 'Acme Ltd'],
    ['Muster GmbH / Buchhaltung', 'Muster GmbH'],
    ['Acme Ltd - Accounts payable', 'Acme Ltd'],
    ['Muster GmbH Niederlassung Kältetechnik', 'Muster GmbH'],
  ])('%s contains the name %s', (cell, name) => {
    expect(namesWithoutDecorations(cell).map((one) => one.name)).toContain(name);
  });

  test.each([
    'Acme Ltd',
    'Branch Metrics Inc',
    'New Look Ltd',
    'Now TV Ltd',
    'Fund 12, 2005 LP',
    'Ex Libris GmbH',
    'Via Varejo S/A',
    'Ravenley Supply East Branch Properties Ltd',
    'Ravenley - Branch Finance Limited',
    'Ravenley Niederlassung Holding AG',
    'Ravenley Niederlassung Holding',
    'Ravenley Zweigstelle Service GmbH',
    'Ravenley Filiale Immobilienverwaltung GmbH',
    'Ravenley Niederlassung Leipzig GmbH',
    'Ravenley Branch Ltd',
    'Ravenley Niederlassung Kältetechnik',
    'Ravenley Filiale Möbelhandel',
    'Ravenley Filiale Maschinenbau GmbH',
    'c/o Ravenley Ltd',
    'Partners in Administration Ltd',
    'Muster Buchhaltung GmbH',
    'Muster - Buchhaltung GmbH',
    'Muster-Buchhaltung',
    'Fabrik Muster GmbH',
    'Firmament Ltd',
  ])('%s contains no other name', (cell) => expect(namesWithoutDecorations(cell)).toEqual([]));

  test.each([
    ['Muster GmbH Niederlassung Leipzig', 'Muster GmbH', 'A'],
    ['Alt GmbH, jetzt: Neu GmbH', 'Neu GmbH', 'A'],
    ['Baeckerei Mueller UG (haftungsbeschraenkt)', 'Bäckerei Müller UG (haftungsbeschränkt)', 'A'],
    ['Muster GmbH Niederlassung Leipzig', 'Fremd GmbH', 'F'],
    ['Muster East Branch Properties Ltd', 'Muster East, Ltd', 'F'],
    ['Muster Niederlassung Holding AG', 'Muster AG', 'F'],
    ['Muster Finance Branch', 'Muster Ltd', 'F'],
    ['Ganz Anders GmbH (vormals Muster GmbH)', 'Muster GmbH', 'B'],
    ['Ganz Anders GmbH t/a Muster', 'Muster GmbH', 'B'],
    ...['t/a', '(t/a', 'T/A', 'trading as', 'dba', 'd/b/a', 'doing business as', 'aka'].flatMap((words) => [
      [`Ganz Anders GmbH ${words} Muster GmbH`, 'Muster GmbH', 'F'],
      [`Ganz Anders ${words} Muster GmbH, Hauptstr. 5, 04109 Leipzig`, 'Muster GmbH', 'F'],
      [`Muster GmbH ${words} Ganz Anders GmbH`, 'Muster GmbH', 'A'],
      [`Ganz Anders GmbH ${words} Muster`, 'Muster GmbH', 'B'],
    ]),
    ...['vormals', 'formerly', 'fka', 'anciennement'].map((words) => [
      `Ganz Anders GmbH ${words} Muster GmbH`,
      'Muster GmbH',
      'B',
    ]),
    ['Ganz Anders GmbH t/a Muster AG, vormals Alt GmbH', 'Alt GmbH', 'B'],
    ['Alt GmbH, jetzt: Neu GmbH', 'Alt GmbH', 'B'],
    ['Muster GmbH (vormals Schmidt AG)', 'Muster GmbH', 'A'],
    ['Muster GmbH i.L.', 'Muster GmbH', 'A'],
    ['In Liquidation: Muster GmbH', 'Muster GmbH', 'A'],
    ['Muster GmbH', 'Muster GmbH (in Liquidation)', 'A'],
    ['Muster GmbH', 'In liquidation: Muster GmbH', 'A'],
    ['Muster GmbH', 'Muster GmbH i. L.', 'A'],
    ['Muster GmbH i.L.', 'Muster GmbH in Liquidation', 'A'],
    ['Muster AG c/o Fremd GmbH', 'Fremd GmbH', 'F'],
    ['Muster Niederlassung Leipzig', 'Muster GmbH', 'B'],
    ['M?ller Bau GmbH', 'Müller Bau GmbH', 'B'],
    ['M?ller Bau GmbH', 'Mueller Bau GmbH', 'B'],
    ['M?ller Bau GmbH', 'Miller Bau GmbH', 'F'],
    ['M?ller Bau GmbH', 'Müller Tiefbau GmbH', 'F'],
    ['MÃ¼ller StraÃŸenbau GmbH i.L.', 'Müller Straßenbau GmbH', 'B'],
    ['Ĺ»abka Polska Sp. z o.o.', 'Żabka Polska Sp. z o.o.', 'B'],
    ['SzkÅ‚opol Sp. z o.o.', 'Szkłopol Sp. z o.o.', 'B'],
    ['Ã…svik AS', 'Åsvik AS', 'B'],
    ['Ã…svik AS', 'Ösvik AS', 'F'],
    ['\u041custer \u0412au GmbH', 'Muster Bau GmbH', 'B'],
    ['\u041custer \u0412au GmbH', 'Master Tiefbau GmbH', 'F'],
    ['MÃ¼ller Bau GmbH', 'Möller Bau GmbH', 'B'],
  ])('V1-21 %s against %s: %s', (name = '', theirs = '', letter = '') => {
    const reading = readSearchSubject({ name, country: 'DE', registration_number: 'Amtsgericht Köln HRB 317' });
    if (!reading.ok) throw new Error(reading.message);
    const facts = { id: '1', vat_number: null, country_code: 'DE', state: null, jurisdiction: null };
    const candidate = { ...facts, name: theirs, registration_number: 'Köln HRB 317' };
    expect(gradeCandidate(reading.enquiry.subject, candidate).grade.charAt(1)).toBe(letter);
  });
});

test.each([
  ['Dupont SA', 'Dupont SCI', 'FR', true],
  ['Acme Ltd', 'Acme PLC', 'GB', true],
  ['Muster AG', 'Muster GmbH', 'DE', true],
  ['Acme Ltd', 'ACME LIMITED', 'GB', false],
  ['Acme', 'Acme PLC', 'GB', false],
  ['Acme GmbH', 'Acme Ltd', 'DE', false],
  ['Solvay SA', 'Solvay NV', 'BE', false],
  ['Muster AG', 'Muster SA', 'CH', false],
  ['Muster GmbH', 'Muster Gesellschaft mit beschränkter Haftung', 'DE', false],
  ['Muster GmbH & Co. KG', 'Muster Gesellschaft mit beschränkter Haftung & Co. Kommanditgesellschaft', 'DE', false],
  ['Muster UG (haftungsb.)', 'Muster UG (haftungsbeschränkt)', 'DE', false],
  ['Muster SL', 'Muster S.L.U.', 'ES', false],
  ['Acme Pte Ltd', 'Acme Private Limited', 'SG', false],
  ['Acme (Pty) Ltd', 'Acme Proprietary Limited', 'ZA', false],
  // Public and private, simplified, professional and charitable forms: a register may have both.
  ['Acme Limited', 'Acme Pty. Ltd.', 'AU', true],
  ['Acme Ltd', 'Acme Pte Ltd', 'SG', true],
  ['Acme Ltd', 'Acme Pvt. Ltd.', 'IN', true],
  ['Acme LLC', 'Acme PLLC', 'US', true],
  ['Alpha SCSp', 'Alpha SCA', 'LU', true],
  ['Alpha SCS', 'Alpha SCA', 'LU', true],
  ['Alpha SARL', 'Alpha SARL-S', 'LU', true],
  ['Alpha Coöperatie U.A.', 'Alpha C.V.', 'NL', true],
  ['Alpha P/S', 'Alpha K/S', 'DK', true],
  ['Alpha S.L.', 'Alpha S.L.P.', 'ES', true],
  ['Alpha S.L.', 'Alpha S.L.L.', 'ES', true],
  ['Alpha S.r.l.', 'Alpha S.r.l.s.', 'IT', true],
  ['Muster GmbH', 'Muster gGmbH', 'DE', true],
  ['Alfa hf.', 'Alfa ehf.', 'IS', true],
  ['Alfa Zrt.', 'Alfa Nyrt.', 'HU', true],
  ['Альфа ПАО', 'Альфа ЗАО', 'RU', true],
  ['Alpha EPE', 'Alpha IKE', 'GR', true],
  ['Alfa Sp. k.', 'Alfa Sp. z o.o. Sp. k.', 'PL', true],
])('legal forms: %s and %s in %s differ: %s', (a, b, country, expected) => {
  expect(haveDifferentForms(a, b, country)).toBe(expected);
});

test.each([
  ['Muster GmbH (vormals Schmidt AG)', 'Muster GmbH', 'DE', { isOther: false, otherForm: false }],
  ['Schmidt AG (vormals Muster GmbH)', 'Muster GmbH', 'DE', { isOther: true, otherForm: false }],
  ['Dupont SA succursale de Nantes', 'Dupont SCI', 'FR', { isOther: false, otherForm: true }],
  ['Dupont SA, succursale Nantes', 'Dupont SA', 'FR', { isOther: false, otherForm: false }],
  ['Muster AG Niederlassung Leipzig', 'Muster GmbH', 'DE', { isOther: false, otherForm: true }],
  ['Acme plc Branch', 'Acme Ltd', 'GB', { isOther: false, otherForm: true }],
  ['Acme plc New York Branch', 'Acme plc', 'GB', { isOther: false, otherForm: false, score: 100 }],
  ['Muster GmbH (Neukunde)', 'Muster GmbH', 'DE', { otherForm: false, score: 100 }],
  ['Muster GmbH [gesperrt]', 'Muster GmbH', 'DE', { otherForm: false, score: 100 }],
  ['Muster GmbH Niederlassung Frankfurt am Main', 'Muster GmbH', 'DE', { otherForm: false, score: 100 }],
])('%s against %s in %s: %j', (ours, theirs, country, expected) => {
  expect(compareNames(ours, theirs, country)).toMatchObject(expected);
});
