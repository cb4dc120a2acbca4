import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ExitCode } from '../domain/exit-codes.js';
import { systemFailure } from '../domain/system-failure.js';
import type { DamagedAnswer, DamagedRecord, DatabaseHealth } from '../ledger/health.js';
import { checkDeeply, hasLedger } from '../ledger/open-ledger.js';
import type { LedgerPlace } from '../ledger/options.js';
import { dropAndRun } from '../ledger/stored-json.js';
import { firstFew } from '../util/first-few.js';
import { sentence } from '../util/sentence.js';
import type { Finding } from './finding.js';
import { freeSpace, megabytes, SPACE } from './free-space.js';
import type { Surroundings } from './surroundings.js';

export function checkDataDir({ dataDir, ledgerUrl }: LedgerPlace): Finding {
  const check = 'data directory';
  try {
    const existing = nearest(dataDir);
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    if (existing !== dataDir) return { check, state: 'ok', detail: `${dataDir} will be created` };
  } catch (error) {
    const failure = systemFailure(error);
    const why = failure === undefined ? 'it is not there, or no folder' : `${sentence(failure.what)} ${failure.hint}`;
    return { check, state: 'fail', detail: `${dataDir} cannot be used: ${why}`, exit: ExitCode.usage };
  }
  const closed = closedTo(dataDir, ledgerUrl === undefined ? LEDGER_FILES : []);
  if (closed.length > 0) {
    const detail = `${dataDir} is writable, but this user may not change ${closed.join(', ')}: a start is refused. Run it as their owner, or give them to this user.`;
    return { check, state: 'fail', detail, exit: ExitCode.usage };
  }
  const detail = `${dataDir} is writable`;
  const isOpen = (statSync(dataDir).mode & 0o077) !== 0;
  return isOpen
    ? { check, state: 'note', detail: `${detail}; other users can read it (chmod 700)` }
    : { check, state: 'ok', detail };
}

/** Where the ledger lies in a database, nobody looks at one that lies here as well. */
const LEDGER_FILES = ['kybatch.db', 'kybatch.lock', 'kybatch.db-wal', 'kybatch.db-shm'];

/** What a start has to change in the data directory, and this user may not. */
function closedTo(dataDir: string, ledger: readonly string[]): readonly string[] {
  const user = process.getuid?.();
  // Whatever their mode: a start takes it from everybody but their owner, which only the owner may do.
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

/** The folder itself, or the nearest one above it that is there. */
function nearest(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined || dirname(folder) === folder) return folder;
  return nearest(dirname(folder));
}

/** Says nothing where the file system does not. */
export function checkSpace(dataDir: string, around: Surroundings): readonly Finding[] {
  const free = freeSpace(dataDir, around);
  if (free === undefined) return [];
  const check = 'disk space';
  const detail = `${megabytes(free)} left in ${dataDir}`;
  if (free >= SPACE.noted) return [{ check, state: 'ok', detail }];
  if (free >= SPACE.floor) return [{ check, state: 'note', detail: `${detail}; a large run may need more` }];
  const then = `${detail}; free some: below ${megabytes(SPACE.floor)} no run starts`;
  return [{ check, state: 'fail', detail: then, exit: ExitCode.internal }];
}

export function ledgerFinding(health: DatabaseHealth): Finding {
  const check = 'database';
  switch (health.state) {
    case 'absent':
    case 'sound': {
      const detail = health.state === 'absent' ? 'none yet' : 'sound';
      return health.note === undefined
        ? { check, state: 'ok', detail }
        : { check, state: 'note', detail: `${detail}; ${health.note}` };
    }
    case 'older': {
      const detail = `sound; of an older kybatch (schema ${health.schema}): the next start, or \`kybatch migrate\`, brings it up to date`;
      return { check, state: 'note', detail };
    }
    case 'newer': {
      const detail = `of a newer kybatch (schema ${health.schema}): update kybatch`;
      return { check, state: 'fail', detail, exit: ExitCode.usage };
    }
    case 'no_driver':
      return { check, state: 'fail', detail: health.detail, exit: ExitCode.usage };
    case 'unusable':
      return { check, state: 'fail', detail: `cannot be looked at: ${health.detail}`, exit: health.exit };
    case 'damaged': {
      const { wayOut = 'Restore a copy; do not delete it: it says what was paid for.' } = health;
      const detail = `damaged: ${sentence(health.detail)} ${wayOut}`;
      return { check, state: 'fail', detail, exit: ExitCode.internal };
    }
  }
}

/** Every stored answer against its digest, and every record. Answers that are bad can be bought again, one by one. */
export async function checkContents(
  place: LedgerPlace,
  health: DatabaseHealth,
  around: Surroundings,
  again: (answer: DamagedAnswer) => string,
): Promise<readonly Finding[]> {
  if (ledgerFinding(health).state === 'fail' || !(await hasLedger(place))) return [];
  const { bodies, damaged, records } = await checkDeeply(place, around.clock.now());
  return [...answerFindings(bodies, damaged, again), ...recordFindings(records)];
}

function answerFindings(
  bodies: number,
  damaged: readonly DamagedAnswer[],
  again: (answer: DamagedAnswer) => string,
): readonly Finding[] {
  const check = 'stored answers';
  if (damaged.length === 0) return [{ check, state: 'ok', detail: `${bodies} bodies are what their digests say` }];
  return damaged.map((answer) => {
    const { operation, callId, runId, row, rawSha256 } = answer;
    const where = runId === null ? 'by hand' : `run ${runId}${row === null ? '' : `, row ${row}`}`;
    const bad = `${operation}, call ${callId} (${where}), ${rawSha256.slice(0, 12)}… is damaged`;
    if (!answer.owned || answer.params === null)
      return { check, state: 'note', detail: `${bad}; a newer answer is there, or it was never owned` };
    const detail = `${bad}: it counts as not owned, and the next run that needs it buys it again. At once: ${again(answer)}`;
    return { check, state: 'fail', detail, exit: ExitCode.internal };
  });
}

function recordFindings(records: readonly DamagedRecord[]): readonly Finding[] {
  const check = 'stored records';
  if (records.length === 0) return [{ check, state: 'ok', detail: 'all can be read' }];
  return firstFew(records, wayOut, 'damaged records').map((detail) => ({
    check,
    state: 'fail',
    detail,
    exit: ExitCode.internal,
  }));
}

function wayOut({ what, remedy }: DamagedRecord): string {
  switch (remedy.kind) {
    case 'ask_anew':
      return `${what}: it counts as not owned, and the next run that needs it buys it again`;
    case 'drop_run':
      return `${what}: restore a copy of the ledger, or ${dropAndRun([remedy.run])}`;
    case 'withdraw':
      return `${what}: restore a copy of the ledger, or withdraw the decision with \`kybatch review withdraw ${remedy.decision}\` and decide again`;
    case 'none_needed':
      return `${what}: \`kybatch status\` tells less of an earlier start; nothing else rests on it`;
    case 'restore':
      return `${what}: restore a copy of the ledger`;
  }
}
