import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, test } from 'vitest';
import { withJob } from '../cli/here.js';
import { startCli } from '../helpers/cli.js';
import { long } from '../helpers/long.js';

const PROGRAM = resolve(import.meta.dirname, '../../dist/cli/main.js');

interface ToolAnswer {
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>> & { readonly spent: object };
  readonly isError: boolean;
}

type Ask = (name: string, given?: Readonly<Record<string, unknown>>) => Promise<ToolAnswer>;

/** The real command, started by the SDK's own client. */
async function withAssistant(
  flags: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  use: (ask: Ask, client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ name: 'test', version: '0' });
  const args = [PROGRAM, 'mcp', ...flags];
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, cwd, env: { ...env }, stderr: 'pipe' }),
  );
  try {
    await use(async (name, given = {}) => {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const [{ text }] = content as [{ text: string }];
      return { text, json: JSON.parse(text), isError: isError === true };
    }, client);
  } finally {
    await client.close();
  }
}

describe('kybatch mcp', () => {
  long('an assistant sees the ledger, without keys and contacts, and spends nothing', () =>
    withJob({ size: 400 }, async (job) => {
      const { rows, writeCsv, kybatch, sandbox, env } = job;
      const people = rows.slice(0, 3).map((row) => ({ ...row, email: 'ann@example.com', phone: '020 7946 0000' }));
      writeCsv('list.csv', people);
      await kybatch(['run', 'list.csv', '--pipeline', 'p.yaml', '--portfolio', 'suppliers', '--yes']);
      const before = sandbox.v1Remaining;
      await withAssistant([], job, async (ask, client) => {
        const { tools } = await client.listTools();
        expect(tools.map(({ name }) => name)).not.toContain('buy_record');
        expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
        const texts: string[] = [];
        const look: Ask = async (name, given) => {
          const answered = await ask(name, given);
          expect(answered, name).toMatchObject({ isError: false, json: { spent: { units: 0 } } });
          texts.push(answered.text);
          return answered;
        };
        expect((await look('portfolios')).json).toMatchObject({ portfolios: [{ portfolio: 'suppliers', members: 3 }] });
        const { json } = await look('companies', { portfolio: 'suppliers' });
        const [first] = json.rows as readonly { matched_name: string; company: { space: string; id: string } }[];
        expect(json).toMatchObject({ total: 3 });
        if (first === undefined) throw new Error('no company');
        expect((await look('company', { ...first.company })).json).toMatchObject({ name: first.matched_name });
        const [row] = rows;
        const {
          name = '',
          country = '',
          registration_number = '',
        } = row as unknown as Readonly<Record<string, string>>;
        const found = await look('look_up', { name, country, registration_number });
        expect(found.json).toMatchObject({ candidates: [{ match: true, id: first.company.id }], problem: null });
        await look('look_up', { name: 'Nowhere', country: 'GB' });
        await look('changes', { portfolio: 'suppliers' });
        expect((await look('questions')).json).toMatchObject({ open: 0, questions: [] });
        expect((await look('runs')).json).toMatchObject({ runs: [{ rows: 3 }] });
        expect((await look('status')).json).toMatchObject({ run: expect.any(String) });
        await look('usage');
        expect((await look('plan', { input: 'list.csv', pipeline: 'p.yaml' })).json).toMatchObject({ rows: 3 });
        const all = texts.join('\n');
        expect(all).not.toContain(env.KYBATCH_V1_API_KEY);
        expect(all).not.toContain(env.KYBATCH_V2_API_KEY);
        expect(all).not.toMatch(/[\w.]+@[\w.]+\.[a-z]{2,}|7946/);
      });
      expect(sandbox.v1Remaining).toBe(before);
    }),
  );

  long('mistakes have a code, and the server lives on', () =>
    withJob({ size: 400 }, (job) =>
      withAssistant([], job, async (ask) => {
        const code = async (name: string, given?: Readonly<Record<string, unknown>>) => {
          const { isError, json } = await ask(name, given);
          return isError && (json.error as { code: string }).code;
        };
        expect(await code('nothing')).toBe('TOOL_NOT_FOUND');
        expect(await code('buy_record', { id: '1' })).toBe('TOOL_NOT_FOUND');
        expect(await code('company', { space: 'v1' })).toBe('TOOL_PARAMS_INVALID');
        expect(await code('companies', { page: 'two' })).toBe('TOOL_PARAMS_INVALID');
        expect(await code('look_up', { name: 'x'.repeat(100_000), country: 'GB' })).toBe('TOOL_PARAMS_INVALID');
        expect(await code('look_up', { name: 'x'.repeat(1_000), country: 'GB' })).toBe('SEARCH_TOO_LONG');
        expect(await code('companies', { search: 'x'.repeat(1_000) })).toBe('SEARCH_TOO_LONG');
        expect(await code('companies', { where: 'here' })).toBe('TOOL_PARAMS_INVALID');
        expect(await code('portfolios')).toBe('NO_LEDGER_YET');
        expect(await code('plan', { input: '-' })).toEqual(expect.any(String));
      }),
    ),
  );

  test('the server buys within its units, reports it, and buys nothing twice', () =>
    withJob({ size: 400 }, async (job) => {
      const { rows, sandbox } = job;
      const before = sandbox.v1Remaining;
      const [one, two] = rows as unknown as readonly Readonly<Record<string, string>>[];
      const query = ({ name = '', country = '', registration_number = '' } = {}) => ({
        name,
        country,
        registration_number,
      });
      await withAssistant(['--max-units', '2'], job, async (ask, client) => {
        expect((await client.listTools()).tools.map(({ name }) => name)).toContain('buy_record');
        const { json } = await ask('look_up', query(one));
        expect(json).toMatchObject({ candidates: [{ match: true }], spent: { units: 1, units_in_all: 1 } });
        expect((await ask('look_up', query(one))).json.spent).toEqual({ units: 0, units_in_all: 1, units_left: 1 });
        const [{ id }] = json.candidates as [{ id: string }];
        const bought = await ask('buy_record', { id });
        expect(bought.json).toMatchObject({ owned: false, body: { lite: { id: Number(id) } }, spent: { units: 1 } });
        expect((await ask('buy_record', { id })).json).toMatchObject({ owned: true, spent: { units: 0 } });
        const ended = await ask('look_up', query(two));
        expect(ended.json).toMatchObject({ candidates: [], spent: { units: 0, units_in_all: 2, units_left: 0 } });
        expect(await ask('buy_record', { id: '1' })).toMatchObject({
          isError: true,
          json: { spent: { units_left: 0 } },
        });
      });
      expect(before - sandbox.v1Remaining).toBe(2);
    }));
});

