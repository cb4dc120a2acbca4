import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { isoTime } from '../util/iso-time.js';
import { paramsFlag } from '../util/params-flag.js';

/** A report that may be there, and paid for, is not asked for again before it has been looked for (V2-17). */
export class InDoubtError extends KybatchError {
  override readonly name = 'InDoubtError';

  constructor(message: string, hint: string, exit: ExitCode) {
    super(message, { code: 'IN_DOUBT', hint, exit });
  }

  static justLost(operation: string, again: number): InDoubtError {
    return new InDoubtError(
      `${operation}: the answer was lost; the report may have been generated and charged`,
      `${SAME_COMMAND} It sends the request again only if the report is not there after ${timeOf(again)}.`,
      ExitCode.unavailable,
    );
  }

  static notListed(operation: string, again: number): InDoubtError {
    return new InDoubtError(
      `${operation}: a call for this report failed before, and it may have been generated and charged; the history does not list it yet, and it was not sent again`,
      `A report may be listed late. The same command after ${timeOf(again)} sends the request again if the report is not there by then; before that it only looks. --fresh does not override this.`,
      ExitCode.allowance,
    );
  }

  static notFinished(operation: string, reportId: string): InDoubtError {
    return new InDoubtError(
      `${operation}: report ${reportId}, which a call that failed before had generated, is in the history and cannot be fetched yet; nothing was sent again`,
      `It is paid for. Fetch it for nothing: kybatch call v2 creditReportFetch ${paramsFlag({ report_id: reportId })}`,
      ExitCode.unavailable,
    );
  }

  static notReadable(operation: string, why: string): InDoubtError {
    return new InDoubtError(
      `${operation}: a call for this report failed before, and it may have been generated and charged; the history could not be read (${why}), and it was not sent again`,
      'The same command looks again. `kybatch usage` shows the call that failed.',
      ExitCode.unavailable,
    );
  }
}

const SAME_COMMAND = 'The same command again looks in the history first, and opens what is there for nothing.';

const timeOf = (at: number): string => isoTime(at) ?? 'a time that is damaged';
