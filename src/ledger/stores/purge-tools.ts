import type { Script, Sql } from '../database.js';
import { Bodies } from './bodies.js';
import { isTelling, wordsIn, wordsPattern } from './purge-words.js';

/**
 * Calls of tools whose question or answer names the entity, wherever in it. Nothing tells whom a tool's answer is about,
 * nor in which space its IDs are: so all go that name it, as with lists. Re-asking is the price of its being gone.
 */
export function* toolCallsNaming(database: Sql, identifiers: readonly string[]): Script<readonly number[]> {
  const telling = identifiers.filter(isTelling);
  if (telling.length === 0) return [];
  const pattern = wordsPattern(telling);
  const bodies = new Bodies(database);
  const calls = yield* database
    .prepare<[], ToolCall>(
      `SELECT calls.id AS id, params, coalesce(lower(hex(raw_sha256)), '') AS sha256
       FROM environments JOIN calls ON calls.environment_id = environments.id WHERE api = 'mcp'`,
    )
    .all();
  const naming: number[] = [];
  for (const { id, params, sha256 } of calls) {
    const answer = sha256 === '' ? undefined : (yield* bodies.readSound(sha256))?.toString('utf8');
    if ([params, answer].some((text) => text != null && wordsIn(text, pattern).length > 0)) naming.push(id);
  }
  return naming;
}

interface ToolCall {
  readonly id: number;
  readonly params: string | null;
  /** Empty where it has brought none. */
  readonly sha256: string;
}
