import { expect, test } from 'vitest';
import { columnTable } from '../../../src/cli/terminal/text.js';

const NUMBERS = ['Charlottenburg (Berlin) HRB 28752 B', 'Stuttgart HRB 1576', 'Düsseldorf HRB 239491'];
const table = (samples: readonly string[], width: number) =>
  columnTable([['registration_number', 'Gericht + Nummer', 'header, content', samples]], width);

test('shows as many samples as fit, and cuts none', () => {
  expect(table(['HRB 1', 'HRB 2', 'HRB 33333333333333'], 80)).toBe(
    '  registration_number  Gericht + Nummer  header, content  HRB 1, HRB 2\n',
  );
  expect(table(NUMBERS, 200)).toContain(NUMBERS.join(', '));
});

test('cuts a sample that does not fit, and wraps on a narrow terminal', () => {
  expect(table(NUMBERS, 80)).toBe('  registration_number  Gericht + Nummer  header, content  Charlottenburg (Berli…\n');
  expect(table(['x'.repeat(500)], 20)).toMatch(/^.{56} {2}x{21}…\n$/);
});
