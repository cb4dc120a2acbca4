import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isPlaceholder } from '../../src/input/field-text.js';
import type { InputField } from '../../src/input/types.js';

const EVERYWHERE: readonly InputField[] = ['name', 'registration_number', 'vat_number', 'country', 'city', 'state'];

describe('a placeholder', () => {
  test('the prefix alone is one among VAT numbers', () => {
    expect(isPlaceholder('DE', 'vat_number')).toBe(true);
    expect(isPlaceholder('DE', 'country')).toBe(false);
  });

  test.each(
    `n/a|N/A|N.A.|n. a.|(n/a)|Ｎ／Ａ|-|--|—|.|…|?|???|***|#N/A|#NV|#REF!|#BEZUG!|#VALUE!|#WERT!|#DIV/0!|#NAME?|########|null|NULL|<null>|none|None|unknown|UNKNOWN|[unknown]|unbekannt|k.A.|k. A.|
    keine Angabe|nicht bekannt|Nicht verfügbar|not available|s/n|sin datos|n.d.|non disponibile|n.v.t.|inconnu|non renseigné|nie dotyczy|brak danych|neuvedeno|ukendt|okänd|
    нет|нет данных|不明|なし|該当なし|无|暂无|없음|해당 없음|0|00|00000000|999999999`
      .split('|')
      .map((text) => text.trim()),
  )('"%s" is one in every field that finds a company', (text) => {
    expect(EVERYWHERE.filter((field) => !isPlaceholder(text, field))).toEqual([]);
  });

  test.each([
    ['name', 'TBC'],
    ['name', 'tbd'],
    ['name', 'xxx'],
    ['name', 'brak'],
    ['name', 'NA'],
    ['registration_number', 'NA'],
    ['registration_number', 'keine'],
    ['registration_number', 'x'],
    ['registration_number', 'HRB 0'],
    ['vat_number', 'DE000000000'],
    ['vat_number', 'DE999999999'],
    ['vat_number', 'CHE-000.000.000'],
    ['vat_number', 'nvt'],
    ['registration_number', '11111111'],
    ['registration_number', '222 222 222'],
    ['vat_number', 'DE111111111'],
    ['country', 'none'],
    ['country', 'tbc'],
    ['id', '-'],
    ['id', '#N/A'],
    ['ticker', 'n/a'],
  ] as const)('%s: "%s"', (field, text) => {
    expect(isPlaceholder(text, field)).toBe(true);
  });

  test.each(
    '#¡REF!|#¿NOMBRE?|#GETTING_DATA|#ÜBERLAUF!|Loading...|Loading…|dto.|TRUE|FALSE|=A2|=$B$7|=VLOOKUP(A2;Master!A:F;3;FALSE)|=Sheet1!A2|<name>|[Name]|{{name}}|{{ account.name }}|<<Name>>|Name|Company name|Row Labels|Please fill in|Cash customer|01/02/2020|2026-11-01|a@b.com|https://example.com/about-us?lang=en|+44 20 7946 0000'.split(
      '|',
    ),
  )('"%s" is not a name', (text) => {
    expect(isPlaceholder(text, 'name')).toBe(true);
  });

  test.each(
    '(blank)|not registered|keine|dito|ditto|see above|same as above|s.o.|exempt|xx|DO NOT USE|One-time customer|CPD Kunde|Barverkauf|Privatperson|Diverse|Various'.split(
      '|',
    ),
  )('"%s" means no company, as a name and as a number', (text) => {
    expect(isPlaceholder(text, 'name')).toBe(true);
    expect(isPlaceholder(text, 'registration_number')).toBe(true);
    expect(isPlaceholder(text, 'id')).toBe(false);
  });

  test.each([
    ['name', 'None Ltd'],
    ['name', 'Loading Systems Ltd'],
    ['name', 'True'],
    ['name', 'Vero'],
    ['name', 'Test'],
    ['name', 'Dummy AG'],
    ['name', 'Idem'],
    ['name', '123'],
    ['name', 'Company'],
    ['name', 'booking.com'],
    ['name', 'www.check24.de'],
    ['name', '[solidcore]'],
    ['name', '«Ромашка»'],
    ['name', '24/7/365'],
    ['name', '=mc2 Ltd'],
    ['registration_number', '="00123"'],
    ['name', 'TBC Bank'],
    ['name', 'Null GmbH'],
    ['name', 'Nothing'],
    ['name', 'Ohne'],
    ['name', 'X'],
    ['name', '3M'],
    ['name', '1&1'],
    ['name', '99'],
    ['name', 'N26'],
    ['country', 'NA'],
    ['country', 'NO'],
    ['country', 'Niue'],
    ['state', 'ND'],
    ['state', 'NA'],
    ['city', 'Brak'],
    ['ticker', 'NA'],
    ['ticker', 'NAN'],
    ['ticker', 'TBC'],
    ['id', '0'],
    ['id', 'none'],
    ['id', '00000000'],
    ['registration_number', '00000001'],
    ['registration_number', '999999'],
    ['registration_number', '99999998'],
    ['registration_number', '1111111'],
    ['registration_number', 'HRB 1111'],
    ['registration_number', '11111112'],
    ['name', 'Diverse GmbH'],
    ['name', 'Various Artists Ltd'],
    ['name', 'Exempt Holdings'],
    ['name', 'Blank'],
    ['name', 'Test'],
    ['name', 'Barverkauf Meier'],
    ['city', 'Various'],
    ['registration_number', 'SC000009'],
    ['vat_number', 'IT00000000109'],
  ] as const)('%s: "%s" is not one', (field, text) => {
    expect(isPlaceholder(text, field)).toBe(false);
  });

  test('is never a text followed by a legal form', () => {
    const word = fc.constantFrom('None', 'TBC', 'Null', 'Unknown', 'n/a', 'Brak', 'XXX', '0', 'NA', 'Unbekannt');
    fc.assert(
      fc.property(word, fc.constantFrom('Ltd', 'GmbH', 'Bank', 'S.A.', 'AB'), (text, form) => {
        expect(isPlaceholder(`${text} ${form}`, 'name')).toBe(false);
      }),
    );
  });

  test('is never a number of more than one digit', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z]{0,3}[0-9]{0,8}[1-8][0-9]{0,4}$/), (text) => {
        fc.pre(new Set(text.replace(/\D/g, '')).size > 1);
        expect(isPlaceholder(text, 'registration_number')).toBe(false);
      }),
    );
  });
});
