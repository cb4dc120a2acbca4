import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../postgres/wire.js';

/** Debian’s folder of the newest PostgreSQL with administration tools. */
const bin = (): string => {
  const all = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  const newest = all
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => b - a)[0];
  if (newest === undefined) throw new Error('PostgreSQL with pg_basebackup is needed, as Debian has it: postgresql');
  return `/usr/lib/postgresql/${newest}/bin`;
};

interface ClusterNode {
  readonly folder: string;
  readonly port: number;
}

/** A primary and its standby, which accept only TLS, behind one address. Root runs them as `postgres`. */
export class Cluster {
  readonly #bin = bin();
  readonly #folder = mkdtempSync(join(tmpdir(), 'kybatch-failover-'));
  readonly #sockets = new Set<Socket>();
  readonly #junction = createServer((client) => this.#forward(client));
  #made = 0;
  #primary: ClusterNode | undefined;
  #standby: ClusterNode | undefined;
  /** The paused receiver of the standby. */
  #receiver: number | undefined;
  /** The port of the one address. */
  port = 0;

  /** The certificate of the authority that signed those of the servers. */
  get authority(): string {
    return join(this.#folder, 'ca.pem');
  }

  async start(): Promise<void> {
    this.#own(this.#folder);
    this.port = await listen(this.#junction, 0);
    this.#certify();
    const primary = await this.#newNode();
    this.#do('initdb', '-D', primary.folder, '-U', 'postgres', '--auth=trust', '-E', 'UTF8');
    appendFileSync(
      join(primary.folder, 'postgresql.conf'),
      `\nlisten_addresses = 'localhost'\nunix_socket_directories = '${this.#folder}'\nssl = on\nmax_connections = 200
ssl_cert_file = '${this.#folder}/server.pem'\nssl_key_file = '${this.#folder}/server.key'\n`,
    );
    writeFileSync(
      join(primary.folder, 'pg_hba.conf'),
      'local all postgres trust\nlocal replication postgres trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n',
    );
    this.#primary = primary;
    this.#up(primary);
    this.#sql(primary, "CREATE ROLE kybatch LOGIN PASSWORD 'p@ss word'", 'CREATE DATABASE kybatch OWNER kybatch');
  }

  /** `sync`: a commit is acknowledged when the standby has it. Otherwise the standby may lag behind. */
  async addStandby(sync: boolean): Promise<void> {
    const primary = this.#there(this.#primary);
    const standby = await this.#newNode();
    this.#sql(primary, "ALTER SYSTEM SET synchronous_standby_names = ''", 'SELECT pg_reload_conf()');
    const from = ['-h', this.#folder, '-p', String(primary.port), '-U', 'postgres'];
    this.#do('pg_basebackup', ...from, '-D', standby.folder, '-R', '-X', 'stream', '--checkpoint=fast');
    appendFileSync(
      join(standby.folder, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=${this.#folder} port=${primary.port} user=postgres application_name=standby'\n`,
    );
    this.#up(standby);
    this.#standby = standby;
    if (sync) this.#sql(primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'", 'SELECT pg_reload_conf()');
    const state = sync ? 'sync' : 'async';
    const isThere = `SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = '${state}'`;
    while (this.#sql(primary, isThere).trim() !== '1') await sleep(100);
  }

  /** From now on the standby receives nothing. */
  cutStandbyOff(): void {
    const [parent] = readFileSync(join(this.#there(this.#standby).folder, 'postmaster.pid'), 'utf8').split('\n');
    const processes = execFileSync('ps', ['-eo', 'pid,ppid,args'], { encoding: 'utf8' }).split('\n');
    const receiver = processes
      .map((line) => line.trim().split(/\s+/))
      .find((words) => words[1] === parent && words.includes('walreceiver'));
    if (receiver === undefined) throw new Error('the standby receives nothing');
    this.#receiver = Number(receiver[0]);
    process.kill(this.#receiver, 'SIGSTOP');
  }

  /** The primary dies. After a while the standby is the primary and gets the address. */
  async failOver(awayMs: number): Promise<void> {
    const [old, next] = [this.#there(this.#primary), this.#there(this.#standby)];
    this.#do('pg_ctl', '-D', old.folder, '-m', 'immediate', 'stop');
    rmSync(old.folder, { recursive: true });
    await sleep(awayMs);
    if (this.#receiver !== undefined) process.kill(this.#receiver, 'SIGCONT');
    this.#receiver = undefined;
    this.#do('pg_ctl', '-D', next.folder, '-w', 'promote');
    this.#primary = next;
    this.#standby = undefined;
    for (const socket of this.#sockets) socket.destroy();
  }

  stop(): void {
    this.#junction.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const node of [this.#primary, this.#standby])
      if (node !== undefined) this.#try('pg_ctl', '-D', node.folder, '-m', 'immediate', 'stop');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #newNode(): Promise<ClusterNode> {
    this.#made += 1;
    const free = createServer();
    const port = await listen(free, 0);
    await new Promise((closed) => free.close(closed));
    return { folder: join(this.#folder, `node-${this.#made}`), port };
  }

  #up({ folder, port }: ClusterNode): void {
    this.#do('pg_ctl', '-D', folder, '-l', `${folder}.log`, '-o', `-p ${port}`, '-w', 'start');
  }

  #sql({ port }: ClusterNode, ...statements: readonly string[]): string {
    const where = ['-h', this.#folder, '-p', String(port), '-U', 'postgres', '-Atq', '-v', 'ON_ERROR_STOP=1'];
    return this.#do('psql', ...where, ...statements.flatMap((sql) => ['-c', sql]));
  }

  #forward(client: Socket): void {
    const server = connect(this.#primary?.port ?? 0, '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one
        .on('error', () => {})
        .on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  }

  #certify(): void {
    const openssl = (...args: readonly string[]) =>
      execFileSync('openssl', args, { cwd: this.#folder, stdio: ['ignore', 'ignore', 'ignore'] });
    const anew = ['req', '-newkey', 'rsa:2048', '-nodes'];
    openssl(...anew, '-x509', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority');
    openssl(...anew, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost');
    writeFileSync(join(this.#folder, 'names'), 'subjectAltName=DNS:localhost');
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names'];
    openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.pem');
    chmodSync(join(this.#folder, 'server.key'), 0o600);
    this.#own(join(this.#folder, 'server.key'));
    chmodSync(this.#folder, 0o755);
  }

  #there(node: ClusterNode | undefined): ClusterNode {
    if (node === undefined) throw new Error('there is no such server');
    return node;
  }

  #do(tool: string, ...args: readonly string[]): string {
    const { status, stdout, stderr } = this.#try(tool, ...args);
    if (status !== 0) throw new Error(`${tool} ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  #try(tool: string, ...args: readonly string[]) {
    // The server that it leaves running must not keep the pipes of this process open.
    const stdio: ['ignore', 'pipe', 'pipe'] | 'ignore' =
      args.at(-1) === 'start' ? 'ignore' : ['ignore', 'pipe', 'pipe'];
    const user = process.getuid?.() === 0 ? idsOf('postgres') : {};
    const done = spawnSync(join(this.#bin, tool), args, { cwd: this.#folder, encoding: 'utf8', stdio, ...user });
    return { status: done.status, stdout: done.stdout ?? '', stderr: done.stderr ?? '' };
  }

  #own(path: string): void {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = idsOf('postgres');
    chownSync(path, uid, gid);
  }
}

const idsOf = (user: string): { readonly uid: number; readonly gid: number } => {
  const id = (what: string) => Number(execFileSync('id', [what, user], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
};
