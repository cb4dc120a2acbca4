import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ExitCode } from '../domain/exit-codes.js';
import { checkDatabase } from '../ledger/sqlite/check.js';
import type { Finding } from './finding.js';
import { freeSpace, megabytes, SPACE } from './free-space.js';
import type { Surroundings } from './surroundings.js';

export function checkDataDir(dataDir: string): Finding {
  const check = 'data directory';
  const existing = existsSync(dataDir) ? dataDir : dirname(dataDir);
  try {
    accessSync(existing, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    const detail = `${existing} is not there, or not readable and writable`;
    return { check, state: 'fail', detail, exit: ExitCode.usage };
  }
  if (existing !== dataDir) return { check, state: 'ok', detail: `${dataDir} will be created` };
  const detail = `${dataDir} is writable`;
  const isOpen = (statSync(dataDir).mode & 0o077) !== 0;
  return isOpen
    ? { check, state: 'note', detail: `${detail}; other users can read it (chmod 700)` }
    : { check, state: 'ok', detail };
}

/** Says nothing where the file system does not. */
export function checkSpace(dataDir: string, around: Surroundings): readonly Finding[] {
  const free = freeSpace(dataDir, around);
  if (free === undefined) return [];
  const check = 'disk space';
  const detail = `${megabytes(free)} left in ${dataDir}`;
  if (free >= SPACE.noted) return [{ check, state: 'ok', detail }];
  if (free >= SPACE.little) return [{ check, state: 'note', detail: `${detail}; a large run may need more` }];
  const then = `${detail}; free some: below ${megabytes(SPACE.floor)} no run starts`;
  return [{ check, state: 'fail', detail: then, exit: ExitCode.internal }];
}

export function checkLedger(dataDir: string): Finding {
  const check = 'database';
  const health = checkDatabase(dataDir);
  switch (health.state) {
    case 'absent':
      return { check, state: 'ok', detail: 'none yet' };
    case 'sound':
      return { check, state: 'ok', detail: 'sound' };
    case 'no_driver':
      return { check, state: 'fail', detail: health.detail, exit: ExitCode.usage };
    case 'damaged': {
      const detail = `damaged: ${health.detail}. Restore a copy; do not delete it: it says what was paid for.`;
      return { check, state: 'fail', detail, exit: ExitCode.internal };
    }
  }
}
