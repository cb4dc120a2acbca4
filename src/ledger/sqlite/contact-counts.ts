import type { CallStore } from '../calls.js';
import type { ContactUsage } from '../usage.js';
import type { Connection } from './driver.js';
import type { Writer } from './writer.js';

/** Contacts that v2 says were revealed (V2-14): the last range that was asked for, of each provider. */
export function contactStore(database: Connection, writer: Writer): Pick<CallStore, 'keepContacts'> {
  const save = database.prepare(
    `INSERT OR REPLACE INTO contact_counts (environment_id, date_from, date_to, email_count, phone_count, extra, observed_at)
     VALUES (@environmentId, @dateFrom, @dateTo, @emailCount, @phoneCount, @extra, @at)`,
  );
  return {
    keepContacts: (environmentId, counts, at) => writer.write(() => void save.run({ ...counts, environmentId, at })),
  };
}

export const readContactCounts = (database: Connection): readonly ContactUsage[] =>
  database
    .prepare<[], ContactUsage>(
      `SELECT environments.name AS environment, date_from AS dateFrom, date_to AS dateTo, email_count AS emailCount,
         phone_count AS phoneCount, extra, observed_at AS observedAt
       FROM contact_counts JOIN environments ON environments.id = environment_id ORDER BY environment_id`,
    )
    .all();
