// Classifies failures of PostgreSQL, words them for people, and waits while the server is away.

import { setMaxListeners } from 'node:events';
import {
  ExitCode,
  hintFor,
  KybatchError,
  LedgerError,
  type SystemFailureCode,
  UsageError,
} from '../../../domain/errors.js';
import type { Clock } from '../../../util/clock.js';
import { type Message, type MessageCode, message } from '../../../util/message-parts.js';

/** SQLSTATE, or the code of the operating system. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EAI_AGAIN',
  'ENOTFOUND',
  // Shut down, crashed, starting up, out of connections, or our connection was cut for idling in a transaction.
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '25P03',
  '25P04',
]);

/** The database or the network is down and may come back. */
export function isUnreachable(error: unknown): boolean {
  const code = codeOf(error);
  // The socket of a local server is a file that disappears when it stops.
  if (code === 'ENOENT') return (error as NodeJS.ErrnoException).syscall === 'connect';
  if (code !== undefined) return AWAY.has(code) || code.startsWith('08');
  if (error instanceof AggregateError) return error.errors.some(isUnreachable);
  return error instanceof Error && OF_DRIVER.test(error.message);
}

const OF_DRIVER =
  /^(Connection terminated|Client has encountered|Client was closed|timeout expired|Query read timeout)/;

export class LostConnection extends Error {
  override readonly name = 'LostConnection';
  readonly code = '08006';

  constructor(cause: unknown) {
    super(reasonOf(cause), { cause });
  }
}

export const clocksApart = (ms: number): UsageError =>
  new UsageError(
    'CLOCKS_APART',
    `the clock of this machine and the clock of PostgreSQL are ${Math.round(Math.abs(ms) / 1000)} s apart`,
    'Synchronise them (NTP). Machines use the clock to see whether another one is alive. Nothing more was sent.',
  );

/** A standby not promoted yet, or a server that is read-only for a while. */
export class ReadOnlyServer extends Error {
  override readonly name = 'TakesNoWrites';
  readonly code = '08004';

  constructor() {
    super('it is read-only, such as a standby server');
  }
}

export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006';

/** Transactions collided, or one was cancelled: the same transaction works when repeated. */
export const isTransactionConflict = (error: unknown): boolean =>
  ['40001', '40P01', '55P03', '57014'].includes(codeOf(error) ?? '');

/** Prepared statements of this connection are gone or outdated. A new connection helps. */
export const isStale = (error: unknown): boolean =>
  ['26000', '42P05'].includes(codeOf(error) ?? '') ||
  (codeOf(error) === '0A000' && /cached plan/.test(reasonOf(error)));

const TOO_MANY = '53300';

/** Thrown when the wait ends. Everything paid for by then is stored. */
export class LedgerAwayError extends LedgerError {
  constructor(name: string, cause: unknown, waitedMs: number) {
    const waited = waitedMs < 1000 ? '' : ` for ${inTime(waitedMs)}`;
    super(cause, name, {
      message: `the ledger ${name} could not be reached${waited}: ${reasonOf(cause)}`,
      code: 'LEDGER_AWAY',
      hint: `${codeOf(cause) === TOO_MANY ? 'Raise max_connections, or the limit of the role or database' : 'Check that PostgreSQL is running and can be reached'}, then continue. Stored answers are safe and are not paid for again.`,
      exit: ExitCode.unavailable,
    });
  }
}

/** A snapshot cannot continue at a later moment. */
export function snapshotLost(cause: unknown, name: string): LedgerError {
  return new LedgerError(cause, name, {
    message: `the connection to the ledger ${name} was lost while it was read: ${reasonOf(cause)}`,
    code: 'LEDGER_READ_BROKEN',
    hint: 'Nothing incomplete was shown or written. Run the same command again.',
    exit: ExitCode.unavailable,
  });
}

/** The temporary tables were lost with the connection. */
export function scratchLost(cause: unknown, name: string): LedgerError {
  return new LedgerError(cause, name, {
    message: `the connection to the ledger ${name} was lost while the input was compared with it`,
    code: 'LEDGER_COMPARE_BROKEN',
    hint: 'Nothing was changed. Run the same command again.',
    exit: ExitCode.unavailable,
  });
}

/** Confirmed writes are missing. Continuing would buy them again. */
export function confirmedWritesLost(name: string): LedgerError {
  return new LedgerError(undefined, name, {
    message: `the ledger ${name} lost data that it had confirmed. Another server or an older copy took its place`,
    code: 'LEDGER_WENT_BACK',
    hint: 'Check whether a standby was promoted before you continue. Calls that it does not know may have been paid for.',
    exit: ExitCode.internal,
  });
}

/** Such as `90 s` or `5 min`. */
function inTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

