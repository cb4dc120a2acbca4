import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { parse } from 'yaml';

const SRC = resolve(import.meta.dirname, '../src');

/**
 * Adds to a build the files that the compiler does not copy. Data files become JSON, which is parsed a hundred times as
 * fast as YAML.
 */
export function copyAssets(build: string): void {
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
    const [from, to] = [join(SRC, file), join(build, file)];
    const folder = dirname(to);
    if (extname(file) === '.yaml' && basename(folder) === 'data') {
      mkdirSync(folder, { recursive: true });
      writeFileSync(to.replace(/yaml$/, 'json'), JSON.stringify(parse(readFileSync(from, 'utf8'))));
    } else if (!['', '.ts'].includes(extname(file))) cpSync(from, to);
  }
}