long('kybatch ui --reconcile prints the address of the service, and answers there', () =>
  withJob({ size: 400 }, async ({ rows, cwd, env, sandbox }) => {
    const { child, finished } = startCli(['ui', '--no-open', '--json', '--reconcile', '--max-units', '1'], {
      cwd,
      env,
    });
    const printed = await new Promise<string>((done) => child.stdout?.once('data', (text) => done(String(text))));
    const { reconcile } = JSON.parse(printed) as { readonly reconcile: string };
    try {
      expect(await (await fetch(reconcile)).json()).toMatchObject({ versions: ['0.2'] });
      const [row] = rows as unknown as readonly Readonly<Record<string, string>>[];
      const properties = ['country', 'registration_number'].map((pid) => ({ pid, v: row?.[pid] }));
      const before = sandbox.v1Remaining;
      const body = new URLSearchParams({ queries: JSON.stringify({ q0: { query: row?.name, properties } }) });
      for (const _ of [1, 2])
        expect(await (await fetch(reconcile, { method: 'POST', body })).json()).toMatchObject({
          q0: { result: [{ match: true, name: row?.name }] },
        });
      expect(before - sandbox.v1Remaining).toBe(1);
    } finally {
      child.kill('SIGINT');
    }
    expect(await finished).toMatchObject({ code: 0, stderr: expect.stringContaining('Spent 1 unit, 0 left.') });
  }),
);
