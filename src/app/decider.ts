import { userInfo } from 'node:os';
import { UsageError } from '../domain/errors.js';
import { isPersonName } from '../ledger/two-people.js';
import type { PlaceOptions, Surroundings } from './surroundings.js';

export interface DeciderOptions extends PlaceOptions {
  /** Who decides; the user of this machine without it. */
  readonly by?: string | undefined;
}

export function decider({ by }: DeciderOptions, { env }: Surroundings): string {
  const named = [by, env.USER, env.LOGNAME, env.USERNAME].find((name) => name !== undefined && name.trim() !== '');
  const name = named?.trim() ?? userInfo().username;
  if (!isPersonName(name))
    throw new UsageError(
      `${JSON.stringify(name)} is nobody's name: there is no letter or digit in it`,
      'Say with --by who decides.',
    );
  return name;
}
