import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { ApiError } from '../../../src/api/errors.js';
import { McpClient } from '../../../src/api/mcp/client.js';
import { type Fault, type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/index.js';
import { findCompany, withSandbox } from '../../helpers/sandbox.js';

interface Connected {
  readonly client: McpClient;
  readonly sandbox: Sandbox;
  /** A person for whom every tool has an answer. */
  readonly somebody: Readonly<Record<string, unknown>>;
  /** How often this was sent since then. */
  readonly sent: (operation: string) => number;
}

const TOOL = 'company_ownership';

/** One sandbox for all tests that leave it unchanged. Their counts begin here. */
let shared: Promise<Sandbox> | undefined;
afterAll(async () => (await shared)?.close());

async function withClient(use: (connected: Connected) => Promise<void>): Promise<void> {
  shared ??= startSandbox({ size: 400 });
  await connect(await shared, use);
}

const withOwn = (mcp: SandboxOptions['mcp'], use: (connected: Connected) => Promise<void>): Promise<void> =>
  withSandbox({ size: 400, mcp }, ({ sandbox }) => connect(sandbox, use));

async function connect(sandbox: Sandbox, use: (connected: Connected) => Promise<void>): Promise<void> {
  const client = clientOf(sandbox.mcpUrl, sandbox.keys.v2);
  const { countryCode, registrationNumber } = findCompany(
    sandbox,
    (company) => sandbox.registry.inV2(company) && company.registrationNumber !== null,
  );
  const before = new Map(sandbox.requests);
  const sent = (operation: string) => (sandbox.requests.get(operation) ?? 0) - (before.get(operation) ?? 0);
  try {
    const somebody = { country_code: countryCode, registration_number: registrationNumber };
    await use({ client, sandbox, somebody, sent });
  } finally {
    await client.close();
  }
}

const clientOf = (url: string, apiKey: string) => new McpClient({ url, apiKey, version: '1', deadlineMs: 20_000 });

const ask = ({ client, somebody }: Connected) => client.send(client.prepare(TOOL, somebody));

async function met(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ApiError) return error;
  throw new Error(`expected an ApiError, got ${String(error)}`);
}

const result = (value: object): Fault => ({
  rewrite: (body) => body.replace(/"result":.*\}(?=\s*$)/, `"result":${JSON.stringify(value)}}`),
});

const failed = (text: string | object): Fault =>
  result({ isError: true, content: [{ type: 'text', text: typeof text === 'string' ? text : JSON.stringify(text) }] });

