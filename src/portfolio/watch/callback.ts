import { idText } from '../../api/schema.js';
import { isPlainObject } from '../../api/v2/fields.js';
import type { HeardEvent } from '../../ledger/watches.js';
import { ExactNumber, parseExact } from '../../util/exact-json.js';
import { stringifyExact } from '../../util/exact-json-write.js';
import { isId } from './inbox.js';

export interface Notification {
  readonly companyId: string;
  /** All that it says, as JSON on one line. */
  readonly line: string;
}

/** Undefined where it is no change notification. It is not signed: the company is worth a look, and no more (V2-13). */
export function readNotification(body: Buffer): Notification | undefined {
  try {
    const said = parseExact(body);
    const company = isPlainObject(said) ? said.company_data : undefined;
    const id = isPlainObject(company) ? company.id : undefined;
    const companyId = typeof id === 'string' || id instanceof ExactNumber ? idText(id) : '';
    return isId(companyId) ? { companyId, line: stringifyExact(said) } : undefined;
  } catch {
    return undefined;
  }
}

/** What a notification says, as an event. That it was told so, and not by the history, stands in `extra`. */
export function notificationEvent(line: string): HeardEvent[] {
  try {
    const said = parseExact(line);
    if (!isPlainObject(said)) return [];
    const { field, status, ...rest } = said;
    const odd = Object.entries({ field, status }).filter(
      ([, value]) => value !== undefined && typeof value !== 'string',
    );
    const notification = { ...rest, ...Object.fromEntries(odd) };
    return [
      {
        eventType: typeof field === 'string' ? field : null,
        status: typeof status === 'string' ? status : null,
        message: null,
        dateCreated: null,
        extra: stringifyExact({ notification }),
      },
    ];
  } catch {
    // Half a line, of a process that died: its company is looked into all the same.
    return [];
  }
}
