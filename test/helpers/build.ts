import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';

const root = resolve(import.meta.dirname, '../..');

/**
 * Before the first test. Tests load `build`, and those that start the command line run `dist`, as a user does: a build
 * older than the sources would let them pass or fail for code that is gone.
 */
export default function setup(project: TestProject): void {
  buildWhenStale();
  project.onTestsRerun(buildWhenStale);
}

export function buildWhenStale(): void {
  if (newestSourceMs() <= builtAtMs()) return;
  console.log('dist/ is older than src/: npm run build');
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
}

/** Folders count too: a file that was removed or renamed leaves only their time behind. */
function newestSourceMs(): number {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' });
  const files = [
    'src',
    '.ci/bundle.ts',
    '.ci/copy-assets.ts',
    'tsconfig.json',
    'tsconfig.build.json',
    ...sources.map((file) => join('src', file)),
  ];
  return Math.max(...files.map(changedAtMs));
}

/** The compiler writes even what does not type-check; the types are written last of all, after it was content. */
const builtAtMs = () => Math.min(...['build/index.js', 'dist/index.d.ts'].map(changedAtMs));

const changedAtMs = (file: string) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
