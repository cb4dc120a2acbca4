import { readFileSync, writeFileSync } from 'node:fs';
import { describeTables, REFERENCE_END, REFERENCE_START } from './describe-tables.js';

/** Brings the reference in docs/tables.md up to date: `npx tsx src/export/write-reference.ts`. */
const path = new URL('../../docs/tables.md', import.meta.url);
const text = readFileSync(path, 'utf8');
const start = text.indexOf(REFERENCE_START);
const end = text.indexOf(REFERENCE_END);
if (start === -1 || end === -1) throw new Error('docs/tables.md has lost its markers');
writeFileSync(path, `${text.slice(0, start)}${REFERENCE_START}\n\n${describeTables()}\n${text.slice(end)}`);
