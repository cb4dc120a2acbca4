import { ApiError } from '../api/errors.js';
import type { CostlyCheck } from '../api/v1/probe.js';
import { KybatchError } from '../domain/errors.js';
import type { DatabaseHealth } from '../ledger/health.js';
import { sentence } from '../util/sentence.js';
import { withBookedChecks } from './book-check.js';
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
  if (options.sandbox === true || !isWhole(health) || (use === null && contacts === null)) return [];
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

const isWhole = (health: DatabaseHealth): boolean => health.state === 'sound' && health.note === undefined;

/** Checks of the v1 key that were not free are told, and booked like those of a run (X-8), where a ledger is there. */
export async function keepChecks(
  costly: readonly CostlyCheck[],
  environment: string,
  health: DatabaseHealth,
  options: ProviderOptions,
  around: Surroundings,
): Promise<readonly Finding[]> {
  if (costly.length === 0) return [];
  const finding = (more: string): Finding => ({
    check: 'v1 probe',
    state: 'note',
    detail: `${costly.length === 1 ? '1 check was' : `${costly.length} checks were`} charged, or may have been: ${more}`,
  });
  if (options.sandbox === true || !isWhole(health)) return [finding('there is no ledger to book it in')];
  try {
    await withLedger('note', options, around, async (ledger) => {
      for (const { check, answer } of costly) {
        const client = { send: () => (answer instanceof ApiError ? Promise.reject(answer) : Promise.resolve(answer)) };
        await withBookedChecks(client, environment, NO_LIMITS, NEVER, ledger, around, async (send) => {
          await send(check).catch(() => {});
        });
      }
    });
    return [finding('`kybatch usage` counts it')];
  } catch (error) {
    if (!(error instanceof KybatchError)) throw error;
    return [finding(`it could not be booked, ${sentence(error.message)}`)];
  }
}

const NO_LIMITS = { units: null, reports: null };
const NEVER = new AbortController().signal;
