import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';

/** Another process works in this data directory. */
export class LockedError extends KybatchError {
  override readonly name = 'LockedError';

  constructor(readonly dataDir: string) {
    super(`another process holds the data directory ${dataDir}`, {
      code: 'LOCKED',
      hint: 'Wait for it to end: of a run `kybatch status` shows what it does; an open `kybatch review` on a terminal holds it until somebody quits it there, and shows nowhere else. The lock goes with that process, however it ends; another data directory owns nothing, and would buy everything again.',
      exit: ExitCode.locked,
    });
  }
}
