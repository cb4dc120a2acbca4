import { join } from 'node:path';
import { ApiError } from '../../api/errors.js';
import { KybatchError } from '../../domain/errors.js';
import type { RunEvent } from '../../engine/events.js';
import type { RunEnd } from '../../engine/run.js';
import type { RunRecord } from '../../ledger/rows/runs.js';
import { type Logger, openLog } from '../../util/logger.js';
import { message } from '../../util/message-parts.js';
import type { AppEnvironment } from '../environment.js';
import type { Provider } from '../provider/provider.js';

/** The log file of a run. It contains codes, but no names, numbers or messages of rows. */
export interface RunLog {
  readonly path: string;
  readonly listen: (event: RunEvent) => void;
  interrupted(second: boolean): void;
  ended(end: RunEnd): void;
  brokenOff(error: unknown): void;
  /** Reports lines that could not be written. Nothing else does. */
  close(): void;
}

export function openRunLog(run: RunRecord, { configuration, names }: Provider, environment: AppEnvironment): RunLog {
  const { dataDir, ledgerUrl, v1, v2 } = configuration;
  const path = join(dataDir, 'logs', `${run.id}.log`);
  const secrets = [v1?.apiKey, v2?.apiKey, ledgerUrl].flatMap((secret) => secret?.reveal() ?? []);
  const log = openLog({ path, clock: environment.clock, secrets });
  log.info('start', { run: run.id, rows: run.rowCount, pipeline: run.pipelineName, v1: names.v1, v2: names.v2 });
  // By operation. A long outage is one line at its beginning and one at its end, not two for each probe.
  const down = new Map<string, { readonly api: string; readonly since: number; failedCalls: number }>();
  return {
    path,
    listen(event) {
      switch (event.kind) {
        case 'row_settled': {
          const { outcome, stage, hold, holdReason, errorCode } = event.checkpoint;
          log.info('row', { row: event.row, outcome, stage, hold, hold_reason: holdReason, error_code: errorCode });
          return;
        }
        case 'lost_calls':
          log.warn('lost_calls', { count: event.count });
          return;
        case 'closed': {
          const { api, operation, reason, until } = event;
          log.info('closed', { api, operation, reason, until });
          return;
        }
        case 'outage': {
          const { api, operation, code, since, nextTryAt, givesUpAt } = event;
          if (down.has(operation)) return;
          down.set(operation, { api, since, failedCalls: 0 });
          const times = { since, next_try_at: nextTryAt, gives_up_at: givesUpAt };
          log.warn('outage', { api, operation, error_code: code, ...times });
          return;
        }
        case 'recovered': {
          const { api, operation, since, at } = event;
          const failed = down.get(operation)?.failedCalls ?? 0;
          down.delete(operation);
          log.info('recovered', { api, operation, since, waited_ms: at - since, failed_calls: failed });
          return;
        }
        case 'call_settled': {
          const outage = event.settlement.errorCode === null ? undefined : down.get(event.intent.operation);
          if (outage === undefined) logCall(event, log);
          else outage.failedCalls += 1;
          return;
        }
        case 'retry': {
          const { api, operation, row, code, attempt, waitMs, givesUpAt } = event;
          if (down.has(operation)) return;
          log.info('retry', { api, operation, row, code, attempt, wait_ms: waitMs, gives_up_at: givesUpAt });
          return;
        }
        case 'slowed': {
          const { api, concurrency, pauseMs } = event;
          log.warn('slowed', { api, concurrency, pause_ms: pauseMs });
          return;
        }
      }
    },
    interrupted: (second) => log.info('interrupt', { second }),
    ended({ progress, stopped, finished, interrupted }) {
      if (stopped !== undefined) {
        const { code, message } = stopped;
        const { api, operation, httpStatus, requestId } = stopped instanceof ApiError ? stopped : {};
        log.warn('stopped', { code, api, operation, message, http_status: httpStatus, request_id: requestId });
      }
      for (const [operation, { api, since, failedCalls }] of down)
        log.warn('still_down', { api, operation, since, failed_calls: failedCalls });
      for (const [reason, count] of Object.entries(progress.parkedReasons)) log.info('parked', { reason, count });
      log.info('end', { finished, interrupted, units_charged: progress.unitsCharged, ...progress.byOutcome });
    },
    brokenOff(error) {
      const code = error instanceof KybatchError ? error.code : 'INTERNAL';
      log.warn('broken_off', { error: error instanceof Error ? error.name : 'unknown', code });
    },
    close() {
      const lost = log.close();
      if (lost > 0)
        environment.onNote?.(
          message('LOG_LINES_LOST', `${lost} ${lost === 1 ? 'line' : 'lines'} could not be written to ${path}`),
        );
    },
  };
}

/** Only calls with trouble are logged: the ledger has every call. */
function logCall({ intent, settlement }: Extract<RunEvent, { kind: 'call_settled' }>, log: Logger): void {
  const { operation, row } = intent;
  const { errorCode, errorClass, httpStatus, charge, allowance } = settlement;
  if (errorCode !== null)
    log.warn('call_failed', {
      operation,
      row,
      http_status: httpStatus,
      code: errorCode,
      class: errorClass,
      charge,
    });
  if (allowance?.available === 0)
    log.warn('allowance_spent', { operation, daily_limit: allowance.dailyLimit, reset_at: allowance.resetAt });
}
