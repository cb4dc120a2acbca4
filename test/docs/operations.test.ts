import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { commands as verbList } from '../../src/cli/command-list.js';
import { PARKED } from '../../src/cli/terminal/run-words.js';
import { ROW_OUTCOMES } from '../../src/domain/outcomes.js';

const page = readFileSync(resolve('docs/operations.md'), 'utf8');
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

test('names only existing commands', () => {
  const commands = new Set(Object.keys(verbList));
  const named = [...page.matchAll(/`kybatch ([a-z]+)/g)].map(([, verb = '']) => verb);
  expect(named.filter((verb) => !commands.has(verb))).toEqual([]);
});
