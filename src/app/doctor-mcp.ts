import { ApiError } from '../api/errors.js';
import { keyFailure } from './doctor-provider.js';
import type { Finding } from './finding.js';
import type { Provider } from './provider.js';

/** Asks the connector server for its tools, which costs nothing. Only `kybatch call mcp` needs it: without it all is well. */
export async function checkMcp({ v1, v2, mcp, environment }: Provider): Promise<readonly Finding[]> {
  if (mcp === null && v1 === null && v2 === null) return [];
  if (mcp === null) return [{ check: 'mcp', state: 'note', detail: 'KYBATCH_MCP_URL is not set: no tools' }];
  try {
    const { length } = await mcp.tools();
    const detail = `${length} ${length === 1 ? 'tool' : 'tools'} at ${environment.mcp?.url}; asked for 0 units`;
    return [{ check: 'mcp', state: 'ok', detail }];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const state = error.stop === 'credentials' ? 'refused' : error.stop === 'route' ? 'wrong_route' : 'unreachable';
    return [keyFailure('mcp', state, { error })];
  }
}
