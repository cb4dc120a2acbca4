import { userInfo } from 'node:os';
import type { PlaceOptions, Surroundings } from './surroundings.js';

export interface DeciderOptions extends PlaceOptions {
  /** Who decides; the user of this machine without it. */
  readonly by?: string | undefined;
}

export function decider({ by }: DeciderOptions, { env }: Surroundings): string {
  const named = [by, env.USER, env.LOGNAME, env.USERNAME].find((name) => name !== undefined && name.trim() !== '');
  return named?.trim() ?? userInfo().username;
}
