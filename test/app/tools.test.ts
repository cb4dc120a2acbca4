import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { doctor } from '../../src/app/admin/doctor.js';
import { erase } from '../../src/app/admin/erase.js';
import { usage } from '../../src/app/admin/usage.js';
import type { AppEnvironment } from '../../src/app/environment.js';
import { call, type DirectCallOptions, tools } from '../../src/app/provider/call.js';
import { listUnknownCharges } from '../../src/app/review/unknown-charges.js';
import { ManualClock } from '../../src/util/clock.js';
import { ExactNumber } from '../../src/util/exact-json.js';
import { inLedger } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import type { BenchOptions } from '../helpers/sandbox.js';
import { type Office, refusal, withOffice } from './support.js';

const DAY_MS = 86_400_000;
const TOOL = 'company_ownership';

interface Tools extends Office {
  /** Repeats the request about the company. */
  readonly ask: (more?: Partial<DirectCallOptions>) => ReturnType<typeof call>;
  readonly environment: AppEnvironment;
  readonly timesSent: () => number;
}

/** A test environment with an MCP server. */
const withTools = (options: BenchOptions, use: (office: Tools) => Promise<void>): Promise<void> =>
  withOffice({ size: 2_000, ...options }, async (office) => {
    const { sandbox, companies } = office;
    const environment = { ...office.environment, env: { ...office.environment.env, KYBATCH_MCP_URL: sandbox.mcpUrl } };
    const [company] = companies(1);
    const params = { country_code: company?.countryCode, registration_number: company?.registrationNumber };
    const question: DirectCallOptions = { api: 'mcp', operation: TOOL, params };
    await use({
      ...office,
      environment,
      ask: (more) => call({ ...question, ...more }, environment),
      timesSent: () => sandbox.requests.get(TOOL) ?? 0,
    });
  });

/** The state that a process killed now would leave behind. */
async function openIntents(folder: string): Promise<readonly unknown[]> {
  const found = await inLedger<{ operation: string }>(
    join(folder, 'data'),
    'SELECT operation FROM calls WHERE settled_at IS NULL',
  );
  return found.map(({ operation }) => operation);
}

