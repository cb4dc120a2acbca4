import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { describeCommands } from './reference/commands.js';
import { describeConfiguration, VARIABLES } from './reference/configuration.js';
import { describeMatchReasons, unknownCodes } from './reference/match-reasons.js';
import { describePipeline } from './reference/pipeline.js';
import { describeStates } from './reference/states.js';
import { describeTables } from './reference/tables.js';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = join(ROOT, 'docs/reference');

const generated = new Map([
  ['commands.md', await describeCommands()],
  ['configuration.md', describeConfiguration()],
  ['pipeline.md', describePipeline()],
  ['states-and-exit-codes.md', describeStates()],
  ['match-reasons.md', describeMatchReasons()],
  ...[...describeTables()].map(([name, text]): [string, string] => [`tables/${name}.md`, text]),
]);

if (process.env.KYBATCH_WRITE_DOCS === '1') {
  rmSync(join(FOLDER, 'tables'), { recursive: true, force: true });
  for (const [file, text] of generated) {
    mkdirSync(dirname(join(FOLDER, file)), { recursive: true });
    writeFileSync(join(FOLDER, file), text);
  }
}

test.each([...generated])('docs/reference/%s matches the code (npm run docs writes it)', (file, text) => {
  expect(readFileSync(join(FOLDER, file), 'utf8')).toBe(text);
});

test('docs/reference has no page of a removed table', () => {
  const there = readdirSync(join(FOLDER, 'tables')).map((file) => `tables/${file}`);
  expect(there.filter((file) => !generated.has(file))).toEqual([]);
});

test('the page about configuration names the variables that src reads', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const text = sources.map((file) => readFileSync(join(ROOT, 'src', file), 'utf8')).join('\n');
  const read = new Set([...text.matchAll(/\bKYBATCH_[A-Z0-9_]+/g)].map(([name]) => name.replace(/_FILE$/, '')));
  // The beginning of several names.
  read.delete('KYBATCH_V2');
  expect([...read].filter((name) => !(name in VARIABLES))).toEqual([]);
  expect(Object.keys(VARIABLES).filter((name) => !text.includes(name) && !/_BASE_URL$/.test(name))).toEqual([]);
});

test('every code with advice is a code of a row', () => {
  expect(unknownCodes()).toEqual([]);
});