describe('the client of the MCP server', () => {
  test.each(['json', 'sse'] as const)('lists the tools of every page, answered as %s', async (answers) => {
    await withOwn({ answers, toolsPerPage: 2 }, async ({ client, sandbox, sent }) => {
      expect((await client.tools()).map(({ name }) => name)).toHaveLength(5);
      expect(sent('tools/list')).toBe(3);
      expect(sandbox.chargeLog).toEqual([]);
      expect(new Set(sandbox.requestLog.map(({ headers }) => headers.authorization))).toEqual(new Set(['Token']));
    });
  });

  test.each(['json', 'sse'] as const)('keeps the result byte for byte, answered as %s', async (answers) => {
    await withOwn({ answers }, async (connected) => {
      let sent = '';
      const spaced = (body: string) => {
        sent = body.replace(
          '"structuredContent":{',
          '"structuredContent":{"exact" : 1.10, "long":123456789012345678901234567890, ',
        );
        return sent;
      };
      connected.sandbox.script(TOOL, { rewrite: spaced });
      const { body, status } = await ask(connected);
      expect(status).toBe(200);
      expect(body.toString()).toMatch(/^\{"content":.*"exact" : 1\.10, "long":123456789012345678901234567890,.*\}$/);
      expect(sent).toContain(`"result":${body.toString()}}`);
      expect(connected.client.isAccepted).toBe(true);
    });
  });

  test('opens a session when it needs one and ends it when it is closed', async () => {
    await withClient(async (connected) => {
      await ask(connected);
      await ask(connected);
      await connected.client.close();
      const steps = ['initialize', 'notifications/initialized', 'tools/list', TOOL, 'GET', 'DELETE'];
      expect(steps.map(connected.sent)).toEqual([1, 1, 0, 2, 0, 1]);
    });
  });

  test('X-1 reads an answer with any content type', async () => {
    await withClient(async (connected) => {
      connected.sandbox.script(TOOL, 'wrongContentType');
      expect((await ask(connected)).body.toString()).toContain('"isError":false');
    });
  });

  test.each([
    ['lost', 'lostAnswer', 'CONNECTION_LOST', 'retry', 'unknown'],
    ['cut in the middle', 'resetMidBody', 'CONNECTION_LOST', 'retry', 'unknown'],
    ['truncated', 'truncatedJson', 'UNEXPECTED_BODY', 'retry', 'unknown'],
    ['a page', 'htmlError', 'SERVER_FAILURE', 'retry', 'unknown'],
    ['accepted, and nothing more', { reply: { status: 202, body: '' } }, 'UNEXPECTED_BODY', 'retry', 'unknown'],
    ['a redirect', 'redirect', 'REDIRECT_REFUSED', 'stop_run', 'unknown'],
    [
      'a redirect that keeps the method',
      { reply: { status: 307, headers: { location: '/mcp' }, body: '' } },
      'REDIRECT_REFUSED',
      'stop_run',
      'unknown',
    ],
    ['a refused key', { status: 401 }, 'UNAUTHENTICATED', 'stop_run', 'unknown'],
    ['throttled', { status: 429, retryAfter: 3 }, 'TOO_MANY_REQUESTS', 'slow_down', 'unknown'],
    ['a failure after the work', { failAfterWork: 500 }, 'SERVER_FAILURE', 'retry', 'unknown'],
    [
      'without a session',
      {
        reply: {
          status: 404,
          body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
        },
      },
      'SESSION_ENDED',
      'retry',
      'unknown',
    ],
  ] as const)('sends a call only once if its answer is %s', async (_, fault, code, kind, charge) => {
    await withClient(async (connected) => {
      await connected.client.tools();
      connected.sandbox.script(TOOL, fault);
      expect(await met(ask(connected))).toMatchObject({ code, class: kind, charge, api: 'mcp', operation: TOOL });
      expect(connected.sent(TOOL)).toBe(1);
      expect(connected.sent('GET')).toBe(0);
    });
  });

  test('records no charge for a call that was never sent', async () => {
    await withClient(async (connected) => {
      connected.sandbox.revoke(connected.sandbox.keys.v2);
      expect(await met(ask(connected))).toMatchObject({ code: 'UNAUTHENTICATED', stop: 'credentials', charge: 'free' });
      connected.sandbox.restore(connected.sandbox.keys.v2);
      expect((await ask(connected)).status).toBe(200);
      expect(connected.sent(TOOL)).toBe(1);
    });
    const nobody = clientOf('http://127.0.0.1:1/mcp', 'canary');
    expect(await met(nobody.send(nobody.prepare(TOOL, {})))).toMatchObject({
      code: 'PROVIDER_UNREACHABLE',
      charge: 'free',
    });
    await nobody.close();
  });

  test('reports the protocol version of a server that it does not support', async () => {
    await withClient(async ({ client, sandbox }) => {
      sandbox.script('initialize', {
        rewrite: (body) => body.replace(/"protocolVersion":"[^"]*"/, '"protocolVersion":"1999"'),
      });
      expect(await met(client.tools())).toMatchObject({
        code: 'UNEXPECTED_BODY',
        charge: 'free',
        message: expect.stringContaining('1999'),
      });
    });
  });

  test('leaves a stream that stays open after the answer', async () => {
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { id, method } = JSON.parse(body || '{}') as { readonly id?: number; readonly method?: string };
        if (id === undefined) return response.writeHead(202).end();
        const initialized = {
          protocolVersion: '2025-06-18',
          capabilities: {},
          serverInfo: { name: 'x', version: '1' },
        };
        const said = method === 'initialize' ? initialized : { content: [] };
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: said })}\n\n`);
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const client = clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, 'canary');
    try {
      expect((await client.send(client.prepare(TOOL, {}))).body.toString()).toBe('{"content":[]}');
    } finally {
      await client.close();
      server.closeAllConnections();
      server.close();
    }
  });

  const limit = {
    access: { permission: 'ownership', permission_name: 'Ownership', module: 'ownership', module_name: 'Ownership' },
    error_guard: 'limits.daily',
    message_guard: 'The daily limit is reached.',
  };
  test.each([
    ['a limit', failed(limit), 'limits.daily', 'park'],
    [
      'a limit, and does not call it an error',
      result({ content: [{ type: 'text', text: JSON.stringify(limit) }] }),
      'limits.daily',
      'park',
    ],
    ['what is invalid', failed({ country_code: ['Unknown.'] }), 'VALIDATION', 'fail_row'],
    ['a rule', failed({ fields: ['name or number'] }), 'RULE_FAILURE', 'fail_row'],
    ['a reason without a kind', failed({ detail: 'Not found.' }), 'UNEXPLAINED', 'retry'],
    [
      'a reason, and does not call it an error',
      result({ content: [{ type: 'text', text: '{"detail":"Oops"}' }] }),
      'UNEXPLAINED',
      'retry',
    ],
    [
      'a reason with the status of a refused key',
      failed({ status: 401, detail: 'Invalid token.' }),
      'UNAUTHENTICATED',
      'stop_run',
    ],
    ['something in words', failed('No such company'), 'TOOL_FAILED', 'fail_row'],
    ['nothing', result({ isError: true, content: [] }), 'TOOL_FAILED', 'fail_row'],
    ['a list', result([]), 'UNEXPECTED_FORM', 'retry'],
    ['what the protocol does not know', result({ said: 'hello' }), 'UNEXPECTED_FORM', 'retry'],
  ] as const)('V2-1 classifies the text of a tool by its form: %s', async (_, fault, code, kind) => {
    await withClient(async (connected) => {
      connected.sandbox.script(TOOL, fault);
      expect(await met(ask(connected))).toMatchObject({ code, class: kind, charge: 'unknown', httpStatus: 200 });
    });
  });

  test.each([
    ['in the text of the tool', '"result":{"content":[],"content":[]}}'],
    ['in the message', '"result":{"content":[]},"result":{"content":[]}}'],
    ['or more text after the message', '"result":{"content":[]}} and more'],
  ])('X-5 a repeated member, %s, makes a malformed answer', async (_, message) => {
    await withClient(async (connected) => {
      connected.sandbox.script(TOOL, { rewrite: (body) => body.replace(/"result":.*\}(?=\s*$)/, message) });
      expect(await met(ask(connected))).toMatchObject({ code: 'MALFORMED_ANSWER', charge: 'unknown' });
    });
  });

  test('X-5 a list of tools that comes twice is a malformed answer', async () => {
    await withClient(async ({ sandbox, client }) => {
      sandbox.script('tools/list', { rewrite: (body) => body.replace('"tools":', '"tools":[],"tools":') });
      expect(await met(client.tools())).toMatchObject({ code: 'MALFORMED_ANSWER' });
    });
  });

  test('X-1 an answer that is no protocol message is refused', async () => {
    await withClient(async (connected) => {
      connected.sandbox.script(TOOL, { rewrite: (body) => body.replace('"jsonrpc":"2.0",', '') });
      expect(await met(ask(connected))).toMatchObject({ code: 'UNEXPECTED_BODY', charge: 'unknown' });
    });
  });

  test.each([
    [-32602, 'RPC_-32602', 'fail_row'],
    [-32603, 'SERVER_FAILURE', 'retry'],
  ] as const)('a protocol error %i is %s', async (number, code, kind) => {
    await withClient(async (connected) => {
      const error = `"error":{"code":${number},"message":"Not like this"}}`;
      connected.sandbox.script(TOOL, { rewrite: (body) => body.replace(/"result":.*\}(?=\s*$)/, error) });
      expect(await met(ask(connected))).toMatchObject({ code, class: kind, message: 'Not like this' });
    });
  });

  test("checks parameters against the tool's schema and sends nothing that does not fit", async () => {
    await withClient(async (connected) => {
      const { client } = connected;
      await client.tools();
      const refused = () => client.prepare('enrich_company_by_website', { site: 'x' });
      expect(refused).toThrow(/^(?=.*website: )(?=.*site: )/);
      expect(client.prepare('a_tool_that_was_not_listed', { whatever: 1 }).params).toEqual({ whatever: 1 });
    });
  });
});
