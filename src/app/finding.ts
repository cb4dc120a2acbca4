import type { ExitCode } from '../domain/exit-codes.js';

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'note' | 'fail';
  readonly detail: string;
  /** What a failure means for the exit code. */
  readonly exit?: ExitCode;
}
