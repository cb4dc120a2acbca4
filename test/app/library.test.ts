/** @module-tag long */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { writeSampleFiles } from '../../src/sandbox/sample.js';
import { withFolder } from '../helpers/cli.js';

const ROOT = resolve(import.meta.dirname, '../..');

/** The example of README.md that begins with this line. */
function exampleOf(firstLine: string): string {
  const blocks = [...readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)];
  const found = blocks.map(([, code = '']) => code).find((code) => code.startsWith(firstLine));
  if (found === undefined) throw new Error(`README.md has no example that begins with ${firstLine}`);
  return found;
}

test('the example of the README runs unchanged with the built package on the sandbox', async () => {
  await withFolder(async (cwd) => {
    writeFileSync(join(cwd, 'example.js'), exampleOf("import { run } from 'kybatch';"));
    // A package that has kybatch installed, from the view of Node.
    writeFileSync(join(cwd, 'package.json'), '{"type": "module"}');
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(ROOT, join(cwd, 'node_modules', 'kybatch'));
    // The companies of the embedded sandbox: seed 1, its own size.
    const registry = createRegistry({ seed: 1 });
    await writeSampleFiles({ registry, rows: 5, dirty: false, out: join(cwd, 'companies.csv') });
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['example.js'], {
      cwd,
      env: { PATH: process.env.PATH ?? '' },
    });
    expect(stdout).toMatch(/^5 of 5 rows complete, 10 units, tables in \/.*\/data\/exports\/\S+\n$/);
    expect(stderr).toBe('');
    const folder = /tables in (.*)\n/.exec(stdout)?.[1] ?? '';
    expect(readFileSync(join(folder, 'companies.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(6);
  });
});
