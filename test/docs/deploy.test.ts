import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { commands as verbList } from '../../src/cli/command-list.js';
import { grantTo } from '../../src/ledger/db/postgres/migrate.js';
import { withJob } from '../cli/here.js';

const read = (name: string) => readFileSync(resolve('docs/deploy', name), 'utf8');
const page = (name: string) => readFileSync(resolve('docs/how-to', name), 'utf8');
const MAIN = resolve('dist/cli/main.js');

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly image: string;
        readonly command?: readonly string[];
        readonly entrypoint?: readonly string[];
        readonly secrets?: readonly string[];
        readonly stop_grace_period?: string;
      }
    >
  >;
  readonly secrets: Readonly<Record<string, unknown>>;
}

/** Replaces the paths of the page by those of this machine. */
const here = (line: string, cwd: string): string =>
  line
    .replaceAll('/usr/bin/node', process.execPath)
    .replaceAll('/opt/kybatch/dist/cli/main.js', MAIN)
    .replaceAll('/srv/kybatch', cwd);

/** As cron and systemd run commands: with only the given environment. */
function runBare(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: number | null; output: string }>((done, fail) => {
    const child = spawn(command, args, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    child.on('error', fail);
    child.on('close', (code) => done({ code, output }));
  });
}

describe('the pages about operation, and the files in docs/deploy', () => {
  test('both crontab lines and the service command work with an empty environment', async () => {
    const lines = [...page('nightly.md').matchAll(/^\d+ \d+ \* \* \* (.+)$/gm)].map(([, line = '']) => line);
    expect(lines).toHaveLength(2);
    await withJob({}, async ({ cwd, env, sandbox, rows, writeCsv }) => {
      writeCsv('portfolio.csv', rows.slice(0, 2));
      mkdirSync(join(cwd, 'keys'));
      for (const api of ['v1', 'v2'] as const) writeFileSync(join(cwd, 'keys', api), `${sandbox.keys[api]}\n`);
      const files = {
        KYBATCH_V1_API_KEY_FILE: join(cwd, 'keys', 'v1'),
        KYBATCH_V2_API_KEY_FILE: join(cwd, 'keys', 'v2'),
      };
      const addresses = Object.fromEntries(Object.entries(env).filter(([name]) => !name.includes('KEY')));
      const dotEnv = Object.entries({ ...addresses, ...files }).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(join(cwd, '.env'), dotEnv.join(''));
      const [night = '', check = ''] = lines.map((line) => here(line, cwd));
      expect(await runBare('/bin/sh', ['-c', night])).toEqual({ code: 0, output: '' });
      expect(readFileSync(join(cwd, 'last-night.txt'), 'utf8')).toContain('rows=2 complete=2');
      expect(await runBare('/bin/sh', ['-c', check])).toEqual({ code: 0, output: '' });
      expect(readFileSync(join(cwd, 'check.txt'), 'utf8')).toMatch(/^OK /);

      const [, start = ''] = /^ExecStart=(.+)$/m.exec(read('kybatch.service')) ?? [];
      const [program = '', ...args] = here(start, cwd).split(' ');
      const given = { ...addresses, ...files, KYBATCH_DATA_DIR: join(cwd, 'state') };
      const end = await runBare(program, args, given);
      expect(end).toMatchObject({ code: 0, output: expect.stringContaining('rows=2 complete=2') });
    });
  });

  test('every crontab line of the pages names its program in full', () => {
    const lines = [readFileSync('README.md', 'utf8'), ...readdirSync('docs/how-to').map(page)].flatMap((text) =>
      [...text.matchAll(/^[\d*/]+ [\d*/]+ \* \* \* +(.+)$/gm)].map(([, line = '']) => line),
    );
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines)
      expect(line).toMatch(/^cd \/srv\/kybatch && \/usr\/bin\/node \/opt\/kybatch\/dist\/cli\/main\.js [a-z]/);
  });

  test('the second crontab line prints problems and nothing else', async () => {
    const [, line = ''] = /^0 7 \* \* \* (.+)$/m.exec(page('nightly.md')) ?? [];
    await withJob({}, async ({ cwd }) => {
      const { output } = await runBare('/bin/sh', ['-c', here(line, cwd)]);
      expect(output).toMatch(/^ATTENTION [^\n]+\n$/);
    });
  });

  test('the pages about operation name untested setups', () => {
    for (const name of ['nightly.md', 'several-machines.md', 'ledger-backup-and-move.md'])
      expect(page(name), name).toMatch(/^## Tested on\n.*\bnot tested\b/ms);
  });

  test('the compose and Kubernetes files parse, use existing commands, and leave time to drain', () => {
    const commands = new Set(Object.keys(verbList));
    const { services, secrets } = parse(read('compose.yaml'), { merge: true }) as Compose;
    const own = Object.entries(services).filter(([, { image }]) => image === 'kybatch');
    expect(own.map(([name]) => name)).toEqual(['migrate', 'run', 'worker']);
    for (const [name, { command, entrypoint, secrets: used = [] }] of own) {
      expect([...commands], name).toContain(command?.[0] ?? entrypoint?.[1]);
      for (const secret of used) expect(Object.keys(secrets), name).toContain(secret);
    }
    expect(services.worker?.stop_grace_period).toBe('3m');

    const documents = parseAllDocuments(read('kubernetes.yaml'));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const kinds = documents.map((document) => (document.toJS() as { readonly kind: string }).kind);
    expect(kinds).toEqual(['Job', 'CronJob', 'Deployment', 'PersistentVolumeClaim']);
    const called = [...read('kubernetes.yaml').matchAll(/args: \[(\w+)/g)].map(([, verb = '']) => verb);
    expect(called).toEqual(['ledger', 'run', 'worker']);
    expect(read('kubernetes.yaml').match(/terminationGracePeriodSeconds: 180/g)).toHaveLength(2);
  });

  test('the page about several machines has the grants of migrate', () => {
    const text = page('several-machines.md');
    const rights = [...grantTo('worker').matchAll(/GRANT ([A-Z, ]+) ON/g)].flatMap(([, list = '']) => list.split(', '));
    for (const right of new Set(rights)) expect(text).toContain(`\`${right}\``);
  });

  test('the container runs as an unprivileged user, and has neither keys nor data', () => {
    expect(read('Dockerfile')).toMatch(/^USER node$/m);
    expect(read('Dockerfile')).toMatch(/^VOLUME \/data$/m);
    const left = read('Dockerfile.dockerignore').split('\n');
    for (const name of ['.env', 'data']) expect(left).toContain(name);
  });
});
