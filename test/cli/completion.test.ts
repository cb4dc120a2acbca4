import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/command-list.js';
import { withFolder } from '../helpers/cli.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { here, withJob } from './here.js';

/** The completions without their descriptions. */
async function following(words: readonly string[], cwd = '/', env = {}): Promise<readonly string[]> {
  const { code, stdout, stderr } = await here(['__complete', ...words], { cwd, env });
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t')[0] ?? '');
}

describe('completions', () => {
  test.each([
    [[''], Object.keys(commands)],
    [['st'], ['status']],
    [['--data-dir', 'x', 'st'], ['status']],
    [['--data-dir', ''], [':files']],
    [['run', ''], [':files']],
    [['run', 'in.csv', '--pi'], ['--pipeline']],
    [['run', '--pipeline', 'na'], [':files']],
    [
      ['run', '--pipeline', 'n'],
      ['nightly', ':files'],
    ],
    [
      ['run', '--pipeline', '=', 'n'],
      ['nightly', ':files'],
    ],
    [
      ['run', '--pipeline=n'],
      ['--pipeline=nightly', ':files'],
    ],
    [['run', 'in.csv', ''], []],
    [['run', '--format', 'csv,'], expect.arrayContaining(['csv,parquet'])],
    [['review', 'ex'], ['export']],
    [['review', 'apply', ''], [':files']],
    [['review', 'export', '--po'], ['--portfolio']],
    [
      ['call', ''],
      ['v1', 'v2', 'mcp'],
    ],
    [['call', 'v1', 'searchK'], ['searchKyb']],
    [
      ['sandbox', '--plan', ''],
      ['free', 'paid'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['nothing', ''], []],
    [['status', ''], []],
    [[], Object.keys(commands)],
  ])('after %j', async (words, expected) => {
    await withFolder(async (cwd) => {
      expect(await following(words, cwd)).toEqual(expected);
      // Completion creates nothing.
      expect(readdirSync(cwd)).toEqual([]);
    });
  });

  long('every flag that the help of run names', async () => {
    const { stdout } = await here(['run', '--help'], { cwd: '/' });
    const flagLines = stdout.split('\n').filter((line) => /^ {2}--/.test(line));
    const general = flagLines.filter((line) => line.includes('--json')).join(' ');
    const named = [
      ...flagLines.map((line) => /--[\w-]+/.exec(line)?.[0]),
      ...(general.match(/--[\w-]+/g) ?? []).slice(1),
    ]
      .map((flag) => flag?.replace('--no-color', '--color'))
      .sort();
    expect(named.length).toBeGreaterThan(15);
    const flags = [...(await following(['run', '--']))];
    expect(flags.filter((flag) => flag !== '--version').sort()).toEqual(named);
    expect(await following(['run', '--max-units', '5', '--budge'])).toEqual([]);
  });

  long('run IDs and portfolios of the given data directory', () =>
    withJob({}, async ({ rows, writeCsv, kybatch, cwd, env }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--data-dir', 'books', '--portfolio', 'mine']);
      expect(await following(['status', ''], cwd, env)).toEqual([]);
      const [run = ''] = await following(['status', '--data-dir', 'books', ''], cwd, env);
      expect(run).toMatch(/^\d{4}-\d\d-\d\d-\w+$/);
      expect(await following(['runs', '--data-dir', 'books', 'delete', run.slice(0, 4)], cwd, env)).toEqual([run]);
      expect(await following(['changes', ''], cwd, { ...env, KYBATCH_DATA_DIR: 'books' })).toEqual(['mine']);
      // A file without a ledger. A server refuses a database without one.
      if (isOnPostgres) return;
      writeFileSync(join(cwd, 'books', 'kybatch.db'), 'no ledger');
      expect(await following(['status', '--data-dir', 'books', ''], cwd, env)).toEqual([]);
    }),
  );
});

test('the shell is taken from $SHELL, and the command names it if that does not help', async () => {
  const { stdout } = await here(['completion'], { cwd: '/', env: { SHELL: '/usr/bin/zsh' } });
  expect(stdout).toMatch(/^#compdef kybatch\n/);
  const unknown = await here(['completion'], { cwd: '/', env: { SHELL: '/bin/tcsh' } });
  expect(unknown).toMatchObject({
    code: 2,
    codes: ['SHELL_NOT_FOUND'],
    stderr: expect.stringMatching(/tcsh\n.*bash, zsh, fish/),
  });
  expect((await here(['completion', 'fisch'], { cwd: '/' })).stderr).toContain('fish?');
});

/** Each shell completes `kybatch run --pipeline n` with its own means, and prints the result. */
const ASK = {
  bash: `COMP_WORDS=(kybatch run --pipeline n); COMP_CWORD=3; _kybatch; printf "%s\\n" "\${COMPREPLY[@]}"`,
  zsh: `_describe() { print -l -- "\${(@P)2}" }; _files() { print files }; words=(kybatch run --pipeline n); CURRENT=4; _kybatch`,
  fish: 'complete -C "kybatch run --pipeline n"',
} as const;

describe('the script', { tags: 'long' }, () => {
  test.each(Object.entries(ASK))('works in %s', async (shell, ask) => {
    const program = ['/usr/bin', '/bin'].map((folder) => join(folder, shell)).find(existsSync);
    if (program === undefined) return;
    const { stdout: script } = await here(['completion', shell], { cwd: '/' });
    await withFolder(async (cwd) => {
      const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
      writeFileSync(join(cwd, 'kybatch'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
      chmodSync(join(cwd, 'kybatch'), 0o755);
      writeFileSync(join(cwd, 'nearby.yaml'), '');
      writeFileSync(join(cwd, 'ask'), `${shell === 'zsh' ? 'compdef() {}\n' : ''}${script}\n${ask}\n`);
      const env = { PATH: `${cwd}:/usr/bin:/bin`, HOME: cwd };
      const said = execFileSync(program, [join(cwd, 'ask')], { cwd, env, encoding: 'utf8' });
      expect(said).toMatch(/^nightly\b/m);
      expect(said).toMatch(shell === 'zsh' ? /^files$/m : /^nearby\.yaml/m);
    });
  });
});
