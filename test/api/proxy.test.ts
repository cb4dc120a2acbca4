import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../src/api/errors.js';
import { McpClient } from '../../src/api/mcp/client.js';
import type { ProxyOptions } from '../../src/api/transport.js';
import { KybV1Client } from '../../src/api/v1/client.js';

/** A proxy that notes each connect request and refuses it. */
async function withProxy(use: (url: string, asked: readonly string[]) => Promise<void>): Promise<void> {
  const asked: string[] = [];
  const server = createServer().on('connect', ({ url, headers }, socket) => {
    asked.push(`${url} ${headers['proxy-authorization'] ?? ''} ${headers.authorization ?? ''}`.trim());
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    await use(`http://u:pass-word@127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

/** The errors of an API and of the MCP server behind this proxy. */
async function meet(origin: string, proxy: ProxyOptions): Promise<readonly unknown[]> {
  const shared = { apiKey: 'canary', proxy };
  const v1 = new KybV1Client({ ...shared, baseUrl: `${origin}/v1` });
  const mcp = new McpClient({ ...shared, url: `${origin}/mcp`, version: '1' });
  const errors = [v1.call('liteKyb', { id: '1' }), mcp.tools()].map((answer) =>
    answer.then(
      () => undefined,
      (error: unknown) => (error instanceof ApiError ? `${error.code} ${error.charge}` : error),
    ),
  );
  const met = await Promise.all(errors);
  await Promise.all([v1.close(), mcp.close()]);
  return met;
}

describe('a proxy', () => {
  test('carries https without the key, and a request it refuses was not sent', async () => {
    await withProxy(async (url, asked) => {
      const met = await meet('https://provider.invalid', { url, except: 'other.invalid' });
      expect(met).toEqual(['PROVIDER_UNREACHABLE free', 'PROVIDER_UNREACHABLE free']);
      const login = `Basic ${Buffer.from('u:pass-word').toString('base64')}`;
      expect(asked).toEqual([`provider.invalid:443 ${login}`, `provider.invalid:443 ${login}`]);
    });
  });

  test.each([
    ['a host that NO_PROXY names', 'https://127.0.0.1:1', '127.0.0.1,other.invalid'],
    ['a loopback address over http', 'http://127.0.0.1:1', ''],
  ])('is not used for %s', async (_, origin, except) => {
    await withProxy(async (url, asked) => {
      const met = await meet(origin, { url, except });
      expect(met).toEqual(['PROVIDER_UNREACHABLE free', 'PROVIDER_UNREACHABLE free']);
      expect(asked).toEqual([]);
    });
  });
});
