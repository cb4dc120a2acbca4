/** Writes the files that reading is judged by: `npm run corpus`. The same bytes every time. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { corpusFiles } from './corpus/files.js';

const folder = resolve(import.meta.dirname, '../../../fixtures/inputs');
mkdirSync(folder, { recursive: true });
for (const name of readdirSync(folder)) if (!name.startsWith('.')) rmSync(join(folder, name));
const files = await corpusFiles();
for (const { name, bytes } of files) writeFileSync(join(folder, name), bytes);
const lines = files.map(({ name, expected }) => `  ${JSON.stringify(name)}: ${JSON.stringify(expected)}`);
writeFileSync(join(folder, 'expected.json'), `{\n${lines.join(',\n')}\n}\n`);
const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
console.log(`${files.length} files, ${Math.ceil(bytes / 1_000)} kB, in ${folder}`);