describe('tools of the MCP server', () => {
  test('are listed with their parameters free of charge, and nothing is stored', async () => {
    await withTools({}, async ({ sandbox, environment, folder }) => {
      const listed = await tools({}, environment);
      expect(listed).toHaveLength(5);
      expect(listed[0]).toEqual({
        operation: 'enrich_company_by_website',
        summary: 'Company record for a website address',
        method: null,
        path: null,
        scopes: [],
        parameters: [{ name: 'website', required: true, type: 'string', description: 'Website address' }],
      });
      expect(sandbox.chargeLog).toEqual([]);
      expect(existsSync(join(folder, 'data'))).toBe(false);
    });
  });

  long('are bought once, and again only with --rebuy or when the answer is stale', async () => {
    const clock = new ManualClock();
    await withTools({ clock }, async ({ ask, sandbox, environment, timesSent }) => {
      const first = await ask();
      expect(first).toMatchObject({ api: 'mcp', operation: TOOL, owned: false, httpStatus: 200, unitsCharged: null });
      const { structuredContent, content } = first.body as unknown as {
        readonly structuredContent: { readonly shareholders: readonly { readonly share_value: unknown }[] };
        readonly content: readonly { readonly text: string }[];
      };
      expect(structuredContent).toHaveProperty('group_structure');
      expect(content[0]?.text).toContain('"group_structure":');
      clock.advance(29 * DAY_MS);
      // A stored answer needs neither key nor server.
      sandbox.revoke(sandbox.keys.v2);
      const requests = sandbox.requestLog.length;
      expect(await ask()).toMatchObject({ owned: true, body: first.body, unitsCharged: 0 });
      expect(sandbox.requestLog).toHaveLength(requests);
      sandbox.restore(sandbox.keys.v2);
      expect(await ask({ fresh: true })).toMatchObject({ owned: false });
      clock.advance(31 * DAY_MS);
      expect(await ask()).toMatchObject({ owned: false });
      expect(timesSent()).toBe(3);
      expect(sandbox.chargeLog).toHaveLength(3);
      const { byOperation } = await usage({}, environment);
      expect(byOperation).toMatchObject([{ key: TOOL, api: 'mcp', calls: 3, owned: 1, unknown: 0 }]);
    });
  });

  long('show every digit that came', async () => {
    await withTools({}, async ({ ask, sandbox }) => {
      const digits = '123456789012345678901234567890';
      const rewrite = (body: string) => body.replace('"structuredContent":{', `"structuredContent":{"n":${digits},`);
      sandbox.script(TOOL, { rewrite });
      expect(await ask()).toHaveProperty('body.structuredContent.n', new ExactNumber(digits));
    });
  });

  test.each([
    ['a tool that is not there', { operation: 'company_owneship' }, 'TOOL_NOT_FOUND', [TOOL]],
    [
      'parameters that the tool does not take',
      { params: { country_code: 'gb', nam: 1 } },
      'INVALID_PARAMS',
      ['country_code:', '"gb"', 'nam:'],
    ],
  ] as const)('%s is refused before anything is recorded or created', async (_, question, code, named) => {
    await withTools({}, async ({ ask, folder, timesSent }) => {
      const refused = await refusal(ask(question));
      expect(refused).toMatchObject({ code, exit: 2 });
      for (const name of named) expect(refused.message).toContain(name);
      expect(timesSent()).toBe(0);
      expect(existsSync(join(folder, 'data'))).toBe(false);
    });
  });

  test('V1-10 a refused key exits with 5 and records nothing', async () => {
    await withTools({}, async ({ ask, sandbox, environment, folder }) => {
      sandbox.revoke(sandbox.keys.v2);
      expect(await refusal(ask())).toMatchObject({ exit: 5, code: 'UNAUTHENTICATED' });
      expect(await refusal(tools({}, environment))).toMatchObject({ exit: 5 });
      expect(existsSync(join(folder, 'data'))).toBe(false);
    });
  });

  long.each(['tool', 'http'] as const)(
    'V2-1 an exhausted limit parks the tool until the end of the day, reported as %s',
    async (limitAs) => {
      const clock = new ManualClock();
      await withTools(
        { clock, mcp: { limitAs }, v2Limits: { ownership: { daily: 0 } } },
        async ({ ask, timesSent }) => {
          expect(await refusal(ask())).toMatchObject({ exit: 4, code: 'ALLOWANCE' });
          expect(timesSent()).toBe(1);
        },
      );
    },
  );

  long('a failure that a tool reports is no answer, and its charge is unknown', async () => {
    await withTools({}, async ({ ask, sandbox, environment, timesSent }) => {
      const result = '"result":{"isError":true,"content":[{"type":"text","text":"try something else"}]}}';
      sandbox.script(TOOL, { rewrite: (body) => body.replace(/"result":.*\}(?=\s*$)/, result) });
      const failed = await refusal(ask());
      expect(failed).toMatchObject({ exit: 3, code: 'TOOL_FAILED' });
      expect(failed.message).toContain('try something else');
      expect((await usage({}, environment)).unknownCalls).toMatchObject([{ api: 'mcp', operation: TOOL }]);
      expect(await ask()).toMatchObject({ owned: false });
      expect(timesSent()).toBe(2);
    });
  });

  long('V1-5 a call whose answer is lost has an unknown charge and is not sent again automatically', async () => {
    await withTools({}, async ({ ask, sandbox, environment, timesSent }) => {
      sandbox.script(TOOL, 'lostAnswer');
      expect(await refusal(ask())).toMatchObject({ exit: 6, code: 'CONNECTION_LOST' });
      expect(timesSent()).toBe(1);
      expect((await listUnknownCharges({}, environment)).calls).toMatchObject([{ api: 'mcp', operation: TOOL }]);
    });
  });

  long('a call is recorded before it is sent, and a cancelled one has an unknown charge', async () => {
    await withTools({}, async ({ ask, sandbox, environment, folder }) => {
      const abort = new AbortController();
      const reason = new Error('enough');
      let intended: Promise<unknown> | undefined;
      sandbox.script(({ operation }) => {
        if (operation !== TOOL) return false;
        intended = openIntents(folder);
        void intended.then(() => abort.abort(reason));
        return true;
      }, 'hang');
      await expect(ask({ signal: abort.signal })).rejects.toBe(reason);
      expect(await intended).toEqual([TOOL]);
      expect((await listUnknownCharges({}, environment)).calls).toMatchObject([{ api: 'mcp', operation: TOOL }]);
    });
  });

  long('are purged with the company they name, by any of its IDs, without other answers', async () => {
    await withTools({}, async ({ ask, environment, companies }) => {
      const [company, other] = companies(2);
      await ask();
      await ask({ params: { country_code: other?.countryCode, registration_number: other?.registrationNumber } });
      const { report, proof } = await erase({ request: { kind: 'entity', id: company?.v2Id ?? '' } }, environment);
      expect(report).toMatchObject({ answers: 1, bodies: 1 });
      expect(proof).toMatchObject({ timesInFile: 0, mentions: [] });
    });
  });

  long('doctor shows whether the server is configured and whether it answers', async () => {
    await withTools({}, async ({ sandbox, environment }) => {
      const told = async (env: AppEnvironment['env']) =>
        (await doctor({}, { ...environment, env })).findings.filter(({ check }) => check.startsWith('mcp'));
      expect(await told(environment.env)).toMatchObject([
        { check: 'mcp', state: 'ok', detail: expect.stringContaining('5 tools') },
      ]);
      const { KYBATCH_MCP_URL: url, ...without } = environment.env;
      expect(await told(without)).toMatchObject([
        { state: 'note', detail: expect.stringContaining('KYBATCH_MCP_URL ') },
      ]);
      expect(await told({ ...environment.env, KYBATCH_MCP_URL: `${url}/elsewhere` })).toMatchObject([
        { check: 'mcp base URL', exit: 2 },
      ]);
      sandbox.revoke(sandbox.keys.v2);
      expect(await told(environment.env)).toMatchObject([{ check: 'mcp key', exit: 5 }]);
      expect(sandbox.chargeLog).toEqual([]);
    });
  });
});
