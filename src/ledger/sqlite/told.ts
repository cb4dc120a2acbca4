import type { Allowances, ToldByV2 } from '../usage.js';
import { readContactCounts } from './contact-counts.js';
import type { Connection } from './driver.js';
import { readEnvironments } from './environment-usage.js';
import { readPermissionUse } from './permission-use.js';

export const toldByV2 = (database: Connection): ToldByV2 => ({
  permissions: readPermissionUse(database),
  contacts: readContactCounts(database),
});

/** What the providers of one run have said. */
export function allowancesOf(database: Connection, runId: string): Allowances {
  const used = database
    .prepare<[string], { api: string; name: string }>(
      `SELECT environments.api AS api, environments.name AS name FROM run_environments
       JOIN environments ON environments.id = environment_id WHERE run_id = ?`,
    )
    .all(runId);
  const isUsed = (api: string, name: string) => used.some((one) => one.api === api && one.name === name);
  const { permissions, contacts } = toldByV2(database);
  return {
    environments: readEnvironments(database).filter(({ api, name }) => isUsed(api, name)),
    permissions: permissions.filter(({ environment }) => isUsed('v2', environment)),
    contacts: contacts.filter(({ environment }) => isUsed('v2', environment)),
  };
}
