import type { PurgeOptions } from '../app/purge.js';
import { UsageError } from '../domain/errors.js';
import { ID_SPACES, type IdSpace } from '../domain/id-spaces.js';
import { compact } from '../domain/numbers/clean.js';
import { resolveLocation } from '../domain/resolve-location.js';

type PurgeRequest = PurgeOptions['request'];

const EXAMPLES = '`kybatch purge --help` shows examples.';

/** What the flags ask for. What names nothing is refused: there is no way to say "everything" here. */
export function readRequest(entity: string | undefined, before: string | undefined, now: number): PurgeRequest {
  const given: readonly unknown[] = [entity, before];
  if (given.some(Array.isArray)) throw new UsageError('purge takes one --entity or one --before at a time', EXAMPLES);
  if ((entity === undefined) === (before === undefined))
    throw new UsageError('purge needs either --entity or --before', EXAMPLES);
  return before === undefined ? readEntity(entity ?? '') : { kind: 'before', at: readDay(before, now) };
}

function readEntity(text: string): PurgeRequest {
  const [, prefix, rest = ''] = /^\s*([A-Za-z0-9]+(?:-[A-Za-z0-9]{1,3})?)\s*:(.*)$/s.exec(text) ?? [];
  const id = (prefix === undefined ? text : rest).trim();
  if (compact(id) === '')
    throw new UsageError(`--entity: "${text}" names no entity, and nothing was removed`, EXAMPLES);
  if (prefix === undefined) return { kind: 'entity', id };
  const space = spaceNamed(prefix.toLowerCase());
  if (space !== undefined) return { kind: 'entity', space, id };
  const place = /^[A-Za-z]{2}(?:-|$)/.test(prefix) ? resolveLocation(prefix) : undefined;
  if (place?.ok && place.countryCode !== null)
    return { kind: 'number', countryCode: place.countryCode, state: place.state, registrationNumber: id };
  throw new UsageError(
    `--entity: ${prefix} is neither an ID space nor a country`,
    `ID spaces: ${ID_SPACES.join(', ')}.`,
  );
}

/** `source` is what version 0.1 called the IDs that credit reports are found by. */
const spaceNamed = (name: string): IdSpace | undefined =>
  name === 'source' ? 'credit' : ID_SPACES.find((space) => space === name);

function readDay(text: string, now: number): number {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // Some days that do not exist are read as days of the next month.
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== text)
    throw new UsageError(`--before: ${text} is no date`, 'YYYY-MM-DD, for example 2025-01-01.');
  if (at > now)
    throw new UsageError(
      `--before: ${text} is in the future`,
      'Everything there is would go; name a day that has begun.',
    );
  return at;
}