interface Words {
  /** Follows the name of the ledger. */
  readonly says: string;
  readonly code: MessageCode | SystemFailureCode;
  readonly hint?: string;
  readonly exit?: ExitCode;
}

/**
 * Words a database failure for people. It is always a LedgerError, so that a row that meets it does not fail. Errors in
 * the user's settings get the usage exit code.
 */
export function toLedgerError(error: unknown, name: string): unknown {
  if (error instanceof KybatchError) return error;
  if (isUnreachable(error)) return new LedgerAwayError(name, error, 0);
  const words = wordsFor(error);
  if (words === undefined) return error;
  const { says, code, hint = URL_HINT, exit = ExitCode.usage } = words;
  return new LedgerError(error, name, { message: `the ledger ${name} ${says}`, code, hint, exit });
}

const URL_HINT = 'Check KYBATCH_LEDGER_URL, or the file of KYBATCH_LEDGER_URL_FILE.';
const SAFE = 'then continue. Stored answers are safe and are not paid for again.';
const { internal, unavailable } = ExitCode;

const DAMAGED = {
  code: 'LEDGER_DAMAGED',
  hint: 'Look at the log of PostgreSQL and restore a backup. Do not delete the ledger: it records what was paid for.',
  exit: internal,
} as const;
const REFUSED: Words = {
  says: 'cannot be used',
  code: 'LEDGER_REFUSED',
  hint: `Check the machine of PostgreSQL and its log, ${SAFE}`,
  exit: internal,
};
const INCOMPLETE: Words = {
  says: 'lacks a table or column',
  code: 'LEDGER_DAMAGED',
  hint: 'Restore the schema kybatch from a backup: it records what was paid for.',
  exit: internal,
};

/** By SQLSTATE, or its first two letters. */
const WORDS: Readonly<Record<string, Words>> = {
  '53100': {
    says: 'is on a full disk',
    code: 'DISK_FULL',
    hint: `Free some space on the machine of PostgreSQL, ${SAFE}`,
    exit: internal,
  },
  '58030': { says: 'is on a disk with errors', code: 'IO_ERROR', hint: hintFor('IO_ERROR'), exit: internal },
  XX001: { says: 'is damaged', ...DAMAGED },
  XX002: { says: 'is damaged', ...DAMAGED },
  '53': REFUSED,
  '58': REFUSED,
  '25006': {
    says: 'refuses writes: it is read-only, such as a standby server',
    code: 'READ_ONLY',
    hint: 'Set KYBATCH_LEDGER_URL to a server that accepts writes, or wait until this one does. `default_transaction_read_only` may be set.',
    exit: unavailable,
  },
  '28': { says: 'refuses this user or its password', code: 'LEDGER_LOGIN_REFUSED' },
  '3D000': { says: 'does not exist: the server has no such database', code: 'LEDGER_DATABASE_MISSING' },
  '42501': {
    says: 'denies this user a permission',
    code: 'LEDGER_NOT_PERMITTED',
    hint: 'Grant the permissions: `kybatch ledger migrate --grant ROLE`.',
  },
  '42P01': INCOMPLETE,
  '42703': INCOMPLETE,
  '42883': INCOMPLETE,
  '3F000': INCOMPLETE,
  '42704': {
    says: 'has no such object',
    code: 'LEDGER_OBJECT_UNKNOWN',
    hint: 'Check its spelling, and whether it exists.',
  },
  '22021': {
    says: 'cannot store a text, such as one with a NUL',
    code: 'CANNOT_BE_KEPT',
    hint: '`kybatch erase` and `kybatch runs delete` remove data.',
  },
  ENOENT: { says: 'cannot be opened', code: 'LEDGER_URL_INVALID' },
  EACCES: { says: 'cannot be opened', code: 'LEDGER_URL_INVALID' },
  EISDIR: { says: 'cannot be opened', code: 'LEDGER_URL_INVALID' },
};

function wordsFor(error: unknown): Words | undefined {
  const code = codeOf(error) ?? '';
  const reason = reasonOf(error);
  const words = WORDS[code] ?? wordsOfDriver(error, code, reason) ?? WORDS[code.slice(0, 2)];
  return words && { ...words, says: `${words.says}: ${reason}${/^[0-9A-Z]{5}$/.test(code) ? ` (${code})` : ''}` };
}

function wordsOfDriver(error: unknown, code: string, reason: string): Words | undefined {
  if (isStale(error))
    return {
      says: 'lost a prepared statement',
      code: 'LEDGER_BEHIND_POOLER',
      hint: 'Set the connection pooler to session mode, or connect without it.',
    };
  if (/^SASL: |password must be a (?:non-empty )?string/.test(reason))
    return { says: 'refuses this user or its password', code: 'LEDGER_LOGIN_REFUSED' };
  if (isOfTls(code, reason))
    return {
      says: 'could not be reached over TLS',
      code: 'LEDGER_TLS_FAILED',
      hint: 'Check sslmode and sslrootcert in KYBATCH_LEDGER_URL, and the certificate of the server.',
    };
  return undefined;
}

