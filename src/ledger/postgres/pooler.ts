import type pg from 'pg';
import { UsageError } from '../../domain/errors.js';

/** Others who use the pooler may be in between once, hardly each time. */
const ROUNDS = 10;

/**
 * What is set on a connection must stay there, and temporary tables with it. A pooler that hands its connections from one
 * transaction to the next loses both, and what is asked then finds no table, or another's.
 */
export async function mustKeepSettings(client: pg.Client, connect: () => Promise<pg.Client>): Promise<void> {
  if (await isDirect(client)) return;
  const other = await connect();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const ours = `ours ${round}`;
      await client.query(`SET kybatch.whose = '${ours}'`);
      await other.query(`SET kybatch.whose = 'theirs ${round}'`);
      if ((await settingOf(client)) !== ours) throw shared();
    }
  } finally {
    await other.end().catch(() => undefined);
  }
}

/** A pooler tells numbers of its own, for it cannot know which connection it will give. */
async function isDirect(client: pg.Client): Promise<boolean> {
  const { processID: told } = client as pg.Client & { readonly processID?: number | null };
  const { rows } = await client.query<{ backend: number }>('SELECT pg_backend_pid() AS backend');
  return rows[0]?.backend === told;
}

async function settingOf(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ whose: string }>("SELECT current_setting('kybatch.whose', true) AS whose");
  return rows[0]?.whose;
}

const shared = (): UsageError =>
  new UsageError(
    'PostgreSQL is reached through a pooler that gives each transaction another connection: settings and temporary tables get lost',
    'Connect to PostgreSQL itself, or let the pooler work in session mode (PgBouncer: pool_mode = session). Nothing was sent.',
  );
