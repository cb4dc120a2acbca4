import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type GroupLink, groupTreeInWords } from '../../src/cli/terminal/text.js';

const link = (source: string, target: string): GroupLink => ({
  source,
  target,
  title: `Company ${source}`,
  targetTitle: `Company ${target}`,
});

test('a group is drawn from its roots down, and the requested company is marked', () => {
  const links = [link('a', 'b'), link('a', 'c'), link('b', 'd'), link('b', 'e'), link('x', 'y')];
  const lines = groupTreeInWords(links, (name) => name === 'Company d').split('\n');
  expect(lines[2]).toMatch(/^│ {2}├─ Company d .+$/);
  expect(lines.map((line) => line.replace(/(Company d) .*$/, '$1'))).toEqual([
    'Company a',
    '├─ Company b',
    '│  ├─ Company d',
    '│  └─ Company e',
    '└─ Company c',
    'Company x',
    '└─ Company y',
    '',
  ]);
});

test('a company with two parents shows its subsidiaries once, and a cycle ends', () => {
  const twoParents = [link('a', 'c'), link('b', 'c'), link('c', 'd')];
  expect(groupTreeInWords(twoParents, () => false)).toMatch(
    /^Company a\n└─ Company c\n {3}└─ Company d\nCompany b\n└─ Company c \(\w+\)\n$/,
  );
  expect(groupTreeInWords([link('a', 'b'), link('b', 'a')], () => false)).toMatch(
    /^Company a\n└─ Company b\n {3}└─ Company a \(\w+\)\n$/,
  );
});

test('a company without a name is shown with its name in the link', () => {
  expect(groupTreeInWords([{ ...link('GB-1', 'FR-2'), targetTitle: '' }], () => false)).toBe('Company GB-1\n└─ FR-2\n');
});

test('for any links, each company is shown, and each line is one company', () => {
  const end = fc.constantFrom(...'abcdefgh');
  fc.assert(
    fc.property(fc.array(fc.tuple(end, end), { maxLength: 20 }), (pairs) => {
      const drawn = groupTreeInWords(
        pairs.map(([source, target]) => link(source, target)),
        () => false,
      );
      for (const name of new Set(pairs.flat())) expect(drawn).toContain(`Company ${name}`);
      expect(drawn.split('\n').length - 1).toBeLessThanOrEqual(2 * new Set(pairs.flat()).size + pairs.length);
    }),
  );
});
