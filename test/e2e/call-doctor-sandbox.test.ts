import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { v1Operations } from '../../src/api/v1/operations.js';
import { v2Operations } from '../../src/api/v2/operations.js';
import { commands } from '../../src/cli/command-list.js';
import { here as cli } from '../cli/here.js';
import { cli as builtCli, environmentFor, startCli, withFolder } from '../helpers/cli.js';
import { long } from '../helpers/long.js';
import { findCompany, withSandbox } from '../helpers/sandbox.js';

describe('kybatch', { tags: 'long' }, () => {
  test('--help lists the commands, and a mistyped one gets a suggestion and exit 2', async () => {
    await withFolder(async (cwd) => {
      const help = await builtCli(['--help'], { cwd });
      expect(help.code).toBe(0);
      for (const command of Object.keys(commands))
        expect(help.stdout).toMatch(new RegExp(`^ {2}${command} {2,}\\S`, 'm'));
      const mistyped = await builtCli(['docter'], { cwd });
      expect(mistyped).toMatchObject({ code: 2, stdout: '' });
      expect(mistyped.stderr).toContain('doctor');
      expect((await cli([], { cwd })).code).toBe(2);
      expect((await cli(['doctor', '--sandbx'], { cwd })).code).toBe(2);
    });
  });

  test('each command has a help page with examples or exit codes', async () => {
    await withFolder(async (cwd) => {
      for (const command of Object.keys(commands)) {
        const { code, stdout } = await cli([command, '--help'], { cwd });
        expect(code).toBe(0);
        expect(stdout).toMatch(/^Examples$/m);
      }
    });
  });
});

describe('kybatch call', () => {
  long.each([
    ['v1', v1Operations],
    ['v2', v2Operations],
  ] as const)('lists every operation of %s with its parameters', async (api, operations) => {
    await withFolder(async (cwd) => {
      const listing = await cli(['call', api], { cwd });
      expect(listing.code).toBe(0);
      for (const name of Object.keys(operations)) expect(listing.stdout).toContain(`${name}: `);
      const machine = JSON.parse((await cli(['call', api, '--json'], { cwd })).stdout) as {
        operations: { operation: string; parameters: unknown[] }[];
      };
      expect(machine.operations.map(({ operation }) => operation)).toEqual(Object.keys(operations));
    });
  });

  long('prints exact JSON on stdout and facts on stderr, and with --json one object', async () => {
    await withFolder(async (cwd) => {
      await withSandbox({}, async ({ sandbox }) => {
        const company = findCompany(sandbox, ({ v1Id }) => BigInt(v1Id) > 2n ** 53n);
        const env = environmentFor(sandbox);
        const params = `{"id":${company.v1Id}}`;
        const plain = await cli(['call', 'v1', 'fullKyb', '--params', params], { cwd, env });
        expect(plain.code).toBe(0);
        expect(plain.stderr).toContain('units_charged 1');
        const raw = await cli(['call', 'v1', 'fullKyb', '--params', params, '--json', '--rebuy'], { cwd, env });
        expect(raw.stdout.trim().split('\n')).toHaveLength(1);
        expect(raw.stdout).toContain('"units_charged":1');
        expect(raw.stdout.replace(/\s/g, '')).toContain(plain.stdout.replace(/\s/g, ''));
        expect(sandbox.requestLog.at(-1)?.path).toContain(company.v1Id);
      });
    });
  });

  test('refuses before sending: unknown operation (with a suggestion), bad JSON, bad values, nothing configured', async () => {
    await withFolder(async (cwd) => {
      await withSandbox({}, async ({ sandbox }) => {
        const env = environmentFor(sandbox);
        const unknown = await cli(['call', 'v1', 'serchKyb', '--json'], { cwd, env });
        expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining(' searchKyb?') });
        expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: 'OPERATION_NOT_FOUND' } });
        // A member that every object has is not an operation.
        expect(await cli(['call', 'v1', 'toString'], { cwd, env })).toMatchObject({ code: 2 });
        expect((await cli(['call', 'v1', 'liteKyb', '--params', '{'], { cwd, env })).code).toBe(2);
        const invalid = await cli(['call', 'v1', 'searchKyb', '--params', '{"location":"UK","name":"x"}', '--json'], {
          cwd,
          env,
        });
        expect(invalid.code).toBe(2);
        expect(JSON.parse(invalid.stdout)).toMatchObject({
          error: { code: 'INVALID_PARAMS', problems: [expect.stringMatching(/^location: .* GB.*"UK"$/)] },
        });
        expect(
          (
            await cli(['call', 'v2', 'ownership', '--params', '{"name":"x"}'], {
              cwd,
              env: { ...env, KYBATCH_V2_ROUTES: '' },
            })
          ).stderr,
        ).toContain('ownership');
        expect(sandbox.requestLog).toEqual([]);
      });
      const unconfigured = await cli(['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'], { cwd });
      expect(unconfigured).toMatchObject({ code: 2 });
      expect(unconfigured.stderr).toContain('KYBATCH_V1_BASE_URL');
    });
  });

  test.each([
    ['a refused key', 5, { status: 401 }],
    ['a spent allowance', 4, { status: 429, code: 'ALLOWANCE_EXHAUSTED' }],
    ['a provider that is down', 6, { status: 503 }],
  ] as const)('%s exits %i', async (_, code, fault) => {
    await withFolder(async (cwd) => {
      await withSandbox({}, async ({ sandbox }) => {
        sandbox.script(
          { operation: 'liteKyb' },
          Array.from({ length: 10 }, () => fault),
        );
        expect(
          (await cli(['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'], { cwd, env: environmentFor(sandbox) })).code,
        ).toBe(code);
      });
    });
  });
});

