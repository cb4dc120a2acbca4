import { describe, expect, test } from 'vitest';
import { withFolder } from '../helpers/cli.js';
import { long } from '../helpers/long.js';
import { here, Interrupts, jsonOf, withJob } from './here.js';

describe('kybatch call mcp', () => {
  long('lists the tools of the sandbox, calls one, and reuses its answer free the second time', async () => {
    await withFolder(async (cwd) => {
      const kybatch = (...args: readonly string[]) => here([...args, '--sandbox'], { cwd });
      const listed = await kybatch('call', 'mcp');
      expect(listed.code).toBe(0);
      expect(listed.stdout).toMatch(
        /^enrich_company_by_website: Company record.*\n {4}website\* {2}string: Website address$/m,
      );
      expect(listed.stdout).toContain(' kybatch call mcp TOOL');
      const question = [
        'call',
        'mcp',
        'company_financials',
        '--params',
        '{"country_code":"GB","registration_number":"SC003175"}',
      ] as const;
      const first = await kybatch(...question);
      expect(first.code).toBe(0);
      expect(first.textOf('CALL_SENT')).toMatch(/^company_financials: .*http_status 200/);
      const second = await kybatch(...question, '--json');
      expect(jsonOf(second)).toMatchObject({
        api: 'mcp',
        operation: 'company_financials',
        owned: true,
        units_charged: 0,
      });
      expect(second.codes).toContain('ANSWER_OWNED');
    });
  });

  test('names the missing setting, and stops at once on an interrupt', async () => {
    await withJob({ size: 400 }, async ({ kybatch, sandbox, env }) => {
      const refused = await kybatch(['call', 'mcp']);
      expect(refused).toMatchObject({
        code: 2,
        codes: ['API_NOT_CONFIGURED'],
        stderr: expect.stringContaining('KYBATCH_MCP_URL'),
      });
      const interrupts = new Interrupts();
      sandbox.script((request) => {
        setImmediate(() => interrupts.send('SIGINT'));
        return request.api === 'mcp';
      }, 'hang');
      const stopped = await kybatch(['call', 'mcp'], { interrupts, env: { ...env, KYBATCH_MCP_URL: sandbox.mcpUrl } });
      expect(stopped).toMatchObject({ code: 130, codes: ['STOPPED'] });
    });
  });

  long.each([
    ['is asked to wait', { status: 429, retryAfter: 0 }, 6, 'TOO_MANY_REQUESTS'],
    ['fails', 503, 6, 'SERVER_FAILURE'],
    [
      'V2-1 gets a limit with the status of a success',
      { rewrite: '{"access":{"permission":"p","module":"m"},"error_guard":"limits.daily","message_guard":"spent"}' },
      4,
      'ALLOWANCE',
    ],
    ['gets a page', { rewrite: '<html>' }, 6, 'UNEXPECTED_BODY'],
  ] as const)('a tool that %s is called once', async (_, fault, code, refusal) => {
    await withJob({ size: 40 }, async ({ kybatch, sandbox, env }) => {
      const tool = 'company_financials';
      sandbox.script({ api: 'mcp', operation: tool }, [fault, fault, fault]);
      const params = '{"country_code":"GB","registration_number":"SC003175"}';
      const called = await kybatch(['call', 'mcp', tool, '--params', params], {
        env: { ...env, KYBATCH_MCP_URL: sandbox.mcpUrl },
      });
      expect(called).toMatchObject({ code, codes: [refusal] });
      expect(sandbox.requests.get(tool)).toBe(1);
    });
  });

  test.each([
    ['v1', 'searchKyb', 'RATE_LIMITED'],
    ['v2', 'kybSearch', 'TOO_MANY_REQUESTS'],
  ] as const)('a direct call of %s that gets a 429 is sent once', async (api, operation, refusal) => {
    await withJob({ size: 40 }, async ({ kybatch, sandbox }) => {
      sandbox.script({ operation }, [{ status: 429, retryAfter: 0 }, 'none']);
      const called = await kybatch(['call', api, operation, '--params', '{"location":"GB","name":"Acme"}']);
      expect(called).toMatchObject({ code: 6, codes: [refusal] });
      expect(sandbox.requests.get(operation)).toBe(1);
    });
  });
});
