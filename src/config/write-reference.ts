import { readFileSync, writeFileSync } from 'node:fs';
import { describePipeline, REFERENCE_END, REFERENCE_START } from './describe-pipeline.js';

/** Brings the reference in docs/pipelines.md up to date: `npx tsx src/config/write-reference.ts`. */
const path = new URL('../../docs/pipelines.md', import.meta.url);
const text = readFileSync(path, 'utf8');
const start = text.indexOf(REFERENCE_START);
const end = text.indexOf(REFERENCE_END);
if (start === -1 || end === -1) throw new Error('docs/pipelines.md has lost its markers');
writeFileSync(path, `${text.slice(0, start)}${REFERENCE_START}\n\n${describePipeline()}\n${text.slice(end)}`);
