/** The contract with cron jobs and scripts. */
export const ExitCode = {
  ok: 0,
  internal: 1,
  usage: 2,
  rowsOpen: 3,
  allowance: 4,
  credentials: 5,
  unavailable: 6,
  locked: 75,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
