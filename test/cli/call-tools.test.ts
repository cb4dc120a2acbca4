import { describe, expect, test } from 'vitest';
import { withFolder } from '../helpers/cli.js';
import { here, Interrupts, jsonOf, withJob } from './here.js';

describe('kybatch call mcp', () => {
  test('lists the tools of the sandbox, calls one, and has its answer for nothing the second time', async () => {
    await withFolder(async (cwd) => {
      const kybatch = (...args: readonly string[]) => here([...args, '--sandbox'], { cwd });
      const listed = await kybatch('call', 'mcp');
      expect(listed.code).toBe(0);
      expect(listed.stdout).toMatch(
        /^enrich_company_by_website: Company record.*\n {4}website\* {2}string: Website address$/m,
      );
      expect(listed.stdout).toContain('Call one: kybatch call mcp TOOL');
      const question = [
        'call',
        'mcp',
        'company_financials',
        '--params',
        '{"country_code":"GB","registration_number":"SC003175"}',
      ] as const;
      const first = await kybatch(...question);
      expect(first).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('company_financials: sent, http_status 200'),
      });
      const second = await kybatch(...question, '--json');
      expect(jsonOf(second)).toMatchObject({
        api: 'mcp',
        operation: 'company_financials',
        owned: true,
        units_charged: 0,
      });
      expect(second.stderr).toContain('nothing was sent (--fresh asks anew)');
    });
  });

  test('says what is missing where it is not configured, and stops at once where it is interrupted', async () => {
    await withJob({ size: 400 }, async ({ kybatch, sandbox, env }) => {
      const refused = await kybatch(['call', 'mcp']);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('Set KYBATCH_MCP_URL and KYBATCH_V2_API_KEY'),
      });
      const interrupts = new Interrupts();
      sandbox.script((request) => {
        setImmediate(() => interrupts.send('SIGINT'));
        return request.api === 'mcp';
      }, 'hang');
      const stopped = await kybatch(['call', 'mcp'], { interrupts, env: { ...env, KYBATCH_MCP_URL: sandbox.mcpUrl } });
      expect(stopped).toMatchObject({ code: 130, stderr: 'Stopped. Nothing was charged.\n' });
    });
  });
});