describe('kybatch doctor', () => {
  test('V1-8 reports that the keys work, free of charge', async () => {
    await withFolder(async (cwd) => {
      await withSandbox({ plan: 'free' }, async ({ sandbox }) => {
        const { code, stdout } = await cli(['doctor'], { cwd, env: environmentFor(sandbox) });
        expect(code).toBe(0);
        expect(stdout).toMatch(/✓ v1 key/);
        expect(stdout).toMatch(/✓ v2 key/);
        expect(stdout).toContain(' 3 of 3 ');
        expect(sandbox.chargeLog).toEqual([]);
      });
    });
  });

  long.each([
    [
      'a test key',
      (sandbox: { keys: { v1Test: string } }) => ({ KYBATCH_V1_API_KEY: sandbox.keys.v1Test }),
      5,
      'v1 key',
    ],
    ['a wrong v1 key', () => ({ KYBATCH_V1_API_KEY: 'canary-wrong' }), 5, 'UNAUTHENTICATED'],
    ['a wrong v2 key', () => ({ KYBATCH_V2_API_KEY: 'canary-wrong' }), 5, 'v2 key'],
    [
      'a wrong v1 address',
      (sandbox: { v1BaseUrl: string }) => ({ KYBATCH_V1_BASE_URL: `${sandbox.v1BaseUrl}x` }),
      2,
      'KYBATCH_V1_BASE_URL',
    ],
    ['no listener', () => ({ KYBATCH_V1_BASE_URL: 'http://127.0.0.1:9/v1' }), 6, 'PROVIDER_UNREACHABLE'],
  ] as const)('%s', async (_, change, code, words) => {
    await withFolder(async (cwd) => {
      await withSandbox({}, async ({ sandbox }) => {
        const result = await cli(['doctor'], { cwd, env: { ...environmentFor(sandbox), ...change(sandbox) } });
        expect(result.code).toBe(code);
        expect(result.stdout).toContain(words);
        expect(result.stdout + result.stderr).not.toContain('canary');
      });
    });
  });

  test('V1-10 names the scopes a key lacks', async () => {
    await withFolder(async (cwd) => {
      await withSandbox({}, async ({ sandbox }) => {
        const env = { ...environmentFor(sandbox), KYBATCH_V1_API_KEY: sandbox.keys.v1Scopes(['company:read']) };
        const { code, stdout } = await cli(['doctor'], { cwd, env });
        expect(code).toBe(0);
        expect(stdout).toContain('company:read granted, ownership:read MISSING, financials:read MISSING');
        expect(sandbox.chargeLog).toEqual([]);
      });
    });
  });

  long('reports a damaged database, and exits 2 if nothing is configured', async () => {
    await withFolder(async (cwd) => {
      expect((await cli(['doctor'], { cwd })).code).toBe(2);
      writeFileSync(join(cwd, 'kybatch.db'), 'this is not a database, and long enough to be looked at'.repeat(100));
      const damaged = await cli(['doctor', '--sandbox', '--data-dir', '.'], { cwd });
      expect(damaged.code).toBe(1);
      expect(damaged.stdout).toContain('damaged');
      expect((await cli(['doctor', '--sandbox', '--json'], { cwd })).stdout).toMatch(
        /^\{"findings":\[.*\],"v2_permissions":.*\}\n$/,
      );
    });
  });
});

