import { describe, expect, test } from 'vitest';
import { parseRegistrationNumber } from '../../../src/domain/numbers/parse.js';
import { expectGolden } from '../../helpers/golden.js';

type Row = [country: string, raw: string, canonical: string | null, rules: string, state?: string | undefined];

const check =
  (treatment: string) =>
  (...[country, raw, canonical, rules, state]: Row) => {
    const parsed = parseRegistrationNumber(raw, country, state);
    expect({
      canonical: parsed.canonical,
      rules: parsed.repairs.map(({ rule }) => rule).join(' '),
      treatment: parsed.treatment,
    }).toEqual({ canonical, rules, treatment });
    expect(parsed.raw).toBe(raw);
    if (canonical !== null) expect(parsed.spellings[0]).toBe(canonical);
    if (treatment === 'review' || treatment === 'needs_name') expect(parsed.reason).toBeTruthy();
  };

describe("in the register's own spelling", () => {
  const rows: Row[] = [
    ['GB', '01234567', '01234567', ''],
    ['GB', 'SC123456', 'SC123456', ''],
    ['GB', 'NI012345', 'NI012345', ''],
    ['GB', 'OC300001', 'OC300001', ''],
    ['GB', 'R0000123', 'R0000123', ''],
    ['GB', 'IP12345R', 'IP12345R', ''],
    ['DE', 'Amtsgericht München HRB 12345', 'HRB 12345', ''],
    ['DE', 'HRB 12345, Köln', 'HRB 12345', ''],
    ['DE', 'HRB 12345', 'HRB 12345', '', 'Hamburg'],
    ['DE', 'HRB 12345 B', 'HRB 12345 B', '', 'Charlottenburg (Berlin)'],
    ['DE', 'AG Kiel, HRB 1234 KI', 'HRB 1234 KI', ''],
    ['DE', 'HRB 1234 AG Bonn', 'HRB 1234', ''],
    ['DE', 'VR 1234 Amtsgericht Mannheim', 'VR 1234', ''],
    ['FR', '552100554', '552100554', ''],
    ['FR', '552 100 554', '552100554', ''],
    ['NL', '12345678', '12345678', ''],
    ['BE', '0403019261', '0403019261', ''],
    ['BE', '0403.019.261', '0403019261', ''],
    ['SE', '556016-0680', '556016-0680', ''],
    ['SE', '5560160680', '556016-0680', ''],
    ['NO', '923609016', '923609016', ''],
    ['DK', '22756214', '22756214', ''],
    ['FI', '0112038-9', '0112038-9', ''],
    ['IE', '12345', '12345', ''],
    ['ES', 'A28015865', 'A28015865', ''],
    ['IT', 'MI-1234567', 'MI-1234567', ''],
    ['PL', '0000123456', '0000123456', ''],
    ['CH', 'CHE-116.281.710', 'CHE-116.281.710', ''],
    ['CH', 'CH-020.3.012.345-6', 'CH-020.3.012.345-6', ''],
    ['AT', 'FN 33282b', 'FN 33282b', ''],
    ['LU', 'B123456', 'B123456', ''],
    ['PT', '501964843', '501964843', ''],
    ['CZ', '00177041', '00177041', ''],
    ['SG', '200604346E', '200604346E', ''],
    ['AU', '004 085 616', '004085616', ''],
    ['JP', '7000012050002', '7000012050002', ''],
    ['US', '2345678', '2345678', '', 'Delaware'],
    ['US', 'C1234567', 'C1234567', '', 'CA'],
    ['US', '601 234 567', '601234567', '', 'WA'],
    ['CA', '1234567', '1234567', '', 'ON'],
    ['CA', '123456789', '123456789', '', 'QC'],
    ['KE', 'PVT-ABC123', 'PVT-ABC123', ''],
  ];
  test.each<Row>(rows)('%s %s → %s', check('as_written'));
});

