import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** @module-tag long */

const ROOT = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'kybatch-tarball-'));
const modules = join(folder, 'node_modules');

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
const kybatch = (...args: readonly string[]): string => run(join(modules, '.bin', 'kybatch'), ...args);

let packed: readonly string[] = [];

/** As npm installs it, without a network: the packed files, and a link to each dependency. */
beforeAll(() => {
  const [{ filename = '', files }] = JSON.parse(
    execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ filename: string; files: readonly { path: string }[] }];
  packed = files.map(({ path }) => path);
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(join(modules, 'kybatch'));
  run('tar', '-xzf', filename, '-C', join(modules, 'kybatch'), '--strip-components=1');
  const manifest = readFileSync(join(modules, 'kybatch', 'package.json'), 'utf8');
  const { dependencies, optionalDependencies } = JSON.parse(manifest) as Manifest;
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  symlinkSync('../kybatch/dist/cli/main.js', join(modules, '.bin', 'kybatch'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the package has few files, and a source map for each code file', () => {
  expect(packed.length).toBeLessThan(150);
  const code = packed.filter((path) => /^dist\/.*\.js$/.test(path));
  const withoutMap = code.filter((path) => !packed.includes(`${path}.map`));
  // The first three only re-export others. The last is sent to browsers as it is.
  expect(withoutMap).toEqual([
    'dist/app/page-thread.js',
    'dist/index.js',
    'dist/lib/rolldown-runtime.js',
    'dist/web/static/script.js',
  ]);
});

test.for([['--help'], ['run', '--help'], ['review', '--help']])(
  'the packages in the bundle write the help of the original packages: %j',
  (args) => {
    expect(kybatch(...args)).toBe(run(process.execPath, join(ROOT, 'build/cli/main.js'), ...args));
  },
);

test('the package has the report and the page with their style', () => {
  for (const file of ['style.css', 'script.js']) expect(packed).toContain(`dist/web/static/${file}`);
});

test('the licence of each package in the bundle comes with it', () => {
  const licences = readFileSync(join(modules, 'kybatch', 'dist', 'lib', 'LICENSES.txt'), 'utf8');
  for (const name of ['zod', 'yargs', 'cliui', 'yargs-parser']) expect(licences).toMatch(new RegExp(`^${name}$`, 'm'));
});

test('the demo runs: workbook, Parquet, routes, migrations and pipelines are found', () => {
  run(process.execPath, join(modules, 'kybatch', 'dist', 'cli', 'demo.js'));
  const data = join(modules, 'kybatch', 'data', 'demo');
  const { runs } = JSON.parse(kybatch('runs', '--data-dir', data, '--json')) as { runs: { run: string }[] };
  expect(runs).toHaveLength(1);
  const folderOfRun = join(data, 'exports', runs[0]?.run ?? '');
  for (const file of ['results.xlsx', 'rows.csv', 'rows.parquet'])
    expect(readFileSync(join(folderOfRun, file)).length).toBeGreaterThan(0);
});

test('threads pack large answers and write tables', () => {
  kybatch('sandbox', 'sample', '--rows', '300', '--out', 'sample.csv');
  const threads = join(folder, 'threads.mjs');
  // The entry file of a thread is logged before it starts.
  writeFileSync(
    threads,
    `import worker from 'node:worker_threads';
import { syncBuiltinESMExports } from 'node:module';
const { Worker } = worker;
worker.Worker = class extends Worker {
  constructor(url, options) {
    super(url, options);
    const name = new URL(url).pathname.split('/').at(-1);
    this.on('online', () => console.error('online ' + name)).on('error', (error) => console.error('error ' + name, error));
  }
};
syncBuiltinESMExports();
`,
  );
  const main = join(modules, '.bin', 'kybatch');
  const said = run(
    'bash',
    '-c',
    `"$0" --import "$1" "$2" run sample.csv --sandbox --yes --format csv 2>&1 || true`,
    process.execPath,
    threads,
    main,
  );
  expect(said).toContain('online pack-worker.js');
  expect(said).toContain('online bulk-worker.js');
  expect(said).not.toContain('error ');
});

test('the public API can be imported, and has its types', () => {
  writeFileSync(
    join(folder, 'use.ts'),
    `import { plan, startSandbox, type Sandbox } from 'kybatch';
const sandbox: Sandbox = await startSandbox({ size: 100 });
try {
  const planned = await plan({ input: process.argv[2] ?? '', sandbox: true, dataDir: 'nothing-owned' });
  const atLeast: number = planned.units.atLeast;
  console.log(JSON.stringify({ atLeast }));
} finally {
  await sandbox.close();
}
`,
  );
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const flags = '--module NodeNext --target ES2023 --strict --skipLibCheck --types node --typeRoots'.split(' ');
  const types = join(ROOT, 'node_modules', '@types');
  run(process.execPath, compiler, ...flags, types, join(folder, 'use.ts'));
  const { atLeast } = JSON.parse(run(process.execPath, 'use.js', 'sample.csv')) as { atLeast: number };
  expect(atLeast).toBeGreaterThan(0);
  // The types are real, not `any`.
  const wrong = readFileSync(join(folder, 'use.ts'), 'utf8').replace('atLeast: number', 'atLeast: string');
  writeFileSync(join(folder, 'wrong.ts'), wrong);
  expect(() => run(process.execPath, compiler, ...flags, types, '--noEmit', join(folder, 'wrong.ts'))).toThrow();
});
