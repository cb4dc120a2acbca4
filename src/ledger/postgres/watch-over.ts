import type { Socket } from 'node:net';
import pg from 'pg';
import { isAway } from './failures.js';
import { hurriedBy } from './hurry.js';

export interface Watched {
  readonly url: string;
  /** The number of its process on the server. */
  readonly backend: number;
  readonly socket: Socket;
  /** So often, and for so long, it is looked. */
  readonly lookMs: number;
  readonly giveUp: AbortSignal | undefined;
  /** Is it waiting for an answer? */
  readonly isOwed: () => boolean;
}

/**
 * Where a machine is gone, or packets go nowhere, the system tries for a quarter of an hour before it says so. While an
 * answer is owed and nothing comes, a second connection asks whether the first one is still known: who waits for a lock
 * is. Returns what ends it.
 */
export function watchOver({ url, backend, socket, lookMs, giveUp, isOwed }: Watched): () => void {
  let heard = -1;
  let isLooking = false;
  const look = async (withinMs: number) => {
    const bytes = socket.bytesRead;
    if (!isOwed()) heard = -1;
    else if (heard !== bytes) heard = bytes;
    else if (!(await isKnown(url, backend, withinMs)) && bytes === socket.bytesRead)
      socket.destroy(new Error('Connection terminated: it does not answer any more'));
  };
  return hurriedBy(giveUp, lookMs, (ms) =>
    setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void look(ms).finally(() => {
        isLooking = false;
      });
    }, ms).unref(),
  );
}

/** Is there still a backend of this number? Whoever is not let in for another reason cannot tell. */
async function isKnown(url: string, backend: number, connectMs: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectMs, query_timeout: connectMs });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [backend]);
    return rows.length > 0;
  } catch (error) {
    return !isAway(error) || ('code' in (error as Error) && (error as { code: unknown }).code === '53300');
  } finally {
    void client.end().catch(() => undefined);
  }
}
