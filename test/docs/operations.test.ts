import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { commands as verbList } from '../../src/cli/command-list.js';
import { PARKED } from '../../src/cli/terminal/run-words.js';
import { ROW_OUTCOMES } from '../../src/domain/outcomes.js';

const reference = readFileSync(resolve('docs/reference/states-and-exit-codes.md'), 'utf8');
const states = [...reference.matchAll(/^\| (.*?) \| (.*?) \| (.*) \|$/gm)].map(([, state = '', , way = '']) => ({
  state,
  way,
}));

test('X-4 the reference lists every outcome, hold and run state, with its way out', () => {
  const open = ROW_OUTCOMES.filter((outcome) => outcome !== 'complete');
  const named = [...open, ...Object.keys(PARKED), 'waiting', 'reading', 'open'];
  const missing = named.filter(
    (name) => !states.some(({ state, way }) => state === `\`${name}\`` && way.includes('kybatch')),
  );
  expect(missing).toEqual([]);
});

test('the pages for users name only existing commands', () => {
  const commands = new Set(Object.keys(verbList));
  const pages = ['tutorial', 'how-to', 'explanation'].flatMap((folder) =>
    readdirSync(resolve('docs', folder)).map((page) => join('docs', folder, page)),
  );
  const named = ['README.md', 'docs/index.md', ...pages].flatMap((page) => {
    const text = readFileSync(resolve(page), 'utf8');
    const code = [...text.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].join('\n');
    return [...code.matchAll(/(?:^|[`$&] ?)(?:npx )?kybatch ([a-z]+)/gm)].map(([, verb = '']) => ({ page, verb }));
  });
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter(({ verb }) => !commands.has(verb))).toEqual([]);
});

test('the how-to pages show only lines that the golden files have', { tags: 'words' }, () => {
  const textsIn = (folder: string): { file: string; text: string }[] =>
    readdirSync(resolve(folder)).map((file) => ({ file, text: readFileSync(resolve(folder, file), 'utf8') }));
  const masked = (line: string): string =>
    line
      .replaceAll(/\d[\d.,]*|\bN\b/g, 'N')
      .replace(/\b(?:p|nightly) has\b/, 'PIPELINE has')
      .replaceAll(/\s+/g, ' ')
      .trim();
  const printed = new Set(textsIn('test/cli/golden').flatMap(({ text }) => text.split('\n').map(masked)));
  const shown = textsIn('docs/how-to').flatMap(({ file, text }) =>
    [...text.matchAll(/^```console\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
      block.split('\n').flatMap((line) => (line.startsWith('$ ') ? [] : [{ file, line }])),
    ),
  );
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter(({ line }) => !printed.has(masked(line)))).toEqual([]);
});
