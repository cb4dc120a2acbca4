import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyAssets } from '../../.ci/copy-assets.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Compiles `src` as a release is compiled, beside the packages it imports, and leaves `dist` alone. At run time
 * tsx names every function, which would slow down code that creates functions per call.
 */
export function buildForBench(): string {
  const folder = join(root, 'node_modules', '.cache', 'kybatch-bench');
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['-p', join(root, 'tsconfig.build.json'), '--outDir', folder, '--declaration', 'false'];
  execFileSync(process.execPath, [compiler, ...options], { stdio: ['ignore', 'inherit', 'inherit'] });
  copyAssets(folder);
  // The command line reads its version from two folders above it.
  cpSync(join(root, 'package.json'), join(folder, '..', 'package.json'));
  return folder;
}
