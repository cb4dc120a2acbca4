import { driftOf } from '../../domain/permission-drift.js';
import type { Script, Sql } from '../database.js';
import type { Allowances, Drift, ToldByV2 } from '../usage.js';
import { readContactCounts } from './contact-counts.js';
import { driftBetweenAnswers, readEnvironments } from './environment-usage.js';
import { readPermissionUse } from './permission-use.js';

export function* toldByV2(database: Sql): Script<ToldByV2> {
  return { permissions: yield* readPermissionUse(database), contacts: yield* readContactCounts(database) };
}

/** What the providers of one run have said. */
export function* allowancesOf(database: Sql, runId: string): Script<Allowances> {
  const used = yield* database
    .prepare<[string], { api: string; name: string }>(
      `SELECT environments.api AS api, environments.name AS name FROM run_environments
       JOIN environments ON environments.id = environment_id WHERE run_id = ?`,
    )
    .all(runId);
  const isUsed = (api: string, name: string) => used.some((one) => one.api === api && one.name === name);
  const { permissions, contacts } = yield* toldByV2(database);
  const environments = yield* readEnvironments(database);
  return {
    environments: environments.filter(({ api, name }) => isUsed(api, name)),
    permissions: permissions.filter(({ environment }) => isUsed('v2', environment)),
    contacts: contacts.filter(({ environment }) => isUsed('v2', environment)),
  };
}

/** What the providers of one run have counted since a time and we have not. Calls of unknown charge are listed elsewhere. */
export function* driftSince(database: Sql, runId: string, since: number): Script<readonly Drift[]> {
  const { environments, permissions } = yield* allowancesOf(database, runId);
  const found: Drift[] = [];
  for (const told of environments) {
    const inAll = told.driftUnits - told.unknownCalls;
    if (inAll <= 0) continue;
    const units = Math.min(inAll, told.driftSinceAnchor + (yield* driftBetweenAnswers(database, told, since)));
    if (units > 0) found.push({ api: told.api, environment: told.name, permission: null, units });
  }
  // One permission may be counted by day and by plan.
  const byPermission = new Map<string, Drift>();
  for (const told of permissions) {
    const units = told.observedAt < since ? 0 : (driftOf(told) ?? 0);
    const { environment, permission } = told;
    const key = `${environment} ${permission}`;
    if (units > (byPermission.get(key)?.units ?? 0))
      byPermission.set(key, { api: 'v2', environment, permission, units });
  }
  return [...found, ...byPermission.values()];
}
