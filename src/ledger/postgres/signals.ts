import type { Clock } from '../../util/clock.js';
import type { Database } from '../database.js';
import type { Signal, Signals } from '../signals.js';
import { isRecord, parseStored } from '../stored-json.js';
import { inPlainWords, LedgerAwayError } from './failures.js';
import { Session } from './session.js';

const CHANNEL = 'kybatch';
/** How soon a lost connection is noticed, and made anew. */
const LOOK_MS = 1000;

export function postgresSignals(database: Database, url: string, clock: Clock): Signals {
  const notify = database.prepare<[string], unknown>(`SELECT pg_notify('${CHANNEL}', ?) AS told`);
  return {
    async tell(signal) {
      await database.read(() => notify.get(JSON.stringify(signal)));
    },
    async listen(told) {
      const stopped = new AbortController();
      const open = async (): Promise<Session> => {
        const session = await Session.open({ url, applicationName: 'kybatch listener' }).catch((error: unknown) => {
          throw inPlainWords(error, database.name);
        });
        session.onNotification((channel, payload) => {
          const signal = channel === CHANNEL ? parseStored(payload, isSignal) : undefined;
          if (signal !== undefined) told(signal);
        });
        await session.command(`LISTEN ${CHANNEL}`);
        return session;
      };
      // What it tells is in the ledger as well, only later: nobody has to end because it cannot be heard now.
      let session = await open().catch((error: unknown) => {
        if (error instanceof LedgerAwayError) return undefined;
        throw error;
      });
      const watching = (async () => {
        for (;;) {
          await clock.sleep(LOOK_MS, stopped.signal);
          if (session?.isLost !== false) session = await open().catch(() => session);
        }
      })().catch(() => {});
      return async () => {
        stopped.abort();
        await watching;
        await session?.end();
      };
    },
  };
}

const isSignal = (value: unknown): value is Signal =>
  isRecord(value) &&
  value.kind === 'slow_down' &&
  ['startId', 'environmentId', 'pauseMs'].every((name) => typeof value[name] === 'number');
