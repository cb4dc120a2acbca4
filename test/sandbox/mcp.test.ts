import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import { type Answer, type Ask, type Body, send, v2, withSandbox } from './support.js';

const ACCEPT = { accept: 'application/json, text/event-stream' };

const post = (sandbox: Sandbox, message: object, { headers, ...ask }: Ask = {}): Promise<Answer> =>
  send(sandbox.mcpUrl, {
    key: sandbox.keys.v2,
    scheme: 'Token',
    body: { jsonrpc: '2.0', ...message },
    headers: { ...ACCEPT, ...headers },
    ...ask,
  });

/** The message of an answer, from JSON or from an event of a stream. */
const messageOf = ({ text }: Answer): Body => JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? text) as Body;

/** A session, and requests in it. */
async function inSession(sandbox: Sandbox) {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await post(sandbox, { id: 1, method: 'initialize', params });
  const headers = { 'mcp-session-id': String(begun.headers['mcp-session-id']) };
  return {
    begun,
    headers,
    ask: async (method: string, params: object) =>
      messageOf(await post(sandbox, { id: 2, method, params }, { headers })),
  };
}

const tool = (name: string, args: object) => ['tools/call', { name, arguments: args }] as const;

describe('the MCP server of the sandbox', () => {
  test.each(['json', 'sse'] as const)('begins a session and answers as %s', async (answers) => {
    await withSandbox({ mcp: { answers } }, async (sandbox) => {
      const { begun, headers } = await inSession(sandbox);
      expect(begun.headers['content-type']).toBe(answers === 'json' ? 'application/json' : 'text/event-stream');
      expect(messageOf(begun)).toMatchObject({ id: 1, result: { protocolVersion: '2025-06-18' } });
      expect((await post(sandbox, { method: 'notifications/initialized' }, { headers })).status).toBe(202);
      expect(
        (await send(sandbox.mcpUrl, { method: 'DELETE', key: sandbox.keys.v2, scheme: 'Bearer', headers })).status,
      ).toBe(204);
      expect((await post(sandbox, { id: 3, method: 'ping' }, { headers })).status).toBe(404);
    });
  });

  test('lists its tools page by page', async () => {
    await withSandbox({ mcp: { toolsPerPage: 2 } }, async (sandbox) => {
      const { ask } = await inSession(sandbox);
      const names: unknown[] = [];
      for (let cursor: Body | undefined, page = 0; page === 0 || cursor !== undefined; page++) {
        const { result } = await ask('tools/list', cursor === undefined ? {} : { cursor });
        names.push(...(result?.tools ?? []).map(({ name }) => name));
        cursor = result?.nextCursor;
      }
      expect(names).toEqual([
        'enrich_company_by_website',
        'enrich_company_by_linkedin',
        'autocomplete_company',
        'company_financials',
        'company_ownership',
      ]);
      expect(await ask('tools/list', { cursor: '99' })).toMatchObject({ error: { code: -32602 } });
    });
  });

  test('answers with the company of the v2 operations, and counts it', async () => {
    await withSandbox({}, async (sandbox) => {
      const { registry } = sandbox;
      const company = Array.from({ length: 100 }, (_, index) => registry.company(index)).find(
        (one) => registry.inV2(one) && one.registrationNumber !== null && !registry.traits(one).noAccounts,
      );
      const named = { country_code: company?.countryCode, registration_number: company?.registrationNumber };
      const { ask } = await inSession(sandbox);
      const autocompleted = await ask(...tool('autocomplete_company', named));
      expect(autocompleted.result?.structuredContent).toMatchObject({ id: company?.v2Id });
      const { result } = await ask(...tool('company_financials', named));
      const { text } = await v2(sandbox, `/financial/${company?.v2Id}`);
      expect(result?.content?.[0]).toEqual({ type: 'text', text });
      expect(sandbox.chargeLog.map(({ api, operation }) => `${api} ${operation}`)).toEqual([
        'mcp autocomplete_company',
        'mcp company_financials',
        'v2 financial',
      ]);
      const { body: metrics } = await v2(sandbox, '/metrics');
      const financial = metrics.find(({ codename }) => String(codename) === 'financial');
      expect(financial?.metrics?.[0]?.used).toBe(2);
    });
  });

  test('reports an invalid call as the result of the tool, in the words of v2', async () => {
    await withSandbox({ v2Limits: { ownership: { daily: 0 } } }, async (sandbox) => {
      const { ask } = await inSession(sandbox);
      const failed = async (name: string, args: object) => {
        const { result } = await ask(...tool(name, args));
        expect(result?.isError).toBe(true);
        return JSON.parse(String(result?.content?.[0]?.text)) as unknown;
      };
      expect(await failed('enrich_company_by_website', {})).toEqual({ website: ['This field is required.'] });
      expect(await failed('autocomplete_company', { country_code: 'GB' })).toMatchObject({
        fields: [expect.any(String)],
      });
      expect(await failed('company_ownership', { name: 'Aber' })).toMatchObject({ error_guard: 'limits.daily' });
      expect(await ask(...tool('company_owner', {}))).toMatchObject({
        error: { message: 'Unknown tool: company_owner' },
      });
      expect(sandbox.chargeLog).toEqual([]);
    });
  });

  test.each([
    ['without a key', { key: null }, 401],
    ['with a key of v1', { scheme: 'Token', key: 'v1' }, 401],
    ['that does not accept a stream', { headers: { accept: 'application/json' } }, 406],
    ['of an unknown version', { headers: { ...ACCEPT, 'mcp-protocol-version': '1999-01-01' } }, 400],
    ['without a session', {}, 400],
  ] as const)('refuses a request %s', async (_, ask, status) => {
    await withSandbox({}, async (sandbox) => {
      expect((await post(sandbox, { id: 1, method: 'tools/list' }, ask)).status).toBe(status);
    });
  });
});
