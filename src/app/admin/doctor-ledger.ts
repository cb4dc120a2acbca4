// The checks of `doctor` for the data directory, the disk and the ledger.

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ExitCode, KybatchError, systemFailure } from '../../domain/errors.js';
import { type DamagedAnswer, type DatabaseHealth, type ServerHealth, SKEW_MS } from '../../ledger/health.js';
import type { LedgerPlace } from '../../ledger/ledger.js';
import { checkDeeply, checkLedger, checkServer, hasLedger } from '../../ledger/open-ledger.js';
import { SPACE } from '../../util/files.js';
import { bytesInWords, type MessageCode, sentence } from '../../util/message-parts.js';
import type { AppEnvironment } from '../environment.js';
import { freeSpace } from '../run/guards.js';

export function checkDataDir({ dataDir, ledgerUrl }: LedgerPlace): Finding {
  const check = 'data directory';
  try {
    const existing = nearest(dataDir);
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    if (existing !== dataDir) return ok(check, `${dataDir} will be created`, `${dataDir}: will be created`);
  } catch (error) {
    const failure = systemFailure(error);
    const why =
      failure === undefined ? 'it does not exist, or is not a folder' : `${sentence(failure.what)} ${failure.hint}`;
    const code = failure?.code ?? 'NO_PERMISSION';
    return fail(check, `${dataDir} cannot be used: ${why}`, { code });
  }
  const closed = unwritablePaths(dataDir, ledgerUrl === undefined ? LEDGER_FILES : []);
  if (closed.length > 0) {
    const detail = `This user may not change ${closed.join(', ')}. A run would be refused. Run kybatch as their owner, or change the owner.`;
    return fail(check, detail, { code: 'NO_PERMISSION' });
  }
  const isOpen = (statSync(dataDir).mode & 0o077) !== 0;
  return isOpen
    ? note(check, `${dataDir}: writable, but other users can read it (chmod 700)`)
    : ok(check, `${dataDir} is writable`, `${dataDir}: writable`);
}

/** With a ledger in a database, a ledger file in the data directory is ignored. */
const LEDGER_FILES = ['kybatch.db', 'kybatch.lock', 'kybatch.db-wal', 'kybatch.db-shm'];

/** The paths that an attempt must change and this user may not. */
function unwritablePaths(dataDir: string, ledger: readonly string[]): readonly string[] {
  const user = process.getuid?.();
  // The mode does not matter: an attempt removes the rights of others, which only the owner of a file may do.
  const isOthers = (path: string) => user !== undefined && user !== 0 && statSync(path).uid !== user;
  const isShut = (path: string) => {
    try {
      accessSync(path, constants.R_OK | constants.W_OK);
      return false;
    } catch {
      return true;
    }
  };
  const places = [...ledger, 'exports'].map((name) => ({
    path: join(dataDir, name),
    closed: ['kybatch.db', 'kybatch.lock'].includes(name) ? isOthers : isShut,
  }));
  return places.filter(({ path, closed }) => existsSync(path) && closed(path)).map(({ path }) => path);
}

/** The folder itself, or its nearest existing parent. */
function nearest(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined || dirname(folder) === folder) return folder;
  return nearest(dirname(folder));
}

/** Empty if the file system reports no free space. */
export function checkSpace(dataDir: string, environment: AppEnvironment): readonly Finding[] {
  const free = freeSpace(dataDir, environment);
  if (free === undefined) return [];
  const check = 'disk space';
  const detail = `${bytesInWords(free)} free in ${dataDir}`;
  if (free >= SPACE.noted) return [ok(check, detail, `${bytesInWords(free)} free`)];
  if (free >= SPACE.floor) return [note(check, `${detail}. A large run may need more.`)];
  const then = `${detail}. Free some space: no run starts with less than ${bytesInWords(SPACE.floor)}.`;
  return [fail(check, then, { code: 'DISK_FULL', exit: ExitCode.internal })];
}

