import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { long } from '../helpers/long.js';
import { sharedPostgres, withClient, withPostgres } from './server.js';

test('a database is gone after its use', async () => {
  const names: string[] = [];
  await withPostgres(async (url) => {
    names.push(new URL(url).pathname.slice(1));
    // This connection stays open.
    await withClient(url, (client) => client.query('SELECT 1'));
  });
  await expect(withPostgres(async () => Promise.reject(new Error('broken off')))).rejects.toThrow('broken off');
  const server = await sharedPostgres();
  await withClient(server.url('postgres'), async (client) => {
    const { rows } = await client.query('SELECT 1 FROM pg_database WHERE datname = ANY($1)', [names]);
    expect(rows).toEqual([]);
  });
});

long('a server ends with its process, also a killed one, and leaves nothing', async () => {
  const home = mkdtempSync(join(tmpdir(), 'kybatch-home-'));
  // PostgreSQL does not run as root. Its other user must reach the folder.
  chmodSync(home, 0o755);
  try {
    const server = pathToFileURL(join(import.meta.dirname, 'server.ts')).href;
    const script = `
      const { startPostgres } = await import(${JSON.stringify(server)});
      console.log((await startPostgres()).url('postgres'));
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: import.meta.dirname,
      env: { ...process.env, TMPDIR: home, TSX_DISABLE_CACHE: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = line.toString().trim();
    await withClient(url, (client) => client.query('SELECT 1'));
    expect(readdirSync(home)).toHaveLength(1);
    child.kill('SIGKILL');
    await expect.poll(() => readdirSync(home), { timeout: 60_000 }).toEqual([]);
    await expect(withClient(url, (client) => client.query('SELECT 1'))).rejects.toThrow();
  } finally {
    rmSync(home, { recursive: true });
  }
});
