import { parseBody } from './body.js';
import type { Intake, Reply } from './messages.js';
import { acceptedFields } from './v2/watches.js';
import { isObject } from './validate.js';
import type { World } from './world.js';

/** Beside both APIs: what no provider lets anybody do. */
export const changePath = '/control/change';

/**
 * A change in the register, told from outside: `{"company": "<v2 ID>", "field": "name", "value": "New Ltd"}`. Both APIs show
 * it from then on; where it is watched it stands in the history, and the callback has been posted when this answers.
 */
export async function answerControl({ registry, watches }: World, { method, body }: Intake): Promise<Reply> {
  if (method !== 'POST') return reply(405, { detail: 'Only POST.' });
  const said = read(body);
  if (!isObject(said)) return reply(400, { detail: 'The body must be a JSON object.' });
  const { company: id, field, value = null } = said;
  const company = registry.byV2Id(String(id));
  if (company === undefined) return reply(404, { detail: 'There is no company with this v2 ID.' });
  if (typeof field !== 'string' || !acceptedFields.includes(field))
    return reply(400, { detail: `The field must be one of ${acceptedFields.join(', ')}.` });
  if (value !== null && typeof value !== 'string') return reply(400, { detail: 'The value must be a text, or null.' });
  const { recorded, status } = await watches.change(company, field, value);
  return reply(200, { recorded, callback_status: status ?? null });
}

function read(body: string): unknown {
  try {
    return parseBody(body);
  } catch {
    return undefined;
  }
}

const reply = (status: number, body: object): Reply => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});