function ledgerFinding(health: DatabaseHealth, { dataDir }: Pick<LedgerPlace, 'dataDir'>): Finding {
  const check = 'database';
  switch (health.state) {
    case 'absent':
    case 'sound': {
      const isThere = health.state === 'sound';
      const detail = isThere ? 'no damage found' : 'none yet';
      const short = isThere ? `${detail} (quick check: --deep reads everything)` : detail;
      return ok(check, detail, short);
    }
    case 'older': {
      const detail = `no damage found. It comes from an older kybatch (schema ${health.schema}). The next run updates it, or \`kybatch ledger migrate\`.`;
      return note(check, detail, { code: 'LEDGER_TOO_OLD' });
    }
    case 'newer': {
      const detail = `The ledger comes from a newer kybatch (schema ${health.schema}). Update kybatch.`;
      return fail(check, detail, { code: 'LEDGER_TOO_NEW' });
    }
    case 'no_driver':
      return fail(check, health.detail, { code: 'DRIVER_MISSING' });
    case 'unusable':
      return fail(check, `The ledger cannot be checked: ${health.detail}`, { exit: health.exit });
    case 'damaged': {
      const { wayOut = 'Do not delete it: it records what was paid for.' } = health;
      const detail = `The ledger is damaged: ${sentence(health.detail)} ${wayOut}\nTo restore a backup, stop all runs. Then, in ${dataDir}:\n\`mkdir ../aside && mv kybatch.db* ../aside && cp BACKUP/kybatch.db .\``;
      return fail(check, detail, { code: 'LEDGER_DAMAGED', exit: ExitCode.internal });
    }
  }
}

/** Checks every stored answer against its digest. A damaged answer can be bought again. */
export async function checkContents(
  place: LedgerPlace,
  health: DatabaseHealth,
  environment: AppEnvironment,
  again: (answer: DamagedAnswer) => string,
): Promise<readonly Finding[]> {
  if (ledgerFinding(health, place).state === 'fail' || !(await hasLedger(place))) return [];
  const { bodies, damaged } = await checkDeeply(place, environment.clock.now());
  return answerFindings(bodies, damaged, again);
}

function answerFindings(
  bodies: number,
  damaged: readonly DamagedAnswer[],
  again: (answer: DamagedAnswer) => string,
): readonly Finding[] {
  const check = 'stored answers';
  const checked = bodies.toLocaleString('en-US');
  if (damaged.length === 0)
    return [
      ok(check, `${checked} stored answers match their digests`, `${checked} different ones checked, no damage found`),
    ];
  return damaged.map((answer) => {
    const { operation, callId, runId, row, rawSha256 } = answer;
    const where = runId === null ? 'manual' : `run ${runId}${row === null ? '' : `, row ${row}`}`;
    const bad = `${operation}, call ${callId} (${where}), ${rawSha256.slice(0, 12)}… is damaged`;
    if (!answer.owned || answer.params === null)
      return note(check, `${bad}. A newer answer exists, or it was never reused.`);
    const detail = `${bad}. The next run that needs it buys it again. To buy it now: ${again(answer)}`;
    return fail(check, detail, { exit: ExitCode.internal });
  });
}

/** A process holds this many: writing, reading, its lease, notifications, its attempt and exports. */
const CONNECTIONS_OF_ONE = 6;

/** Every call waits for two commits. */
const SLOW_MS = 20;

export interface LedgerView {
  readonly findings: readonly Finding[];
  /** Which parts of the ledger can be used. */
  readonly health: DatabaseHealth;
  /** Null for a ledger in a file, or if the server did not answer. */
  readonly server: ServerHealth | null;
}

/** Checks whether the ledger, a file or a database server, can be used and what may go wrong. */
export async function lookAtLedger(place: LedgerPlace, { clock }: AppEnvironment): Promise<LedgerView> {
  try {
    const server = await checkServer(place, () => clock.now());
    if (server === null) {
      const health = checkLedger(place);
      return { findings: [ledgerFinding(health, place)], health, server };
    }
    const findings = serverFindings(server);
    const shut = findings.find(({ check, state }) => state === 'fail' && REQUIRED_CHECKS.has(check));
    const health = shut === undefined ? SOUND : unusable(shut.detail, ExitCode.usage);
    return { findings, health, server };
  } catch (error) {
    if (place.ledgerUrl === undefined || !(error instanceof KybatchError)) throw error;
    const { exit } = error;
    const detail = detailOf(error);
    const finding = fail('connection', detail, { code: error.code as MessageCode, exit });
    return { findings: [finding], health: unusable(detail, exit), server: null };
  }
}

const SOUND: DatabaseHealth = { state: 'sound' };
const unusable = (detail: string, exit: ExitCode): DatabaseHealth => ({ state: 'unusable', detail, exit });

/** Nothing can be read without these. */
const REQUIRED_CHECKS: ReadonlySet<string> = new Set(['database', 'role']);

function serverFindings(health: ServerHealth): readonly Finding[] {
  return [
    connection(health),
    schema(health),
    ...rights(health),
    clock(health),
    connections(health),
    encryption(health),
    ...durability(health),
  ];
}

