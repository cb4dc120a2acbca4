import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { type DatabaseHealth, type SchemaFound, type ServerHealth, SKEW_MS } from '../ledger/health.js';
import { checkLedger, checkServer } from '../ledger/open-ledger.js';
import type { LedgerPlace } from '../ledger/options.js';
import { sentence } from '../util/sentence.js';
import { ledgerFinding } from './doctor-place.js';
import type { Finding } from './finding.js';
import type { Surroundings } from './surroundings.js';

/** A process at work has so many: it writes, reads, keeps its lease, hears of others, looks at its start, and exports. */
const CONNECTIONS_OF_ONE = 6;
/** Every call waits for two commits. */
const SLOW_MS = 20;

export interface LedgerView {
  readonly findings: readonly Finding[];
  /** What of it can be used. */
  readonly health: DatabaseHealth;
  /** Null for a ledger in a file, and where nobody answered. */
  readonly server: ServerHealth | null;
}

/** The file, or the database and its server: whether it can be worked with, and what of it may go wrong. */
export async function lookAtLedger(place: LedgerPlace, { clock }: Surroundings): Promise<LedgerView> {
  try {
    const server = await checkServer(place, () => clock.now());
    if (server === null) {
      const health = checkLedger(place);
      return { findings: [ledgerFinding(health)], health, server };
    }
    const findings = serverFindings(server);
    const shut = findings.find(({ check, state }) => state === 'fail' && MUST_BE_WELL.has(check));
    const health = shut === undefined ? SOUND : unusable(shut.detail, ExitCode.usage);
    return { findings, health, server };
  } catch (error) {
    if (place.ledgerUrl === undefined || !(error instanceof KybatchError)) throw error;
    const { message, hint = '', exit } = error;
    const detail = `${sentence(message)} ${hint}`.trimEnd();
    const findings: readonly Finding[] = [{ check: 'connection', state: 'fail', detail, exit }];
    return { findings, health: unusable(detail, exit), server: null };
  }
}

const SOUND: DatabaseHealth = { state: 'sound' };
const unusable = (detail: string, exit: ExitCode): DatabaseHealth => ({ state: 'unusable', detail, exit });

/** Without these nothing can be read. */
const MUST_BE_WELL: ReadonlySet<string> = new Set(['database', 'pg-boss', 'role']);

function serverFindings(health: ServerHealth): readonly Finding[] {
  return [
    connection(health),
    schema('database', 'ledger', health.ledger, health),
    schema('pg-boss', `pg-boss (schema ${health.queue.name})`, health.queue, health),
    ...queues(health),
    ...rights(health),
    clock(health),
    connections(health),
    encryption(health),
    ...durability(health),
  ];
}

function connection({ name, version, role, roundTripMs, isReadOnly }: ServerHealth): Finding {
  const detail = `${name}, PostgreSQL ${version}, as ${role}; a round trip takes ${inMs(roundTripMs)}`;
  if (isReadOnly)
    return fail('connection', `${detail}; it takes nothing that is written: a standby, or one that is read only`);
  const isSlow = roundTripMs > SLOW_MS;
  return isSlow
    ? note('connection', `${detail}: every call waits for several; work nearer to it`)
    : ok('connection', detail);
}

const MIGRATE = '`kybatch migrate`';

function schema(check: string, what: string, { has, needs }: SchemaFound, { role, mayMigrate }: ServerHealth): Finding {
  if (has === null) return fail(check, `${role} may not see which schema the ${what} has: see the role's rights`);
  if (has === needs) return ok(check, `${what}: schema ${has}`);
  if (has > needs)
    return fail(check, `${what}: of a newer kybatch (schema ${has}, this one knows ${needs}): update kybatch`);
  const by = mayMigrate ? '' : `, by its owner: ${role} may make no schemas`;
  return has === 0
    ? fail(check, `${what}: none yet in this database; ${MIGRATE} makes it${by}`)
    : fail(check, `${what}: of an older kybatch (schema ${has}, this one needs ${needs}); ${MIGRATE} first${by}`);
}

const queues = ({ queuesMissing }: ServerHealth): readonly Finding[] =>
  queuesMissing.map((queue) => fail('pg-boss', `its queue ${queue} is not there; ${MIGRATE} makes it`));

/** Where there are no tables yet there is nothing that could be granted. */
function rights({ role, ledger, rightsMissing }: ServerHealth): readonly Finding[] {
  const check = 'role';
  if (rightsMissing.length === 0)
    return ledger.has === 0
      ? []
      : [ok(check, `${role} may do all that work takes: tables, sequences, temporary tables`)];
  const all = `\`kybatch migrate --grant ${role}\`, run by their owner, grants all of it`;
  return rightsMissing.map(({ what, grant }) => fail(check, `${role} lacks ${what}; ${all}, or: ${grant}`));
}

function clock({ clockAheadMs }: ServerHealth): Finding {
  const off = Math.abs(clockAheadMs);
  const detail = `the clock of PostgreSQL is ${off < 1000 ? inMs(off) : `${(off / 1000).toFixed(1)} s`} ${clockAheadMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  return off <= SKEW_MS
    ? ok('clock skew', detail)
    : fail(
        'clock skew',
        `${detail}: machines know by the clock whether another one still works. Set it (NTP) on all of them`,
      );
}

function connections({ connections: { whose, used, most } }: ServerHealth): Finding {
  const limit = whose === 'server' ? 'max_connections' : `the CONNECTION LIMIT of the ${whose}`;
  const detail = `${used} of ${most} in use${whose === 'server' ? '' : ` (${limit})`}`;
  return most - used >= CONNECTIONS_OF_ONE
    ? ok('connections', detail)
    : note('connections', `${detail}: a process at work takes up to ${CONNECTIONS_OF_ONE}; raise ${limit}`);
}

function encryption({ isEncrypted, isLocal }: ServerHealth): Finding {
  if (isEncrypted) return ok('tls', 'in use');
  return isLocal
    ? ok('tls', 'not in use; the database is on this machine')
    : note('tls', 'not in use: what is bought travels in the clear; add ?sslmode=verify-full to the address');
}

const durability = ({ unsafeSettings }: ServerHealth): readonly Finding[] =>
  unsafeSettings.length === 0
    ? []
    : [
        note(
          'durability',
          `${unsafeSettings.join(', ')}: what was paid for may be lost when the machine of PostgreSQL fails; turn it on`,
        ),
      ];

const inMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

const ok = (check: string, detail: string): Finding => ({ check, state: 'ok', detail });
const note = (check: string, detail: string): Finding => ({ check, state: 'note', detail });
const fail = (check: string, detail: string): Finding => ({ check, state: 'fail', detail, exit: ExitCode.usage });
