import { KybatchError } from '../domain/errors.js';
import type { DatabaseHealth } from '../ledger/health.js';
import { sentence } from '../util/sentence.js';
import type { V2Counts } from './doctor-permissions.js';
import type { Finding } from './finding.js';
import type { ProviderOptions } from './provider.js';
import { type Surroundings, withLedger } from './surroundings.js';

/**
 * What v2 has just told is kept for those who only look, where a ledger is there and whole. Who cannot write it goes
 * without: a start that is at work keeps what it is told itself. The embedded sandbox of a check has an account of its own.
 */
export async function keepCounts(
  { use, contacts }: V2Counts,
  environment: string,
  health: DatabaseHealth,
  options: ProviderOptions,
  around: Surroundings,
): Promise<readonly Finding[]> {
  const isWhole = health.state === 'sound' && health.note === undefined;
  if (options.sandbox === true || !isWhole || (use === null && contacts === null)) return [];
  try {
    await withLedger('note', options, around, async ({ calls }) => {
      const environmentId = await calls.environment('v2', environment);
      if (use !== null) await calls.keepPermissions(environmentId, use, around.clock.now());
      if (contacts !== null) await calls.keepContacts(environmentId, contacts, around.clock.now());
    });
    return [];
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    const detail = `what v2 counts is not kept for \`kybatch usage\`: ${sentence(error.message)}`;
    return [{ check: 'v2 counts', state: 'note', detail }];
  }
}
