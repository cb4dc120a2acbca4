import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { acceptedFields } from '../../src/sandbox/provider-state.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { findCompany } from '../helpers/sandbox.js';
import { here, Interrupts, type Job, jsonOf, withJob } from './here.js';

const PIPELINE = ['stages: [record, financials]', 'watch: {refresh: [record]}'];
const RUN = ['run', 'a.csv', '--pipeline', './p.yaml', '--yes', '--json'];

long('V2-13 after a callback the next pull reads that history alone, and the next run buys', async () => {
  const clock = new JumpingClock('2026-03-01T02:00:00Z');
  await withJob({ clock, pipeline: PIPELINE }, async (job) => {
    const { kybatch, sandbox, rows, writeCsv, cwd } = job;
    writeCsv('a.csv', rows.slice(0, 4));
    await kybatch(RUN);
    await kybatch(['watch', 'sync']);
    const [watch, another] = jsonOf<{ watches: { v2_company_id: string }[] }>(
      await kybatch(['watch', 'list', '--json']),
    ).watches;
    const company = watch?.v2_company_id ?? '';
    clock.advance(3_600_000);
    await listening(job, async (port) => {
      const callback = `http://127.0.0.1:${port}/a-path-that-nobody-guesses`;
      await kybatch(['call', 'v2', 'watchCallbackSet', '--params', JSON.stringify({ callback })]);
      const change = ['sandbox', 'change', company, 'name', 'Told From Outside Ltd', '--port', String(sandbox.port)];
      expect(jsonOf(await kybatch([...change, '--json']))).toMatchObject({ recorded: true, callback_status: 204 });
      // The history does not confirm the callback: it is in the table, but no company becomes due.
      const forged = { field: 'company_phone', status: 'UPDATE', old_value: '020 1', new_value: '020 2', ref: 1 };
      const told = { company_data: { id: another?.v2_company_id }, ...forged };
      expect((await post(callback, told)).status).toBe(204);
      // Any sender could have posted this. No portfolio watches the company.
      expect((await post(callback, { company_data: { id: '999' } })).status).toBe(204);
    });
    expect((await kybatch(['watch', 'list'])).textOf('WATCHES')).toMatch(/ 3 .*: kybatch watch pull --hinted$/);
    const histories = () => sandbox.requests.get('watchHistory') ?? 0;
    const before = histories();
    expect(jsonOf(await kybatch(['watch', 'pull', '--hinted', '--json']))).toMatchObject({
      companies_read: 2,
      events: 1,
      members_due: 1,
      unknown_hints: 1,
    });
    expect(histories() - before).toBe(2);
    expect(jsonOf(await kybatch(['watch', 'pull', '--hinted', '--json']))).toMatchObject({ companies_read: 0 });
    expect(histories() - before).toBe(2);
    expect(jsonOf(await kybatch(RUN))).toMatchObject({ this_start: { units_charged: 1 } });
    const listed = (await kybatch(['watch', 'list'])).stdout;
    expect(listed).toContain('Told From Outside Ltd');
    const told = async (...flags: readonly string[]) => {
      await kybatch(['export', '--out', 'tables', ...flags]);
      const events = parse(readFileSync(join(cwd, 'tables', 'watch_events.csv')), { columns: true }) as Row[];
      return events.filter(({ told_by }) => told_by === 'callback');
    };
    const name = { event_type: 'name', status: 'UPDATE', new_value: 'Told From Outside Ltd' };
    const phone = { event_type: 'company_phone', status: 'UPDATE', old_value: '', new_value: '' };
    expect(await told()).toMatchObject([name, phone]);
    expect((await told())[0]?.old_value).not.toBe('');
    expect(await told('--include-contacts')).toMatchObject([
      name,
      { ...phone, old_value: '020 1', new_value: '020 2', extra: expect.stringContaining('"ref":1') as string },
    ]);
  });
});

type Row = Readonly<Record<string, string>>;

const post = (address: string, body: object) => fetch(address, { method: 'POST', body: JSON.stringify(body) });

/** Runs `kybatch watch listen` during `use`, then stops it. */
async function listening({ cwd, env }: Job, use: (port: number) => Promise<void>): Promise<void> {
  const interrupts = new Interrupts();
  let ended: ReturnType<typeof here> | undefined;
  const port = await new Promise<number>((resolve, reject) => {
    const onOutput = (text: string) => {
      if (text.startsWith('{')) resolve((JSON.parse(text) as { port: number }).port);
    };
    const args = ['watch', 'listen', '--port', '0', '--json'];
    const secret = { KYBATCH_WATCH_SECRET: 'a-path-that-nobody-guesses' };
    ended = here(args, { cwd, env: { ...env, ...secret }, interrupts, onOutput });
    ended.then(({ stderr }) => reject(new Error(stderr)), reject);
  });
  await use(port);
  interrupts.send('SIGTERM');
  const end = await ended;
  expect(end?.code).toBe(0);
  expect(end?.textOf('LISTENED')).toMatch(/^3 \D+$/);
}

test('a change in the sandbox shows in the records of both APIs, for every field of the watch', () =>
  withJob({}, async ({ sandbox }) => {
    const { v1Id, v2Id } = findCompany(
      sandbox,
      (company) =>
        sandbox.registry.inV2(company) &&
        sandbox.registry.hasRecord(company) &&
        sandbox.registry.v1.shareholders(company).length > 0,
    );
    const read = async (base: string, path: string, key: string) =>
      await (await fetch(`${base}${path}`, { headers: { Authorization: key } })).text();
    const all = async (base: string, key: string, paths: readonly string[]) =>
      (await Promise.all(paths.map((path) => read(base, path, key)))).join('');
    const shows = {
      v1: () => all(sandbox.v1BaseUrl, `Bearer ${sandbox.keys.v1}`, [`/kyb/${v1Id}/full`, `/kyb/${v1Id}/lite`]),
      v2: () =>
        all(sandbox.v2BaseUrl, `Token ${sandbox.keys.v2}`, [
          `/companies/${v2Id}`,
          `/kyb/${v2Id}/lite`,
          `/kyb/${v2Id}/shareholders`,
        ]),
    };
    const unseen: string[] = [];
    for (const field of acceptedFields) {
      await sandbox.changeCompany(v2Id, field, `Changed ${field}`);
      for (const api of ['v1', 'v2'] as const)
        if (!(await shows[api]()).includes(`Changed ${field}`)) unseen.push(`${api} ${field}`);
    }
    // No record of the documents has such members.
    expect(unseen).toEqual([
      'v1 company_phone',
      'v1 company_email',
      'v2 company_email',
      'v1 company_fax',
      'v2 company_fax',
    ]);
  }));
