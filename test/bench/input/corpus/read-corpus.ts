import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Expected } from './expected.js';

const FOLDER = resolve(import.meta.dirname, '../../../../fixtures/inputs');

/** A file on disk, and its expected reading. */
export interface CorpusCase {
  readonly name: string;
  readonly path: string;
  readonly expected: Expected;
}

export function readCorpus(): CorpusCase[] {
  const expected = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as Record<string, Expected>;
  return Object.entries(expected).map(([name, what]) => ({ name, path: join(FOLDER, name), expected: what }));
}
