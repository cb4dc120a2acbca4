import { describe, expect, test } from 'vitest';
import { entityKey } from '../../../src/domain/entity-key.js';
import { compact, marksIn } from '../../../src/domain/numbers/number-text.js';
import { parseRegistrationNumber } from '../../../src/domain/numbers/parse.js';
import { parseVatNumber } from '../../../src/domain/numbers/vat.js';
import { readNumberInName, readSearchSubject } from '../../../src/domain/search-subject.js';
import { expectGolden } from '../../helpers/golden.js';

const COURT = 'Amtsgericht Stuttgart';

describe('a mark that may not be part of the number is a review question, and never a digit', () => {
  test.each([
    ['DE', `${COURT} HRB 683¹`, 'HRB 683'],
    ['DE', `HRB 683² ${COURT}`, 'HRB 683'],
    ['DE', `${COURT} HRB 683①`, 'HRB 683'],
    ['DE', `${COURT} HRB 683?`, 'HRB 683'],
    ['DE', `${COURT} HRB 683…`, 'HRB 683'],
    ['DE', `${COURT} HRB 683...`, 'HRB 683'],
    ['DE', `${COURT} HRB 683_`, 'HRB 683'],
    ['DE', `${COURT} HRB 683#`, 'HRB 683'],
    ['DE', `${COURT} HRB 683 1)`, null],
    ['DE', `${COURT} HRB 683*1`, null],
    ['DE', `${COURT} HRB 68?31`, null],
    ['IE', '2364¹', '2364'],
    ['IE', '2364?', '2364'],
    ['IE', '2364*', '2364'],
    ['IE', '2364--', '2364'],
    ['IE', '236?4', null],
    ['IE', '236_4', null],
    ['IE', '236 ? 4', null],
    ['AT', 'FN 33282ᵇ', null],
    ['GB', '£11247631', '11247631'],
    ['GB', '11247631€', '11247631'],
    ['GB', '11247631%', '11247631'],
    ['GB', '≈11247631', '11247631'],
    ['GB', '<11247631', '11247631'],
    ['GB', '11247631 (?)', '11247631'],
    ['GB', '11247631†', '11247631'],
    ['GB', '½11247631', '11247631'],
    ['GB', '1124763½', null],
    ['GB', '1124763?', null],
    ['GB', '11247？31', null],
    ['KE', 'PVT-ABC123¹', 'PVT-ABC123'],
  ])('%s %s: a person sees %s', (country, raw, canonical) => {
    const parsed = parseRegistrationNumber(raw, country);
    expect(parsed).toMatchObject({ raw, canonical, treatment: 'review' });
  });

  test.each([
    ['DE', `${COURT} HRB 683.1`],
    ['DE', `${COURT} HRB 683 12`],
    ['DE', `${COURT} HRB 683x`],
    ['DE', `${COURT} HRB 683 xx`],
    ['IE', '2364 1'],
    ['IE', '2364-1'],
    ['IE', '2364/12'],
    ['IE', '2364 (1)'],
    ['LU', 'B 2364 1'],
    ['GB', '1124763 (1)'],
    ['NL', '2401532/5'],
  ])('%s %s: the last digits may not be part of it', (country, raw) => {
    expect(parseRegistrationNumber(raw, country)).toMatchObject({ treatment: 'review' });
  });

  test.each(['HRB 1576 alt', 'HRB 1576 neu', 'HRB 1576 NEU', 'HRB 1576-alt', 'HRB 1576 xyz'])(
    '%s: a note is not a district',
    (text) => {
      for (const raw of [`${COURT} ${text}`, `${text} Stuttgart`]) {
        const parsed = parseRegistrationNumber(raw, 'DE');
        expect(parsed).toMatchObject({ raw, canonical: 'HRB 1576', treatment: 'review', register: 'Stuttgart' });
      }
    },
  );

  test.each(['HRB 28752 B', 'hrb 28752 b', 'HRB 28752 KI', 'hrb 28752 ki', 'HRB 28752 b'])(
    '%s: the suffix is a district',
    (text) => {
      expect(parseRegistrationNumber(`${text}, Kiel`, 'DE').canonical).toBe(text.toUpperCase());
    },
  );

  test('VAT numbers follow the same rule', () => {
    expect(parseVatNumber('DE811569869', 'DE').treatment).toBe('as_written');
    for (const raw of ['DE811569869?', 'DE81156986¹', 'DE8115*9869', '≈DE811569869'])
      expect(parseVatNumber(raw, 'DE')).toMatchObject({ canonical: null, treatment: 'review' });
  });

  test('numbers after a name follow the same rule', () => {
    expect(readNumberInName('Acme Ltd (1124763¹)', 'GB')).toBeUndefined();
    expect(readNumberInName('Acme Ltd (11247631)', 'GB')?.number.canonical).toBe('11247631');
  });

  test('each has its own question key', () => {
    const keys = ['236?4', '2364?', '2364¹', '2364', '23641'].map((registration_number) => {
      const reading = readSearchSubject({ country: 'IE', registration_number });
      return reading.ok ? entityKey(reading.enquiry.subject) : '';
    });
    expect(new Set(keys).size).toBe(5);
  });

  test('a raised digit is not a digit when two numbers are compared', () => {
    expect(compact('683¹')).not.toBe(compact('6831'));
    expect(compact('６８３')).toBe('683');
  });
});