describe('repaired automatically', () => {
  const rows: Row[] = [
    ['GB', ' 01234567 ', '01234567', 'spaces'],
    ['GB', '01234567\u00a0', '01234567', 'spaces'],
    ['GB', '0123 4567', '01234567', 'separators'],
    ['GB', '０１２３４５６７', '01234567', 'full_width'],
    ['GB', 'sc123456', 'SC123456', 'case'],
    ['GB', 'SC-123456', 'SC123456', 'separators'],
    ['GB', "'01234567", '01234567', 'spreadsheet_text'],
    ['GB', '="01234567"', '01234567', 'spreadsheet_text'],
    ['GB', '12345678.0', '12345678', 'decimal_point'],
    ['CH', 'CHE 116 281 710 HR/MWST', 'CHE-116.281.710', 'separators tax_suffix'],
    ['CH', 'CHE-116.281.710 HR', 'CHE-116.281.710', 'separators tax_suffix'],
    ['CH', 'UID: CHE-116.281.710', 'CHE-116.281.710', 'separators label'],
    ['GB', '1.2345678E+07', '12345678', 'scientific_notation'],
    ['GB', '1.23456780E+07', '12345678', 'scientific_notation'],
    ['GB', '1,2345670E+07', '12345670', 'scientific_notation'],
    ['GB', '1,2345678E7', '12345678', 'scientific_notation'],
    ['GB', 'GB01234567', '01234567', 'country_prefix'],
    ['GB', 'UK 01234567', '01234567', 'separators country_prefix'],
    ['GB', 'Company No. 01234567', '01234567', 'label'],
    ['DE', 'München HR B 12345', 'HRB 12345', 'register_spelling'],
    ['DE', 'HRB-Nr. 12345 München', 'HRB 12345', 'register_spelling'],
    ['DE', 'DE HRB 12345 München', 'HRB 12345', 'country_prefix'],
    ['DE', 'DEHRB 12345', 'HRB 12345', 'country_prefix', 'Köln'],
    ['DE', 'hrb12345', 'HRB 12345', 'register_spelling', 'Köln'],
    ['DE', 'H.R.B. 12345, AG Köln', 'HRB 12345', 'register_spelling'],
    ['DE', 'Handelsregister B 12345 Amtsgericht Hamburg', 'HRB 12345', 'register_spelling'],
    ['FR', '552.100.554', '552100554', 'separators'],
    ['FR', 'SIREN 552100554', '552100554', 'label'],
    ['FR', '552100554.0', '552100554', 'decimal_point'],
    ['FR', '552 100 554 RCS Paris', '552100554', 'separators label'],
    ['FR', 'RCS Paris B 552 100 554', '552100554', 'separators label'],
    ['FR', 'R.C.S. Aix-en-Provence 552 100 554', '552100554', 'separators label'],
    ['FR', 'RCS Le Mans B552100554', '552100554', 'label'],
    ['AT', 'FN-Nr. 33282b', 'FN 33282b', 'case separators label'],
    ['GB', 'Registered in England and Wales No. 11247631', '11247631', 'label'],
    ['GB', 'Registered in Scotland No. SC123456', 'SC123456', 'label'],
    ['IE', 'Registered in Ireland No. 123456', '123456', 'label'],
    ['BE', 'RPR Gent 0403019261', '0403019261', 'label'],
    ['BE', 'BE 0403.019.261 RPM Liège', '0403019261', 'separators label'],
    ['NL', 'K.v.K. te Amsterdam 12345678', '12345678', 'label'],
    ['NL', 'KVK 12345678', '12345678', 'label'],
    ['NL', 'NL12345678', '12345678', 'country_prefix'],
    ['BE', 'BE 0403.019.261', '0403019261', 'separators country_prefix'],
    ['SE', '165560160680', '556016-0680', 'century_prefix'],
    ['SE', 'SE5560160680', '556016-0680', 'country_prefix'],
    ['NO', 'NO 923 609 016 MVA', '923609016', 'separators tax_suffix'],
    ['DK', 'CVR-nr. 22756214', '22756214', 'label'],
    ['FI', 'FI01120389', '0112038-9', 'country_prefix'],
    ['IE', 'IE 12345', '12345', 'separators country_prefix'],
    ['ES', 'ESA28015865', 'A28015865', 'country_prefix'],
    ['ES', 'a-28.015.865', 'A28015865', 'case separators'],
    ['IT', 'REA MI 1234567', 'MI-1234567', 'separators label'],
    ['IT', 'IT00743110157', '00743110157', 'country_prefix'],
    ['PL', 'KRS: 0000123456', '0000123456', 'label'],
    ['CH', '116281710', 'CHE-116.281.710', 'country_prefix'],
    ['CH', 'CHE-116.281.710 MWST', 'CHE-116.281.710', 'separators tax_suffix'],
    ['AT', 'fn33282b', 'FN 33282b', 'case'],
    ['LU', 'RCS Luxembourg B 123.456', 'B123456', 'separators label'],
    ['CZ', 'IČO 00177041', '00177041', 'label'],
    ['SG', 'UEN 200604346e', '200604346E', 'case separators label'],
    ['AU', 'ACN 004 085 616', '004085616', 'separators label'],
    ['US', '234-5678', '2345678', 'separators', 'DE'],
    ['CA', 'Corporation No. 123456-7', '1234567', 'separators label', 'ON'],
    ['KE', ' pvt-abc123', 'PVT-ABC123', 'spaces case'],
  ];
  test.each<Row>(rows)('%s %s → %s by %s', check('automatic'));
});

