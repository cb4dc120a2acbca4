/** The machine refuses: no defect of kybatch, and nothing that a row or the provider could help. */
export type SystemFailureCode = 'DISK_FULL' | 'READ_ONLY' | 'NO_PERMISSION' | 'LEDGER_DAMAGED' | 'IO_ERROR';

export interface SystemFailure {
  readonly code: SystemFailureCode;
  /** What is the matter, with the code of the operating system or of SQLite. */
  readonly what: string;
  readonly hint: string;
}

/** What an error of a file or of SQLite is to a person; undefined where it is none of the machine's. */
export function systemFailure(cause: unknown): SystemFailure | undefined {
  const given = systemCode(cause);
  const code = given === undefined ? undefined : classify(given);
  return code && { code, what: `${WHAT[code]} (${given})`, hint: HINTS[code] };
}

export function systemCode(cause: unknown): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

function classify(code: string): SystemFailureCode | undefined {
  // SQLite grows its shared index before it writes, and has a code of its own for a disk that is full by then.
  if (['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(code)) return 'DISK_FULL';
  if (code === 'EROFS' || code.startsWith('SQLITE_READONLY')) return 'READ_ONLY';
  if (code === 'EACCES' || code === 'EPERM' || code.startsWith('SQLITE_CANTOPEN')) return 'NO_PERMISSION';
  if (code === 'SQLITE_NOTADB' || code === 'SQLITE_IOERR_CORRUPTFS' || code.startsWith('SQLITE_CORRUPT'))
    return 'LEDGER_DAMAGED';
  // EFBIG: a limit on the size of files (ulimit -f), which SQLite reports as an I/O error too.
  if (code === 'EIO' || code === 'EFBIG' || code.startsWith('SQLITE_IOERR')) return 'IO_ERROR';
  return undefined;
}

const WHAT: Readonly<Record<SystemFailureCode, string>> = {
  DISK_FULL: 'the disk is full',
  READ_ONLY: 'it is read-only',
  NO_PERMISSION: 'this user may not open or change it',
  LEDGER_DAMAGED: 'the database is damaged',
  IO_ERROR: 'the disk reports an error',
};

/** What a person can do about it. */
export const hintFor = (code: SystemFailureCode): string => HINTS[code];

const SAFE = 'What is written is safe and not paid for again; `kybatch usage` shows calls whose charge is not known.';

const HINTS: Readonly<Record<SystemFailureCode, string>> = {
  DISK_FULL: `Free some space there (\`kybatch prune --older-than 90d\` begins with old exports and logs), then go on. ${SAFE}`,
  READ_ONLY: `Make it writable, then go on. ${SAFE}`,
  NO_PERMISSION: `Give this user the right to read and write there, then go on. ${SAFE}`,
  LEDGER_DAMAGED: 'Look at it with `kybatch doctor` and restore a copy; do not delete it: it says what was paid for.',
  IO_ERROR: `It may be full, over a quota or a limit, or failing: look at it, then go on. ${SAFE}`,
};
