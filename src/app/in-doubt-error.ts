import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';

/** A report that may be there, and paid for, is not asked for again before somebody has looked (V2-17). */
export class InDoubtError extends KybatchError {
  override readonly name = 'InDoubtError';

  constructor(operation: string, sentNow: boolean) {
    super(
      sentNow
        ? `${operation}: the answer was lost; the report may have been generated and charged`
        : `${operation}: a call for this failed before, and the report may have been generated and charged; it was not sent again`,
      {
        code: 'IN_DOUBT',
        hint:
          'Look in the history first: `kybatch call v2 creditReportHistory`. A report that is there is opened for nothing with creditReportFetch. ' +
          'A run with the stage credit-report looks there by itself; --fresh does not override this.',
        exit: sentNow ? ExitCode.unavailable : ExitCode.allowance,
      },
    );
  }
}