describe('repaired if the name agrees', () => {
  const rows: Row[] = [
    ['GB', '1234567', '01234567', 'zero_padding'],
    ['GB', '12345', '00012345', 'zero_padding'],
    ['GB', 'SC1234', 'SC001234', 'zero_padding'],
    ['GB', '1234567.0', '01234567', 'decimal_point zero_padding'],
    ['GB', '1.234567E+06', '01234567', 'scientific_notation zero_padding'],
    ['NL', '1234567', '01234567', 'zero_padding'],
    ['PL', '123456', '0000123456', 'zero_padding'],
    ['PL', 'KRS 123456', '0000123456', 'label zero_padding'],
    ['BE', '403019261', '0403019261', 'zero_padding'],
    ['BE', '403.019.261', '0403019261', 'separators zero_padding'],
    ['IT', '743110157', '00743110157', 'zero_padding'],
    ['FI', '112038-9', '0112038-9', 'separators zero_padding'],
    ['CZ', '177041', '00177041', 'zero_padding'],
    ['AU', '4085616', '004085616', 'zero_padding'],
    ['US', '12345', '0012345', 'zero_padding', 'DE'],
    ['US', 'P10003037', 'P00010003037', 'zero_padding', 'FL'],
    ['CA', '1004654', '001004654', 'zero_padding', 'QC'],
    ['US', '2345678', '2345678', ''],
    ['CA', '1234567', '1234567', ''],
    ['IE', '012345', '12345', 'zeros_removed'],
    ['LU', 'B012345', 'B12345', 'zeros_removed'],
    ['DE', 'HRB 012345 München', 'HRB 12345', 'zeros_removed'],
  ];
  test.each<Row>(rows)('%s %s → %s by %s', check('needs_name'));
});

describe('derived, and flagged', () => {
  const rows: Row[] = [
    ['FR', '73282932000074', '732829320', 'siret_to_siren'],
    ['FR', '732 829 320 00074', '732829320', 'separators siret_to_siren'],
    ['FR', 'SIRET 732 829 320 00074', '732829320', 'separators label siret_to_siren'],
    ['FR', 'FR83404833048', '404833048', 'vat_to_number'],
    ['SE', 'SE556016068001', '556016-0680', 'vat_to_number'],
    ['AU', '53 004 085 616', '004085616', 'separators abn_to_acn'],
  ];
  test.each<Row>(rows)('%s %s → %s by %s', check('derived'));
});

