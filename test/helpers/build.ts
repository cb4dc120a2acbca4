import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';

const root = resolve(import.meta.dirname, '../..');

/**
 * Runs before the first test. Tests load `build`, and tests of the command line run `dist`. A build older than the
 * sources would test code that no longer exists.
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

/** Folders count too, because a removed or renamed file changes only the time of its folder. */
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

/** The compiler writes code even if it does not type-check. It writes the types last, after the check has passed. */
const builtAtMs = () => Math.min(...['build/index.js', 'dist/index.d.ts'].map(changedAtMs));

const changedAtMs = (file: string) => statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
