import type { Script, Sql } from '../database.js';
import type { Allowances, ToldByV2 } from '../usage.js';
import { readContactCounts } from './contact-counts.js';
import { readEnvironments } from './environment-usage.js';
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