function connection({ name, version, role, roundTripMs, isReadOnly }: ServerHealth): Finding {
  const detail = `${name}, PostgreSQL ${version}, role ${role}, round trip ${inMs(roundTripMs)}`;
  if (isReadOnly) return fail('connection', `${detail}. It is read-only, or a standby.`, { code: 'LEDGER_READ_ONLY' });
  const isSlow = roundTripMs > SLOW_MS;
  return isSlow
    ? note('connection', `${detail}. Every call waits for several round trips. Run kybatch nearer to the database.`)
    : ok('connection', detail);
}

const MIGRATE = '`kybatch ledger migrate`';

function schema({ role, mayMigrate, ledger: { has, needs } }: ServerHealth): Finding {
  const check = 'database';
  const schemas = `(schema ${has}, this one ${has === null || has > needs ? 'knows' : 'needs'} ${needs})`;
  const by = mayMigrate ? '' : ` Its owner must run it: ${role} may not create schemas.`;
  if (has === needs) return ok(check, `ledger: schema ${has}`);
  const refuse = (code: MessageCode, detail: string) => fail(check, detail, { code });
  if (has === null)
    return refuse(
      'SCHEMA_UNKNOWN',
      `The role ${role} may not read the schema version of the ledger. Check its rights.`,
    );
  if (has > needs) return refuse('SCHEMA_TOO_NEW', `The ledger comes from a newer kybatch ${schemas}. Update kybatch.`);
  return has === 0
    ? refuse('SCHEMA_MISSING', `This database has no ledger yet. Create it with ${MIGRATE}.${by}`)
    : refuse('SCHEMA_TOO_OLD', `The ledger comes from an older kybatch ${schemas}. Run ${MIGRATE}.${by}`);
}

/** Without tables there is nothing to grant. */
function rights({ role, ledger, rightsMissing }: ServerHealth): readonly Finding[] {
  const check = 'role';
  if (rightsMissing.length === 0)
    return ledger.has === 0 ? [] : [ok(check, `${role} has all rights: tables, sequences, temporary tables`)];
  const all = `Their owner grants all rights with \`kybatch ledger migrate --grant ${role}\``;
  return rightsMissing.map(({ what, grant }) => fail(check, `${role} lacks ${what}. ${all}, or: ${grant}`));
}

function clock({ clockAheadMs }: ServerHealth): Finding {
  const off = Math.abs(clockAheadMs);
  const detail = `the clock of PostgreSQL is ${off < 1000 ? inMs(off) : `${(off / 1000).toFixed(1)} s`} ${clockAheadMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  const why = 'Machines use the clock to see whether another one is alive. Synchronise all clocks (NTP).';
  return off <= SKEW_MS ? ok('clock skew', detail) : fail('clock skew', `${detail}. ${why}`);
}

function connections({ connections: { whose, used, most } }: ServerHealth): Finding {
  const limit = whose === 'server' ? 'max_connections' : `the CONNECTION LIMIT of the ${whose}`;
  const detail = `${used} of ${most} in use${whose === 'server' ? '' : ` (${limit})`}`;
  return most - used >= CONNECTIONS_OF_ONE
    ? ok('connections', detail)
    : note('connections', `${detail}. One process needs up to ${CONNECTIONS_OF_ONE}. Raise ${limit}.`);
}

function encryption({ isEncrypted, isLocal }: ServerHealth): Finding {
  if (isEncrypted) return ok('tls', 'in use');
  return isLocal
    ? ok('tls', 'not in use (the database is on this machine)')
    : note('tls', 'not in use: data travels unencrypted. Add ?sslmode=verify-full to the address.');
}

function durability({ unsafeSettings }: ServerHealth): readonly Finding[] {
  if (unsafeSettings.length === 0) return [];
  const detail = `${unsafeSettings.join(', ')}: paid answers may be lost if the database machine fails. Turn it on.`;
  return [note('durability', detail)];
}

const inMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

type More = Pick<Finding, 'short' | 'code'>;

export const ok = (check: string, detail: string, short?: string): Finding => ({ check, state: 'ok', detail, short });
export const note = (check: string, detail: string, more: More = {}): Finding => ({
  check,
  state: 'note',
  detail,
  ...more,
});
export const fail = (check: string, detail: string, more: More & Pick<Finding, 'exit'> = {}): Finding => ({
  check,
  state: 'fail',
  detail,
  exit: ExitCode.usage,
  ...more,
});

/** An error as the detail of a finding. */
export const detailOf = ({ message, hint = '' }: KybatchError): string => `${sentence(message)} ${hint}`.trimEnd();

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'fail';
  readonly detail: string;
  /** The detail in a few words, for the screen. Empty: only `--verbose` and `--json` show the finding. */
  readonly short?: string | undefined;
  readonly exit?: ExitCode;
  /** What was found. Absent where `check` and `state` say it: `doctor` makes it of them. */
  readonly code?: MessageCode | undefined;
}
