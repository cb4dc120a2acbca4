import fc from 'fast-check';
import { expect, test } from 'vitest';
import { companyKey, type KnownCompany, numberKey, registersIn } from '../../src/domain/entity-key.js';
import { matchNumber } from '../../src/domain/numbers/compare.js';
import { countries } from '../../src/sandbox/registry/countries/index.js';

const company = (countryCode: string | null, registrationNumber: string | null, ...registers: (string | null)[]) =>
  ({ countryCode, registrationNumber, registers, ids: { v2: 'b', v1: 'a', report: 'r' } }) satisfies KnownCompany;

test.each([
  ['GB-11263689', company('GB', '11263689')],
  ['GB-00045590', company('UK', 'GB-45590')],
  ['DE-Stuttgart-HRB-1576', company('DE', 'HRB 1576', null, 'Amtsgericht Stuttgart')],
  ['DE-Munchen-HRB-42243', company('DE', 'Munich HRB 42243', 'Bayern')],
  ['DE-Frankfurt-Am-Main-HRB-7', company('DE', 'HRB 007', 'Germany', 'Frankfurt a. M.')],
  ['DE-Charlottenburg-HRB-7', company('DE', 'HRB 7 B', 'Berlin')],
  ['CH-CHE-101.383.508', company('CH', 'CHE101383508')],
  ['FR-552100554', company('FR', '552 100 554 00013')],
  ['US-CA-C1234567', company('US', 'C1234567', null, 'California')],
  ['v1-a', company('US', 'C1234567')],
  ['v1-a', company('CN', '110000001234567')],
  ['v1-a', company('DE', 'HRB 1576', 'Baden-Württemberg')],
  ['v1-a', company('KE', 'PVT-123')],
  ['v1-a', company(null, '11263689')],
  ['v1-a', company('GB', null)],
  ['v1-a', company('GB', 'OOO4559O')],
])('%s', (key, known) => {
  expect(companyKey(known)).toBe(key);
});

test('a report is no company', () => {
  expect(companyKey({ ...company('GB', null), ids: { report: 'r', credit: 'c' } })).toBe('credit-c');
  expect(companyKey({ ...company('GB', null), ids: { report: 'r' } })).toBeNull();
});

const registers = countries().flatMap(({ code, registers }) => registers.map((register) => ({ code, register })));

/** Ways to write a number. */
const SPELLINGS: readonly ((number: string, country: string) => string)[] = [
  (number) => number.toLowerCase(),
  (number) => number.replaceAll(/[\s.-]/g, ''),
  (number) => ` ${number.split('').join(' ')} `,
  (number, country) => `${country} ${number}`,
  (number) => number.replace(/^0+/, ''),
  (number) => number.replaceAll(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)),
  (number) => `${number}.0`,
  (number) => `No. ${number}`,
  (number) => `${number} B`,
  (number) => number.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10)),
];

test.each(registers)('$code $register.state: one number has one key, two numbers have two', ({ code, register }) => {
  const places = [register.jurisdiction, register.state];
  const at = register.state ?? register.jurisdiction ?? undefined;
  const keyOf = (registrationNumber: string) => numberKey({ countryCode: code, registrationNumber, registers: places });
  const position = fc.integer({ min: 0, max: Math.min(register.number.capacity, 190_000) - 1 });
  fc.assert(
    fc.property(position, position, fc.constantFrom(...SPELLINGS), (one, other, spell) => {
      const number = register.number.encode(one);
      const spelled = spell(number, code);
      const [own, theirs] = [keyOf(number), keyOf(spelled)];
      if (own === undefined || theirs === undefined) return;
      const isSame = matchNumber({ countryCode: code, number, state: at }).matches(spelled, at);
      expect(own === theirs, `${number} ${own}, ${spelled} ${theirs}`).toBe(isSame);
      expect(keyOf(register.number.encode(other)) === own).toBe(one === other);
    }),
  );
});

test('all companies of the registry have a key of their number', () => {
  const without = registers.filter(({ code, register }) => {
    const registrationNumber = register.number.encode(7);
    return (
      numberKey({ countryCode: code, registrationNumber, registers: [register.jurisdiction, register.state] }) ===
      undefined
    );
  });
  expect([...new Set(without.map(({ code }) => code))]).toEqual([]);
});

test.each([
  ['DE-Stuttgart-HRB-1576', 'DE', 'HRB 1576', registersIn('Amtsgericht Stuttgart HRB 1576', 'DE', [null, 'DE'])],
  ['US-DE-4021364', 'US', '4021364', registersIn('4021364', 'US', [null, 'US-DE'])],
  ['US-NY-4008033', 'US', '4008033', registersIn('4008033', 'US', ['New York', 'United States'])],
  [undefined, 'US', '4008033', registersIn('4008033', 'US', [null, 'US'])],
  [undefined, 'DE', 'HRB 1576', registersIn('HRB 1576', 'DE', [null, 'Germany'])],
])('with the court or state of the list: %s', (key, countryCode, registrationNumber, registers) => {
  expect(numberKey({ countryCode, registrationNumber, registers })).toBe(key);
});
