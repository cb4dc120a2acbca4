import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import { McpClient, type McpClientOptions } from '../../../src/api/mcp/client.js';
import { long } from '../../helpers/long.js';

interface Request {
  readonly id: number;
  readonly method: string;
}

/** A protocol server that answers anything. */
async function withMcp(
  answer: (request: Request, response: ServerResponse) => void,
  options: Partial<McpClientOptions>,
  use: (client: McpClient) => Promise<void>,
): Promise<void> {
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Request;
      if (request.method === 'initialize') {
        const serverInfo = { name: 'hostile', version: '1' };
        reply(response, request, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo });
      } else if (request.id === undefined) response.writeHead(202).end();
      else answer(request, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const client = new McpClient({ url, apiKey: 'key', version: '1', ...options });
  try {
    await use(client);
  } finally {
    await client.close();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

const reply = (response: ServerResponse, { id }: Request, result: unknown) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
};

/** Writes events without an answer for as long as they are read. */
function stream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'.repeat(1_000);
  const more = () => {
    while (!response.destroyed && response.write(events));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
}

const tool = (name: string, inputSchema: object = { type: 'object' }) => ({ name, description: '', inputSchema });

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => undefined,
    (error: unknown) => error,
  );

test("X-6 a tool's pattern is left to the server, because it may take exponential time", async () => {
  const evil = { type: 'string', pattern: '^(a+)+$' };
  const schemas: readonly object[] = [
    {
      type: 'object',
      properties: { name: evil, pattern: { type: 'string' }, code: { type: 'string', pattern: '^[A-Z]{2}$' } },
      required: ['name'],
    },
    { type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } }, additionalProperties: false },
    { type: 'object', propertyNames: evil },
    { type: 'object', properties: { name: { type: 'string', pattern: '^a*a*a*a*$' } } },
    { type: 'object', properties: { name: { type: 'string', pattern: '^a{0,9}[a]{0,9999}$' } } },
    { type: 'object', properties: { names: { type: 'array', items: { anyOf: [evil, { type: 'number' }] } } } },
  ];
  const tools = schemas.map((schema, index) => tool(`tool_${index}`, schema));
  await withMcp(
    (request, response) => reply(response, request, { tools }),
    {},
    async (client) => {
      expect(await client.tools()).toHaveLength(schemas.length);
      const text = `${'a'.repeat(50_000)}!`;
      for (const { name } of tools)
        expect(client.prepare(name, { name: text, [text]: text }).operation.name).toBe(name);
      // The rest is checked, including harmless patterns and a parameter of that name.
      expect(() => client.prepare('tool_0', { pattern: 'x' })).toThrow(ApiError);
      expect(() => client.prepare('tool_0', { name: 'x', pattern: 7 })).toThrow(ApiError);
      expect(() => client.prepare('tool_0', { name: 'x', code: 'gb' })).toThrow(ApiError);
    },
  );
});

test('X-6 references that double the work with each step are left to the server', async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  );
  const tools = [tool('deep', { $ref: '#/$defs/d0', $defs: { ...$defs, d40: { type: 'object' } } })];
  await withMcp(
    (request, response) => reply(response, request, { tools }),
    {},
    async (client) => {
      await client.tools();
      expect(client.prepare('deep', {}).operation.name).toBe('deep');
    },
  );
});

test('X-6 definitions that refer to each other are left to the server', async () => {
  const $defs = { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } };
  const tools = [tool('ring', { type: 'object', allOf: [{ $ref: '#/$defs/a' }], $defs })];
  await withMcp(
    (request, response) => reply(response, request, { tools }),
    {},
    async (client) => {
      await client.tools();
      expect(client.prepare('ring', {}).operation.name).toBe('ring');
    },
  );
});

test('X-6 an endless list of tools is refused', async () => {
  const tools = Array.from({ length: 1_001 }, (_, at) => tool(`tool_${at}`));
  await withMcp(
    (request, response) => reply(response, request, { tools }),
    {},
    async (client) => {
      expect(await failureOf(client.tools())).toMatchObject({ code: 'UNEXPECTED_BODY', api: 'mcp' });
    },
  );
});

test('X-6 a list of 100,000 tools is refused before it is parsed', async () => {
  const tools = Array.from({ length: 100_000 }, (_, at) => tool(`tool_${at}`));
  const text = JSON.stringify(tools);
  const parse = vi.spyOn(JSON, 'parse');
  await withMcp(
    (request, response) => reply(response, request, { tools }),
    {},
    async (client) => {
      expect(await failureOf(client.tools())).toMatchObject({ code: 'ANSWER_TOO_LARGE', api: 'mcp' });
      expect(parse.mock.calls.every(([json]) => json.length < text.length)).toBe(true);
    },
  );
  parse.mockRestore();
});

test('X-6 a stream without an answer ends at the size limit', async () => {
  await withMcp(
    (_, response) => stream(response),
    { maxBodyBytes: 2_000_000 },
    async (client) => {
      expect(await failureOf(client.send(client.prepare('any', {})))).toMatchObject({ api: 'mcp', charge: 'unknown' });
    },
  );
});

long('X-6 an endless stream ends at the deadline', async () => {
  await withMcp(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const beat = setInterval(() => response.write('data: {"method":"beat"}\n'.repeat(200)), 1);
      response.on('close', () => clearInterval(beat));
    },
    { deadlineMs: 1_000 },
    async (client) => {
      expect(await failureOf(client.send(client.prepare('any', {})))).toMatchObject({ api: 'mcp', charge: 'unknown' });
    },
  );
});
