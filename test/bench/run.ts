import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { formatTable, type Section } from './table.js';

const folder = new URL('./sections/', import.meta.url);
const known = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();
const { positionals: wanted, values } = parseArgs({ allowPositionals: true, options: { rows: { type: 'string' } } });
// Sections read it when they are loaded.
if (values.rows !== undefined) process.env.KYBATCH_BENCH_ROWS = values.rows;
const unknown = wanted.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`There is no section ${unknown.join(', ')}. Sections: ${known.join(', ')}.`);
  process.exitCode = 2;
} else {
  console.log(
    `Node ${process.version}, ${process.arch}, ${cpus().length} cores, ${new Date().toISOString().slice(0, 10)}`,
  );
  for (const name of wanted.length > 0 ? wanted : known) {
    const section = (await import(new URL(`${name}.ts`, folder).href)) as Section;
    console.log(`\n${name}: ${section.title}\n`);
    console.log(formatTable(await section.run()));
  }
}
