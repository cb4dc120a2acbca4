import { KybatchError } from '../domain/errors.js';
import { ExitCode } from '../domain/exit-codes.js';
import { isoTime } from '../util/iso-time.js';
import { paramsFlag } from '../util/params-flag.js';

/** A report that may be there, and paid for, is not asked for again before it has been looked for (V2-17). */
export class InDoubtError extends KybatchError {
  override readonly name = 'InDoubtError';

  /** Later the same command may go through, with nobody's help: that is a provider who is not to be had now. */
  constructor(message: string, hint: string) {
    super(message, { code: 'IN_DOUBT', hint, exit: ExitCode.unavailable });
  }

  /** `failure`: what the provider answered; undefined where nothing came back. */
  static justFailed(operation: string, failure: string | undefined, again: number): InDoubtError {
    return new InDoubtError(
      `${operation}: ${failure ?? 'the answer was lost'}; the report may have been generated and charged all the same`,
      `${SAME_COMMAND} It sends the request again only if the report is not there after ${timeOf(again)}.`,
    );
  }

  static notListed(operation: string, again: number): InDoubtError {
    return new InDoubtError(
      `${operation}: a call for this report failed before, and it may have been generated and charged; the history does not list it yet, and it was not sent again`,
      `A report may be listed late. The same command after ${timeOf(again)} sends the request again if the report is not there by then; before that it only looks. --fresh does not override this.`,
    );
  }

  static notFinished(operation: string, reportId: string): InDoubtError {
    return new InDoubtError(
      `${operation}: report ${reportId} of this company was generated before and cannot be fetched yet; no other was generated`,
      `It is paid for. Fetch it for nothing: \`kybatch call v2 creditReportFetch ${paramsFlag({ report_id: reportId })}\``,
    );
  }

  static notReadable(operation: string, why: string): InDoubtError {
    return new InDoubtError(
      `${operation}: the account's history of reports could not be read (${why}), and this one may be in it, and paid for; nothing was generated`,
      `The same command looks again. ${WITHOUT_A_LOOK}`,
    );
  }

  /** There is one of the company, and nobody can tell which. */
  static notLegible(operation: string, params: Params): InDoubtError {
    return new InDoubtError(
      `${operation}: the account's history lists a report of ${String(params.source_id)} in a form that cannot be read; nothing was generated, as it may be the one`,
      `The same command looks again. ${WITHOUT_A_LOOK}`,
    );
  }

  static ownedWithoutId(operation: string, params: Params): InDoubtError {
    return new InDoubtError(
      `${operation}: a report of ${String(params.source_id)} is owned, from creditReportCombined, which tells no ID; the history does not list it, and nothing was generated`,
      `The report itself, for nothing: \`kybatch call v2 creditReportCombined ${paramsFlag(params)}\`. The same command looks again. ${WITHOUT_A_LOOK}`,
    );
  }
}

type Params = Readonly<Record<string, unknown>>;

const WITHOUT_A_LOOK =
  '--fresh generates another without a look, and pays for it, unless a call for it has failed before.';

const SAME_COMMAND = 'The same command again looks in the history first, and opens what is there for nothing.';

const timeOf = (at: number): string => isoTime(at) ?? 'a time that is damaged';
