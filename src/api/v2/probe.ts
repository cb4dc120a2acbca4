import { ApiError } from '../errors.js';
import type { BodyOf } from '../operation.js';
import type { PlatformV2Client } from './client.js';
import type { v2Operations } from './operations.js';

export interface V2KeyReport {
  readonly state: 'works' | 'refused' | 'unreachable' | 'wrong_route';
  readonly metrics: BodyOf<(typeof v2Operations)['metrics']> | null;
  readonly error: ApiError | undefined;
}

/** `/metrics` reads the account's own counters: it tells whether the token works and what is left. */
export async function probeV2Key(client: PlatformV2Client, signal?: AbortSignal): Promise<V2KeyReport> {
  try {
    const reply = await client.call('metrics', {}, { signal });
    return { state: 'works', metrics: reply.data, error: undefined };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const state = error.stop === 'credentials' ? 'refused' : error.stop === 'route' ? 'wrong_route' : 'unreachable';
    return { state, metrics: null, error };
  }
}
