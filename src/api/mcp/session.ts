// One MCP session, on the official SDK.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Tool } from './tools.js';
import type { McpWire, TrackedRequest } from './wire.js';

export type Session = Awaited<ReturnType<typeof openSession>>;

/** The official SDK's client in a session of its own. Loaded on demand: it takes a fifth of a second. */
export async function openSession(url: string, version: string, wire: McpWire, tracked: TrackedRequest) {
  const client = new Client({ name: 'kybatch', version });
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: wire.fetch, reconnectionOptions: NEVER });
  await wire.track(tracked, () => client.connect(transport, OPTIONS));
  return {
    /** `check` throws if the page that came last is no answer. */
    tools: (asking: TrackedRequest, check: () => void) => wire.track(asking, () => allTools(client, check)),
    /** The answer is stored in the tracked request, byte for byte. */
    call: async (asking: TrackedRequest, name: string, params: Readonly<Record<string, unknown>>): Promise<void> => {
      await wire.track(asking, () =>
        // Not `callTool`: it discards an answer that does not fit the output schema, although it is paid for.
        client.request({ method: 'tools/call', params: { name, arguments: { ...params } } }, ResultSchema, OPTIONS),
      );
    },
    close: async () => {
      const leaving = { signal: AbortSignal.timeout(LEAVING_AT_MOST_MS) };
      // The server ends a session that cannot be closed.
      await wire.track(leaving, () => transport.terminateSession()).catch(() => {});
      await client.close();
    },
  };
}

async function allTools(client: Client, check: () => void): Promise<readonly Tool[]> {
  const found: Tool[] = [];
  const untilMs = performance.now() + LISTING_AT_MOST_MS;
  const seen = new Set<string | undefined>();
  for (let cursor: string | undefined; !seen.has(cursor) && seen.size < PAGES_AT_MOST; ) {
    seen.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const page = await client.request({ method: 'tools/list', params }, toolsPage, OPTIONS);
    check();
    if (found.length + page.tools.length > TOOLS_AT_MOST) throw new Error(`it lists more than ${TOOLS_AT_MOST} tools`);
    for (const tool of page.tools) found.push(listedTool.parse(tool));
    if (page.nextCursor === undefined) break;
    if (performance.now() > untilMs) throw new Error('it takes too long to list its tools');
    cursor = page.nextCursor;
  }
  return found;
}

/** The tools are counted before each is read: 100,000 took a minute. */
const toolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const listedTool = z.object({
  name: z.string().max(200),
  description: z.string().default(''),
  inputSchema: z.record(z.string(), z.unknown()),
});
const TOOLS_AT_MOST = 1_000;
/** For all pages together. Each page has the deadline of a call. */
const LISTING_AT_MOST_MS = 60_000;

/** Longer than the transport's deadline, which does not count the time while this process was suspended. */
const OPTIONS = { timeout: 600_000 };
const NEVER = {
  maxRetries: 0,
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
};
const PAGES_AT_MOST = 100;
const LEAVING_AT_MOST_MS = 2_000;
