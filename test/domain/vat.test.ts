import { describe, expect, test } from 'vitest';
import { compareVat, parseVatNumber } from '../../src/domain/numbers/vat.js';

describe('VAT numbers', () => {
  test.each([
    ['GB', 'GB220430231', 'GB220430231', 'as_written'],
    ['GB', '220430231', 'GB220430231', 'as_written'],
    ['GB', 'GB 220 4302 31', 'GB220430231', 'automatic'],
    ['GB', 'UK220430231', 'GB220430231', 'automatic'],
    ['DE', 'DE136695976', 'DE136695976', 'as_written'],
    ['DE', 'de 136 695 976', 'DE136695976', 'automatic'],
    ['DE', 'USt-IdNr. DE136695976', 'DE136695976', 'automatic'],
    ['FR', 'FR83404833048', 'FR83404833048', 'as_written'],
    ['NL', 'NL861994772B01', 'NL861994772B01', 'as_written'],
    ['NL', 'NL8619.94.772.B01', 'NL861994772B01', 'automatic'],
    ['BE', 'BE 0403.019.261', 'BE0403019261', 'automatic'],
    ['SE', 'SE556016068001', 'SE556016068001', 'as_written'],
    ['NO', '923609016 MVA', 'NO923609016MVA', 'automatic'],
    ['NO', 'NO923609016MVA', 'NO923609016MVA', 'as_written'],
    ['CH', 'CHE-116.281.710 MWST', 'CHE116281710MWST', 'automatic'],
    ['AT', 'ATU13585627', 'ATU13585627', 'as_written'],
    ['GR', 'EL094259216', 'EL094259216', 'as_written'],
    ['GR', 'GR094259216', 'EL094259216', 'automatic'],
    ['IE', 'IE6388047V', 'IE6388047V', 'as_written'],
    ['ES', 'ESA28015865', 'ESA28015865', 'as_written'],
    ['US', '94-2404110', '94-2404110', 'as_written'],
    ['US', '942404110', '94-2404110', 'as_written'],
    ['AU', '53 004 085 616', '53004085616', 'automatic'],
    ['CA', '123456782RT0001', '123456782RT0001', 'as_written'],
    ['DK', '22756214.0', 'DK22756214', 'automatic'],
    ['KE', 'P051234567X', 'P051234567X', 'as_written'],
    ['DE', 'DE136695977', 'DE136695977', 'review'],
    ['DE', 'DE1366', 'DE1366', 'review'],
    ['DE', '1.36696E+08', null, 'review'],
    ['DE', '', null, 'review'],
  ])('%s %s is %s, %s', (country, raw, canonical, treatment) => {
    expect(parseVatNumber(raw, country)).toMatchObject({ raw, canonical, treatment });
  });

  test.each([
    ['GB', 'GB220430231', '220430231', 'A'],
    ['GB', '220 4302 31', 'GB220430231', 'A'],
    ['NO', '923609016', 'NO923609016MVA', 'A'],
    ['CH', 'CHE-116.281.710 TVA', 'CHE116281710MWST', 'A'],
    ['CH', 'UID: CHE-116.281.710 HR/TVA', 'CHE116281710MWST', 'A'],
    ['AT', 'UID: ATU13585627', 'ATU13585627', 'A'],
    ['GR', 'GR094259216', 'EL094259216', 'A'],
    ['CA', '123456782', '123456782RT0001', 'A'],
    ['US', '942404110', '94-2404110', 'A'],
    ['DK', '22756214.0', 'DK22756214', 'B'],
    ['GB', 'GB220430231', 'GB220430232', 'F'],
    ['NL', 'NL861994772B01', 'NL861994772B02', 'F'],
    ['GB', 'GB220430231', null, 'Z'],
    ['DE', '1.36696E+08', 'DE136695976', 'Z'],
  ])('%s %s against %s: %s', (country, raw, candidate, letter) => {
    expect(compareVat(parseVatNumber(raw, country), candidate, country)).toBe(letter);
  });
});
