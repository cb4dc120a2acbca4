import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import { writeSample } from '../../src/sandbox/sample.js';
import { environmentFor, withFolder } from '../helpers/cli.js';
import { withSandbox } from '../helpers/sandbox.js';

const KYBATCH = `${process.execPath} ${resolve(import.meta.dirname, '../../dist/cli/main.js')}`;

/** A small test disk needs no rights if user namespaces are allowed. */
const smallDisks = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

interface Shell {
  readonly output: string;
  readonly codes: Readonly<Record<string, number>>;
}

/** Runs a script with `$K` for kybatch. `code NAME` records the exit code of the previous command. */
async function shell(script: string, cwd: string, env: Readonly<Record<string, string>>, disk = false): Promise<Shell> {
  const lines = `K="${KYBATCH}"\ncode() { echo "code $1 $?"; }\n${script}`;
  const [program, args] = disk ? ['unshare', ['-rm', 'bash', '-c', lines]] : ['bash', ['-c', lines]];
  const output = await new Promise<string>((done) => {
    const options = {
      cwd,
      env: { PATH: process.env.PATH ?? '', ...env },
      timeout: 200_000,
      killSignal: 'SIGKILL' as const,
    };
    execFile(program, args, options, (_, stdout, stderr) => done(`${stdout}${stderr}`));
  });
  const codes = [...output.matchAll(/^code (\w+) (\d+)$/gm)].map(
    ([, name = '', code]) => [name, Number(code)] as const,
  );
  return { output, codes: Object.fromEntries(codes) };
}

async function withInput(rows: number, use: (cwd: string, sandbox: Sandbox) => Promise<void>): Promise<void> {
  await withFolder((cwd) =>
    withSandbox({}, async ({ sandbox }) => {
      const lines = [...writeSample({ registry: sandbox.registry, rows, dirty: false })].map(({ input }) => input);
      writeFileSync(join(cwd, 'in.csv'), stringify(lines, { header: true }));
      mkdirSync(join(cwd, 'disk'));
      await use(cwd, sandbox);
    }),
  );
}

describe('a full disk', () => {
  test.skipIf(!smallDisks)('a run stops and can continue, an export fails and keeps the previous one', async () => {
    await withInput(60, async (cwd, sandbox) => {
      const { output, codes } = await shell(
        `mount -t tmpfs -o size=64m tmpfs disk; cd disk
        head -c 47m /dev/zero > fill
        # Somebody else fills the disk once the run has begun to write.
        (until [ "$(stat -c %s data/kybatch.db-wal 2>/dev/null || echo 0)" -gt 400000 ]; do :; done; head -c 12m /dev/zero > fill2) &
        $K run ../in.csv --pipeline backfill --yes; code full
        wait; rm fill2
        rm fill; $K resume --yes; code resumed
        before=$(cat data/exports/2*/* 2>/dev/null | sha256sum)
        cat /dev/zero > fill 2>/dev/null; truncate -s -256K fill; $K export; code exported
        [ "$before" = "$(cat data/exports/2*/* 2>/dev/null | sha256sum)" ]; code same
        [ "$(ls -A data/exports | grep -vcx latest)" = 1 ]; code clean
        $K run ../in.csv --pipeline backfill --yes --rebuy; code refused
        id=$(sed -n 2p data/exports/2*/companies.csv | cut -d, -f1 | tr -d '"')
        # Older tables of the same list: only its newest stay.
        rm fill; cp -r data/exports/2* data/older && mv data/older data/exports
        sed -i 's/"exported_at": "[^"]*"/"exported_at": "2020-01-01T00:00:00Z"/' data/exports/older/summary.json
        cat /dev/zero > fill 2>/dev/null; $K status; code looked
        $K prune --older-than 9000d --yes; code nothing_old
        # Without room for a copy of the ledger, too.
        touch -d 2020-01-01 data/logs/*; mkdir tmp; TMPDIR=$PWD/tmp $K prune --older-than 1d --yes; code pruned
        [ -z "$(ls data/logs)" ]; code logs
        [ "$(ls -A data/exports | grep -vcx latest)" = 1 ]; code room
        cat /dev/zero > more 2>/dev/null; truncate -s -1M more; $K purge --entity "v1:$id" --yes --json; code unproved
        rm fill more; $K purge --entity "v1:$id" --yes --json; code proved`,
        cwd,
        environmentFor(sandbox),
        true,
      );
      expect(codes, output).toEqual({
        full: 1,
        resumed: 0,
        exported: 1,
        same: 0,
        clean: 0,
        refused: 1,
        looked: 0,
        nothing_old: 1,
        pruned: 0,
        logs: 0,
        room: 0,
        unproved: 1,
        proved: 0,
      });
      const [unproved, proved] = [...output.matchAll(/^\{"runs":.*\}$/gm)].map(([line]) => JSON.parse(line));
      expect(unproved).toMatchObject({
        removed: { rows: 1 },
        not_proved: expect.arrayContaining([expect.stringContaining('SQLITE_FULL')]),
      });
      expect(proved).toMatchObject({ times_in_file: 0 });
      expect(proved).not.toHaveProperty('not_proved');
      expect(output).toMatch(/DISK_FULL: [^.]*kybatch\.db/);
      expect(output).toMatch(/kybatch resume \S+ --yes/);
      expect(output).toMatch(/ 120 units /);
      expect(output).toMatch(/DISK_FULL: [^`]*exports[^`]*ENOSPC[^`]*`--out DIR`/);
      expect(output).not.toMatch(/defect/);
    });
  });

  test('a file size limit ends a run within seconds, with a message', async () => {
    await withInput(40, async (cwd, sandbox) => {
      const { output, codes } = await shell(
        'ulimit -f 1000; $K run in.csv --pipeline backfill --yes; code limited',
        cwd,
        environmentFor(sandbox),
      );
      expect(codes, output).toEqual({ limited: 1 });
      expect(output).toMatch(/IO_ERROR: [^`]*kybatch\.db[^`]*SQLITE_IOERR/);
      expect(output).toMatch(/kybatch resume/);
      expect(output).not.toMatch(/defect/);
    });
  });

  test.skipIf(!existsSync('/dev/full'))(
    'failed output does not stop a run, and a truncated result is reported',
    async () => {
      await withInput(3, async (cwd, sandbox) => {
        const { output, codes } = await shell(
          '$K run in.csv --pipeline backfill --yes 2>/dev/full; code silent\n$K runs --json >/dev/full; code cut',
          cwd,
          environmentFor(sandbox),
        );
        expect(codes.silent, output).toBe(0);
        expect(codes.cut, output).toBe(1);
        expect(output).toMatch(/^error: stdout [^`]*\(ENOSPC\)/m);
      });
    },
  );
});
