import type { CallStore } from '../calls.js';
import type { Database, Script, Sql } from '../database.js';
import type { ContactUsage } from '../usage.js';

/** Contacts that v2 says were revealed (V2-14): the last range that was asked for, of each provider. */
export function contactStore(database: Database): Pick<CallStore, 'keepContacts'> {
  const save = database.prepare(
    `INSERT INTO contact_counts (environment_id, date_from, date_to, email_count, phone_count, extra, observed_at)
     VALUES (@environmentId, @dateFrom, @dateTo, @emailCount, @phoneCount, @extra, @at)
     ON CONFLICT (environment_id) DO UPDATE SET date_from = excluded.date_from, date_to = excluded.date_to,
       email_count = excluded.email_count, phone_count = excluded.phone_count, extra = excluded.extra, observed_at = excluded.observed_at`,
  );
  return {
    keepContacts: (environmentId, counts, at) => database.write(() => save.run({ ...counts, environmentId, at })),
  };
}

export const readContactCounts = (database: Sql): Script<readonly ContactUsage[]> =>
  database
    .prepare<[], ContactUsage>(
      `SELECT environments.name AS environment, date_from AS dateFrom, date_to AS dateTo, email_count AS emailCount,
         phone_count AS phoneCount, extra, observed_at AS observedAt
       FROM contact_counts JOIN environments ON environments.id = environment_id ORDER BY environment_id`,
    )
    .all();