describe('two values in one cell are a review question, and never joined to one number', () => {
  test.each([
    ...['1;4740', '(1) 4740', '1 - 4740', '1/4740', '1\n4740', '[1]4740', '"1"4740', '1:4740', '1\\4740', '1•4740'],
    ...[
      '1·4740',
      "1'4740",
      "'1'4740",
      '‘1’4740',
      '1 4740',
      '1–4740',
      '147 40',
      '14;740',
      '14\n740',
      '1474(0)',
      '1/740',
    ],
  ])('IE %j', (raw) => {
    expect(parseRegistrationNumber(raw, 'IE')).toMatchObject({ canonical: null, treatment: 'review' });
  });

  test.each([
    ['LU', 'B1;3560'],
    ['LU', 'B(1) 3560'],
    ['LU', 'B1/3560'],
    ['AT', 'FN 3;6430z'],
    ['AT', 'FN (3) 6430z'],
    ['US', '4/008033'],
    ['US', '(4)008033'],
    ['US', '001652 (9)'],
    ['CA', '1/1234567'],
    ['GB', '1/1247631'],
    ['GB', '(1)1247631'],
    ['GB', '1124;7631'],
    ['SE', '559254:9256'],
    ['FR', '552 100\n554'],
    ['DE', `${COURT} HRB 157(6)`],
    ['DE', `${COURT} HRB 1 4740`],
    ['DE', `${COURT} HRB 1\n576`],
  ])('%s %j', (country, raw) => {
    expect(parseRegistrationNumber(raw, country)).toMatchObject({ treatment: 'review' });
  });

  test('an Ontario number with a footnote', () => {
    expect(parseRegistrationNumber('0016529 (1)', 'CA', 'ON')).toMatchObject({ canonical: null, treatment: 'review' });
  });

  test.each(['1\u03364740', '14740\u0336', '1474\u03380', '1\u20DD4740', '14\u0301740', '1\u200D\u03364740'])(
    'a struck-out digit is not a digit: %j',
    (raw) => {
      const parsed = parseRegistrationNumber(raw, 'IE');
      expect(parsed).toMatchObject({ canonical: null, treatment: 'review' });
      expect(parseVatNumber(`DE8115698\u033669`, 'DE')).toMatchObject({ canonical: null, treatment: 'review' });
    },
  );
});

describe('decoration and separators are not marks', () => {
  test.each([
    ['GB', '(11247631)', '11247631'],
    ['GB', '[11247631]', '11247631'],
    ['GB', '"11247631"', '11247631'],
    ['GB', '“11247631”', '11247631'],
    ['GB', '#11247631', '11247631'],
    ['GB', 'No. # 11247631', '11247631'],
    ['GB', 'GB_11247631', '11247631'],
    ['GB', '11247631.', '11247631'],
    ['GB', '11 247 631', '11247631'],
    ['GB', '112 476 31', '11247631'],
    ['GB', '𝟏𝟏𝟐𝟒𝟕𝟔𝟑𝟏', '11247631'],
    ['FR', 'N° 552 100 554', '552100554'],
    ['FR', '552 100 554 RCS Paris', '552100554'],
    ['PT', 'Nº 500100144', '500100144'],
    ['IE', '123 456', '123456'],
    ['IE', '12,345', '12345'],
    ['IE', '12 34 56', '123456'],
    ['IE', '14 740', '14740'],
    ['IE', "14'740", '14740'],
    ['NZ', '1.234.567', '1234567'],
    ['IT', 'MI-2009 525', 'MI-2009525'],
    ['SE', '559254-9256', '559254-9256'],
    ['CH', 'CHE-123.456.788', 'CHE-123.456.788'],
    ['NL', '12.345.678', '12345678'],
    ['DE', 'HRB: 1576 (Amtsgericht Mönchengladbach)', 'HRB 1576'],
    ['AT', 'FN 33 282 b', 'FN 33282b'],
    ['CA', '123456-7', '1234567'],
    ['DE', `HRB 12.345 (${COURT})`, 'HRB 12345'],
    ['DE', `HRB 12 34 56, ${COURT}`, 'HRB 123456'],
    ['DE', 'Amtsgericht Charlottenburg (Berlin) HRB 28752 B', 'HRB 28752 B'],
  ])('%s %s is %s', (country, raw, canonical) => {
    const { treatment, ...parsed } = parseRegistrationNumber(raw, country);
    expect(parsed.canonical).toBe(canonical);
    expect(treatment).not.toBe('review');
  });

  test('the reason shows the mark', () => {
    expect(marksIn('683¹')).toEqual({ mark: '¹', bare: '683' });
    expect(marksIn('6?8')).toEqual({ mark: '?', bare: null });
    expect(marksIn('HRB 683 B')).toBeUndefined();
  });
});

test('the reason names the mark', async () => {
  const cases = [
    ['DE', `${COURT} HRB 683¹`],
    ['GB', '1124763?'],
    ['DE', `${COURT} HRB 1576 alt`],
    ['IE', '1\u03364740'],
  ] as const;
  await expectGolden(
    'marks',
    cases.map(([country, raw]) => [`${country} ${raw}`, parseRegistrationNumber(raw, country).reason ?? '']),
  );
});