const isOfTls = (code: string, reason: string): boolean =>
  /CERT|SIGNATURE|^ERR_(?:TLS|SSL|OSSL)|^EPROTO$/.test(code) ||
  /SSL connection|sslmode|does not support SSL|self-signed certificate|before secure TLS/.test(reason);

/** Driver and system errors in plain words, PostgreSQL's own text otherwise. None contains the password. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  const { address, port, hostname } = error as Error & { address?: string; port?: number; hostname?: string };
  const at = address === undefined ? 'there' : `at ${address}${port === undefined ? '' : `:${port}`}`;
  const code = codeOf(error) ?? '';
  const known: Readonly<Record<string, string>> = {
    ECONNREFUSED: `no answer ${at} (ECONNREFUSED)`,
    ECONNRESET: 'the connection was cut (ECONNRESET)',
    EPIPE: 'the connection was cut (EPIPE)',
    ENOTFOUND: `no machine has the name ${hostname ?? 'given'} (ENOTFOUND)`,
    EAI_AGAIN: `the name ${hostname ?? 'given'} could not be looked up (EAI_AGAIN)`,
  };
  if (known[code] !== undefined) return known[code];
  if (error.message.startsWith('timeout expired')) return 'it does not answer';
  if (/^(Connection terminated|Client has encountered|Client was closed)/.test(error.message))
    return 'the connection was cut';
  return error.message;
}

export interface PatienceOptions {
  /** Without password. */
  readonly name: string;
  readonly clock: Clock;
  readonly patienceMs: number;
  /** Aborted: stop waiting. */
  readonly giveUp?: AbortSignal | undefined;
  readonly onNote: (note: Message) => void;
}

const FIRST_MS = 250;
const LONGEST_MS = 2000;

/** How all of this process waits for the database, with one note when it is away and one when it is back. */
export class Patience {
  #toldSince: number | undefined;
  /** The waiting calls. The database is back only when none waits: a read-only server still answers some. */
  readonly #waiting = new Set<symbol>();
  /** After the wait has ended, later calls try once: the next row must not wait as long again. */
  #isOver = false;

  constructor(private readonly options: PatienceOptions) {
    // All waiting calls listen, which is no leak.
    if (options.giveUp !== undefined) setMaxListeners(0, options.giveUp);
  }

  /**
   * Repeats until it works, or fails for another reason than an absent database. A cut connection is retried at once
   * without a note, as after a killed backend or a quick restart.
   */
  async until<T>(attempt: () => Promise<T>): Promise<T> {
    const { name, clock, patienceMs, giveUp } = this.options;
    const one = Symbol();
    let since: number | undefined;
    try {
      for (let failed = 0; ; failed++) {
        try {
          const result = await attempt();
          this.#isOver = false;
          if (this.#waiting.delete(one)) this.#tellBack();
          return result;
        } catch (error) {
          if (!isUnreachable(error)) throw toLedgerError(error, name);
          const now = clock.now();
          // A later call waits no longer than the others.
          since ??= this.#toldSince ?? now;
          const waited = now - since;
          if (waited >= patienceMs || giveUp?.aborted === true || (this.#isOver && failed > 0)) {
            this.#isOver = true;
            throw new LedgerAwayError(name, error, waited);
          }
          if (failed === 0) continue;
          this.#waiting.add(one);
          this.#tell(error, since);
          const pause = Math.min(FIRST_MS * 2 ** (failed - 1), LONGEST_MS, Math.max(1, patienceMs - waited));
          await clock.sleep(pause, giveUp).catch(() => {
            throw new LedgerAwayError(name, error, clock.now() - (since ?? now));
          });
        }
      }
    } finally {
      this.#waiting.delete(one);
      if (this.#waiting.size === 0) this.#toldSince = undefined;
    }
  }

  #tell(error: unknown, since: number): void {
    if (this.#toldSince !== undefined) return;
    this.#toldSince = since;
    const { name, patienceMs, onNote } = this.options;
    onNote(
      message(
        'LEDGER_AWAY',
        `the ledger ${name} cannot be reached (${reasonOf(error)}). kybatch waits up to ${inTime(patienceMs)} and sends no calls`,
      ),
    );
  }

  #tellBack(): void {
    if (this.#toldSince === undefined || this.#waiting.size > 0) return;
    const { name, clock, onNote } = this.options;
    onNote(message('LEDGER_BACK', `the ledger ${name} is back after ${inTime(clock.now() - this.#toldSince)}`));
  }
}
