import type { Beside, Script } from '../database.js';
import type { Session } from './session.js';
import type { Query } from './statement.js';

/**
 * - `alone`: nobody else writes meanwhile, on whatever machine.
 * - `beside`: others may, but for what is locked.
 * - `scratch`: in temporary tables, which only this connection sees.
 * - `trial`: done alone, and taken back.
 */
export type Kind = 'alone' | 'beside' | 'scratch' | 'trial';

export interface Write {
  readonly kind: Kind;
  readonly beside: Beside | undefined;
  readonly script: (mayGuess: boolean) => Script<unknown>;
}

/** The number of a transaction, and the line in which it is noted. */
export interface Noted {
  readonly batch: number;
  readonly writer: number;
  readonly now: number;
}

/** Of everybody who writes to any ledger of this kind, in one database: who writes alone, and who beside others. */
export const LOCK = 0x6b79_6261;

/**
 * Each transaction notes its number in the line of its writer, and does not go on where a later one is noted: a division by
 * zero takes it back. It also says beside whom it writes.
 */
const NOTE = (lock: string) => `WITH noted AS (UPDATE writers SET batch = $1, seen_at = $2
    WHERE id = $3 AND batch < $1 RETURNING 1)
  SELECT 1 / count(*), ${lock}(${LOCK}) FROM noted`;
const NOTE_BESIDE = NOTE('pg_advisory_xact_lock_shared');
const NOTE_ALONE = NOTE('pg_advisory_xact_lock');
export const NOT_NOTED = '22012';
const LOCK_ENVIRONMENTS = 'SELECT id FROM environments WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE';
/** Whatever the server takes for granted: who has waited for a lock sees what the one before has done. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';

export const queryNamed = (name: string, text: string, values: readonly unknown[]): Query => ({
  name,
  text,
  values,
  rowMode: undefined,
});

/** Writes of one kind in one transaction, up to its commit, and what each comes to. */
export async function runBatch<W extends Write>(
  session: Session,
  writes: readonly W[],
  { noted, mayGuess }: { readonly noted: Noted | undefined; readonly mayGuess: boolean },
): Promise<readonly unknown[]> {
  const isBeside = writes[0]?.kind === 'beside';
  session.send(BEGIN);
  if (noted !== undefined) {
    const values = [noted.batch, noted.now, noted.writer];
    session.sendQuery(
      isBeside ? queryNamed('note_beside', NOTE_BESIDE, values) : queryNamed('note_alone', NOTE_ALONE, values),
    );
    // In one order, whoever locks them: nobody waits in a circle.
    const environments = [...new Set(writes.flatMap(({ beside }) => beside?.environments ?? []))].sort((a, b) => a - b);
    if (environments.length > 0)
      session.sendQuery(queryNamed('lock_environments', LOCK_ENVIRONMENTS, [`{${environments.join()}}`]));
  }
  const results = new Map<W, unknown>();
  const waiting = isBeside && mayGuess ? await runInStep(session, writes, results) : writes;
  for (const write of waiting) results.set(write, await session.run(write.script(false)));
  return writes.map((write) => results.get(write));
}

/** Each answer is a way to the server and back: those who need not wait for each other are all on it at once. */
async function runInStep<W extends Write>(
  session: Session,
  writes: readonly W[],
  results: Map<W, unknown>,
): Promise<readonly W[]> {
  for (const turn of [undefined, 'guess'] as const) {
    let failed: { readonly reason: unknown } | undefined;
    const runs = writes
      .filter(({ beside }) => beside?.turn === turn)
      .map(async (write) => {
        try {
          results.set(write, await session.run(write.script(true)));
        } catch (reason) {
          // Answers come in order: the first to fail is the reason of the others.
          failed ??= { reason };
        }
      });
    await Promise.all(runs);
    if (failed !== undefined) throw failed.reason;
  }
  return writes.filter(({ beside }) => beside?.turn === 'own');
}