describe('kybatch sandbox', { tags: 'long' }, () => {
  test('serves the printed addresses until interrupted', async () => {
    await withFolder(async (cwd) => {
      const { child, finished } = startCli(['sandbox', '--port', '0', '--json'], { cwd });
      if (child.stdout === null) throw new Error('no stdout');
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const env = JSON.parse(line.toString()) as Record<string, string>;
      const called = await cli(['call', 'v1', 'searchKyb', '--params', '{"location":"GB","name":"Thomas"}'], {
        cwd,
        env,
      });
      expect(called.code).toBe(0);
      child.kill('SIGINT');
      expect(await finished).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/ 1 v1 .* 0 v2 /),
      });
    });
  });

  test('a port in use, and an unknown fault, exit 2', async () => {
    await withFolder(async (cwd) => {
      await withSandbox({}, async ({ sandbox }) => {
        expect((await cli(['sandbox', '--port', String(sandbox.port)], { cwd })).code).toBe(2);
      });
      expect((await cli(['sandbox', '--port', '0', '--faults', 'gremlins'], { cwd })).code).toBe(2);
    });
  });

  test('sample writes existing companies, and their answers', async () => {
    await withFolder(async (cwd) => {
      expect((await cli(['sandbox', 'sample', '--rows', '30', '--dirty'], { cwd })).code).toBe(0);
      const rows = parse(readFileSync(join(cwd, 'sample.csv')), { columns: true }) as Record<string, string>[];
      const answers = parse(readFileSync(join(cwd, 'sample.answers.csv')), { columns: true }) as Record<
        string,
        string
      >[];
      expect(rows).toHaveLength(30);
      expect(answers.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    });
  });
});

describe('keys', () => {
  test('a canary key reaches no output after any failure', async () => {
    await withFolder(async (cwd) => {
      await withSandbox({ keys: { v1: 'canary-v1-key', v2: 'canary-v2-key' } }, async ({ sandbox }) => {
        const env = environmentFor(sandbox);
        const attempts: [readonly string[], Record<string, string>?][] = [
          [['doctor']],
          [['doctor', '--json']],
          [['call', 'v1', 'liteKyb', '--params', '{"id":"1"}']],
          [['call', 'v2', 'metrics', '--json']],
          [['call', 'v2', 'kybLite', '--params', '{"id":"0"}']],
          [['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'], { KYBATCH_V1_BASE_URL: 'http://127.0.0.1:9' }],
          [['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'], { KYBATCH_V1_BASE_URL: 'http://example.com' }],
          [['call', 'v1', 'liteKyb', '--params', '{"id":"1"}'], { KYBATCH_V1_API_KEY: 'canary with blanks' }],
        ];
        for (const [args, change] of attempts) {
          const { stdout, stderr } = await cli(args, { cwd, env: { ...env, ...change } });
          expect(stdout + stderr).not.toContain('canary');
        }
      });
    });
  });
});