describe('a review question', () => {
  const rows: Row[] = [
    ['GB', '1.23457E+11', null, ''],
    ['GB', '1.23E+07', null, ''],
    ['GB', '1.230E+07', null, ''],
    ['GB', '1.23456785E+07', null, ''],
    ['CN', '911101051234560000', null, ''],
    ['CN', '9.11101E+17', null, ''],
    ['GB', 'O1234567', '01234567', 'look_alike'],
    ['GB', 'SCO12345', 'SC012345', 'look_alike'],
    ['NL', '1234567O', '12345670', 'look_alike'],
    ['NL', 'l2345678', '12345678', 'case look_alike'],
    ['GB', '123456', '123456', '', 'Scotland'],
    ['GB', '12345', '12345', '', 'Northern Ireland'],
    ['GB', '123456789', '123456789', ''],
    ['DE', 'HRB 12345', 'HRB 12345', ''],
    ['DE', 'HRB 12345', 'HRB 12345', '', 'Bayern'],
    ['DE', '12345', null, ''],
    ['DE', 'HRB 1234O', 'HRB 1234O', '', 'München'],
    ['GB', 'SC41266O', 'SC412660', 'look_alike'],
    ['DE', 'HRB 12O45 München', 'HRB 12O45 MÜNCHEN', 'case'],
    ['DE', 'HRB l2345 München', 'HRB L2345 MÜNCHEN', 'case'],
    ['DE', 'HRB 12345, HRB 67890 Köln', 'HRB 12345, HRB 67890 KÖLN', 'case'],
    ['DE', 'HRB 1234567 München', 'HRB 1234567 MÜNCHEN', 'case'],
    ['US', '12-3456789', '12-3456789', '', 'DE'],
    ['US', '123456789', '123456789', '', 'DE'],
    ['CA', '123456782RC0001', '123456782RC0001', ''],
    ['FR', '552100555', '552100555', ''],
    ['FR', '55210055', '055210055', 'zero_padding'],
    ['FR', '5521005540001', '5521005540001', ''],
    ['BE', '0403019262', '0403019262', ''],
    ['BE', '403019262', '0403019262', 'zero_padding'],
    ['SE', '556016-0681', '556016-0681', ''],
    ['NO', '923609017', '923609017', ''],
    ['DK', '22756215', '22756215', ''],
    ['FI', '0112038-8', '0112038-8', ''],
    ['ES', 'A28015866', 'A28015866', ''],
    ['IT', '00743110158', '00743110158', ''],
    ['CH', 'CHE-116.281.711', 'CHE-116.281.711', ''],
    ['PL', '5260001246', '5260001246', ''],
    ['NL', '123456789', '123456789', ''],
    ['AT', 'FN 33282', 'FN 33282', ''],
    ['LU', '123456', '123456', ''],
    ['SG', '200604346F', '200604346F', ''],
    ['GB', 'n/a', 'N/A', 'case'],
    ['GB', '', null, ''],
    ['GB', ' - ', null, 'spaces'],
  ];
  test.each<Row>(rows)('%s %s → %s by %s', check('review'));

  test('the reason explains the problem', async () => {
    const cases: [raw: string, country: string, state?: string][] = [
      ['1.23457E+11', 'GB'],
      ['911101051234560000', 'CN'],
      ['O1234567', 'GB'],
      ['123456', 'GB', 'Scotland'],
      ['HRB 12345', 'DE'],
      ['12-3456789', 'US', 'DE'],
      ['552100555', 'FR'],
      ['hello', 'NL'],
    ];
    await expectGolden(
      'damage',
      cases.map((given) => [given.join(' '), parseRegistrationNumber(...given).reason ?? '']),
    );
  });
});

describe('a word before the number changes nothing', () => {
  const numbers: [country: string, number: string, state?: string][] = [
    ['US', '600001190'],
    ['US', '2345678'],
    ['US', '2345678', 'Delaware'],
    ['US', '0801234567', 'TX'],
    ['CA', '1234567'],
    ['CA', '1234567', 'ON'],
    ['AU', '004085616'],
    ['GB', '11263689'],
    ['GB', '600001190'],
    ['DE', '1576'],
    ['DE', 'HRB 1576', 'Hamburg'],
    ['BR', '600001190'],
    ['XK', '81234567'],
  ];
  const labels = ['No. ', 'NO ', 'Nr.: ', 'Nº ', '#', 'number '];
  const kinds = ['Reg. No. ', 'File no. ', 'Entity number: ', 'Company No ', 'Register-Nr. '];
  const read = (country: string, number: string, state?: string) => {
    const { canonical, register, treatment } = parseRegistrationNumber(number, country, state);
    return { canonical, register, treatment: treatment === 'as_written' ? 'automatic' : treatment };
  };

  test.each(numbers)('%s %s %s', (country = '', number = '', state = undefined) => {
    const bare = read(country, number, state);
    for (const label of labels) expect(read(country, label + number, state), label).toEqual(bare);
    for (const label of kinds) expect(read(country, label + number, state).canonical, label).toBe(bare.canonical);
  });

  test('a word that names the kind of number says that it is no tax number', () => {
    expect(read('US', 'File no. 600001190')).toMatchObject({ canonical: '600001190', treatment: 'needs_name' });
  });
});
