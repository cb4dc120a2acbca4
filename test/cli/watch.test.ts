import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect } from 'vitest';
import { Inbox } from '../../src/portfolio/watch/inbox.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const DAY = 86_400_000;
const PIPELINE = ['stages: [record, financials]', 'watch: {fields: [name, company_status], refresh: [record]}'];

interface SyncJson {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
  readonly watched: number;
  readonly left: number;
  readonly members: number;
  readonly members_without_v2_company: number;
  readonly stopped: { readonly code: string } | null;
  readonly troubles: readonly { readonly v2_company_id: string | null }[];
}

const RUN = ['run', 'a.csv', '--pipeline', './p.yaml', '--yes', '--json'];
const SYNC = ['watch', 'sync', 'a.csv', '--json'];

/** A portfolio that was run once, and its v2 companies. */
async function withPortfolio(
  rows: number,
  options: Parameters<typeof withJob>[0],
  use: (
    job: Job & { readonly clock: JumpingClock; readonly ids: readonly string[]; readonly run: string },
  ) => Promise<void>,
) {
  const clock = new JumpingClock('2026-03-01T02:00:00Z');
  await withJob({ clock, pipeline: PIPELINE, ...options }, async (job) => {
    job.writeCsv('a.csv', job.rows.slice(0, rows));
    const { run } = jsonOf<EndJson>(await job.kybatch(RUN));
    const ids = tableOf(job, run, 'rows').flatMap(({ v2_company_id: id }) => id || []);
    await use({ ...job, clock, ids, run });
  });
}

const tableOf = ({ cwd }: Pick<Job, 'cwd'>, run: string, table: string) =>
  parse(readFileSync(join(cwd, 'data', 'exports', run, `${table}.csv`)), { columns: true }) as Record<string, string>[];

long('V2-13 sync registers the confirmed companies once, and removes departed ones', () =>
  withPortfolio(3, {}, async ({ kybatch, sandbox, writeCsv, rows, ids }) => {
    const asked = (operation: string) => sandbox.requests.get(operation) ?? 0;
    const first = await kybatch(SYNC);
    expect(jsonOf<SyncJson>(first)).toMatchObject({ added: ids.length, removed: 0, watched: ids.length, members: 3 });
    expect(first.code).toBe(0);
    const again = jsonOf<SyncJson>(await kybatch(SYNC));
    expect(again).toMatchObject({ added: 0, removed: 0, changed: 0, watched: ids.length });
    expect(asked('watchAdd')).toBe(ids.length);
    writeCsv('a.csv', rows.slice(1, 3));
    await kybatch(RUN);
    expect(jsonOf<SyncJson>(await kybatch(SYNC))).toMatchObject({ added: 0, removed: 1, watched: ids.length - 1 });
    expect(asked('watchRemove')).toBe(1);
  }),
);

long('a change of a watched company is read once, bought again and shown', () =>
  withPortfolio(4, {}, async (job) => {
    const { kybatch, sandbox, clock, ids } = job;
    await kybatch(SYNC);
    clock.advance(DAY);
    expect(jsonOf<EndJson>(await kybatch(RUN))).toMatchObject({ this_start: { units_charged: 0 } });
    const changed = ids[1] ?? '';
    const charges = () => sandbox.chargeLog.filter(({ api }) => api === 'v1').map(({ operation }) => operation);
    const before = charges().length;
    clock.advance(DAY);
    expect(await sandbox.changeCompany(changed, 'name', 'Quite Another Name Ltd')).toMatchObject({ recorded: true });
    clock.advance(DAY);
    const { run } = jsonOf<EndJson>(await kybatch(RUN));
    // The record once, and no search.
    expect(charges().slice(before)).toEqual(['fullKyb']);
    const [event, ...further] = tableOf(job, run, 'watch_events');
    expect(further).toEqual([]);
    expect(event).toMatchObject({
      portfolio: join(job.cwd, 'a.csv'),
      row: '2',
      v2_company_id: changed,
      event_type: 'company_name',
      status: 'UPDATED',
      date_created: '2026-03-03T02:00:00.000Z',
      run,
    });
    expect(event?.message).toContain('Quite Another Name Ltd');
    expect(tableOf(job, run, 'companies').map(({ name }) => name)).toContain('Quite Another Name Ltd');
    // The day is read again and brings nothing new.
    clock.advance(1);
    const again = await kybatch(['watch', 'pull', '--json']);
    expect(jsonOf(again)).toMatchObject({ companies_read: ids.length, events: 0, members_due: 0, left: 0 });
    expect(jsonOf<EndJson>(await kybatch(RUN))).toMatchObject({ this_start: { units_charged: 0 } });
    expect(charges()).toHaveLength(before + 1);
    const { by_run: lines } = jsonOf<{ by_run: { key: string; calls: number }[] }>(await kybatch(['usage', '--json']));
    expect(lines.find(({ key }) => key === '(watch)')?.calls).toBeGreaterThan(ids.length);
    expect(lines.find(({ key }) => key === '(by hand)')).toBeUndefined();
  }),
);

long('only companies with new events count as due', () =>
  withPortfolio(3, {}, async ({ kybatch, sandbox, clock, writeCsv, rows, ids }) => {
    await kybatch(SYNC);
    clock.advance(DAY);
    await sandbox.changeCompany(ids[1] ?? '', 'name', 'Quite Another Name Ltd');
    clock.advance(DAY);
    await kybatch(RUN);
    clock.advance(DAY);
    writeCsv('a.csv', [rows[0], rows[1], { ...rows[1], id: rows[2]?.id }] as object[]);
    await kybatch(RUN);
    clock.advance(DAY);
    await sandbox.changeCompany(ids[0] ?? '', 'name', 'Named Anew Ltd');
    clock.advance(DAY);
    const pulled = await kybatch(['watch', 'pull', '--json']);
    expect(jsonOf(pulled)).toMatchObject({ events: 1, members_due: 1 });
    const { portfolios } = jsonOf<{ portfolios: { due: unknown }[] }>(await kybatch(['portfolios', '--json']));
    expect(portfolios).toMatchObject([{ due: { watch: 1 } }]);
  }),
);

long('V2-13 after a lost answer the list of watches is read, and no company is registered twice', () =>
  withPortfolio(3, {}, async ({ kybatch, sandbox, ids }) => {
    sandbox.script({ operation: 'watchAdd' }, ['none', 'none', 'lostAnswer']);
    const first = await kybatch(SYNC);
    expect(first.code).toBe(3);
    const { added, troubles } = jsonOf<SyncJson>(first);
    expect([added, troubles.length]).toEqual([ids.length - 1, 1]);
    const second = await kybatch(SYNC);
    expect(jsonOf<SyncJson>(second)).toMatchObject({ added: 0, watched: ids.length, troubles: [] });
    expect([second.code, sandbox.requests.get('watchAdd')]).toEqual([0, ids.length]);
    // By now the charge of the lost call is known.
    expect(jsonOf<{ calls: unknown[] }>(await kybatch(['charges', 'list', '--json'])).calls).toMatchObject([
      { charge: 'charged', note: expect.any(String) },
    ]);
  }),
);

long('sync stops at its limit and at the provider’s with exit code 4, and continues from there', () => {
  const v2Limits = { companies_watch: { daily: 3 } };
  return withPortfolio(5, { v2Limits }, async ({ kybatch, clock, ids }) => {
    const few = await kybatch([...SYNC, '--limit', '2']);
    expect([few.code, jsonOf<SyncJson>(few)]).toMatchObject([4, { added: 2, left: ids.length - 2, stopped: null }]);
    const refused = await kybatch(SYNC);
    expect(refused.code).toBe(4);
    expect(jsonOf<SyncJson>(refused)).toMatchObject({ added: 1, left: ids.length - 3, stopped: { code: 'ALLOWANCE' } });
    expect(refused.codes).toContain('COMPANIES_LEFT');
    clock.advance(DAY);
    expect(await kybatch(SYNC)).toMatchObject({ code: 0 });
  });
});

long('other fields are registered again, and watches of other users are left alone', () =>
  withPortfolio(3, {}, async ({ kybatch, sandbox, ids, cwd, writeCsv, rows }) => {
    const [theirs = ''] = ids;
    const call = ['call', 'v2', 'watchAdd', '--params', JSON.stringify({ id: theirs, fields: ['vat_number'] })];
    expect((await kybatch(call)).code).toBe(0);
    expect(jsonOf<SyncJson>(await kybatch(SYNC))).toMatchObject({ added: ids.length - 1, watched: ids.length });
    writeFileSync(join(cwd, 'other.yaml'), 'stages: [record]\nwatch: {fields: [name]}\n');
    const other = jsonOf<SyncJson>(await kybatch([...SYNC, '--pipeline', './other.yaml']));
    expect(other).toMatchObject({ added: 0, changed: ids.length - 1 });
    writeCsv('a.csv', rows.slice(1, 3));
    await kybatch(RUN);
    await kybatch(SYNC);
    const listed = jsonOf<{ watches: { v2_company_id: string; fields: string[] | null; ours: boolean }[] }>(
      await kybatch(['watch', 'list', '--json']),
    ).watches;
    expect(listed.find(({ v2_company_id }) => v2_company_id === theirs)).toMatchObject({ fields: null, ours: false });
    expect(sandbox.requests.get('watchRemove')).toBe(2 * (ids.length - 1));
  }),
);

long('rows without a v2 company are counted, and a company stays watched while any portfolio has it', () =>
  withPortfolio(3, {}, async ({ kybatch, writeCsv, rows, ids, cwd }) => {
    writeFileSync(join(cwd, 'v1.yaml'), 'stages: [record]\n');
    writeCsv('b.csv', rows.slice(0, 2));
    await kybatch(['run', 'b.csv', '--pipeline', './v1.yaml', '--yes']);
    const b = await kybatch(['watch', 'sync', 'b.csv', '--json']);
    expect(jsonOf<SyncJson>(b)).toMatchObject({ added: 0, members: 2, members_without_v2_company: 2 });
    expect(b.codes).toContain('MEMBERS_NOT_WATCHED');
    writeCsv('c.csv', rows.slice(0, 2));
    await kybatch(['run', 'c.csv', '--pipeline', './p.yaml', '--yes']);
    expect(jsonOf<SyncJson>(await kybatch(['watch', 'sync', '--json']))).toMatchObject({ added: ids.length });
    writeCsv('a.csv', rows.slice(2, 3));
    await kybatch(RUN);
    expect(jsonOf<SyncJson>(await kybatch(SYNC))).toMatchObject({ removed: 0, watched: ids.length });
    writeCsv('d.csv', [rows[0], { ...rows[1], country: 'Nowhere' }] as object[]);
    await kybatch(['run', 'd.csv', '--pipeline', './p.yaml', '--yes']);
    expect(jsonOf<SyncJson>(await kybatch(['watch', 'sync', 'd.csv', '--json']))).toMatchObject({
      members: 2,
      members_without_v2_company: 1,
    });
  }),
);

long('a history that cannot be read stops neither the others nor the run, and is read next time', () =>
  withPortfolio(4, {}, async ({ kybatch, sandbox, clock, ids }) => {
    await kybatch(SYNC);
    clock.advance(DAY);
    const [changed = '', ill = ''] = ids;
    for (const id of [changed, ill]) await sandbox.changeCompany(id, 'company_status', 'Dissolved');
    const isIll = ({ operation, path }: { operation: string | undefined; path: string }) =>
      operation === 'watchHistory' && path.includes(`/${ill}/`);
    sandbox.script(isIll, [500, 500]);
    const night = await kybatch(RUN);
    expect(night.textOf('WATCH_READ_IN_PART')).toMatch(new RegExp(` 1 \\D+ \\(${ill}\\) .*SERVER_FAILURE`));
    expect(jsonOf<EndJson>(night)).toMatchObject({ finished: true, this_start: { units_charged: 1 } });
    clock.advance(DAY);
    expect(jsonOf<EndJson>(await kybatch(RUN))).toMatchObject({ this_start: { units_charged: 1 } });
  }),
);

long('a refusal or outage of the watch is a warning in a run, and an exit code of watch pull', () =>
  withPortfolio(3, {}, async ({ kybatch, sandbox, clock }) => {
    await kybatch(SYNC);
    clock.advance(DAY);
    sandbox.revoke(sandbox.keys.v2);
    const pull = await kybatch(['watch', 'pull', '--json']);
    expect(pull.code).toBe(5);
    expect(jsonOf<SyncJson>(pull)).toMatchObject({ stopped: { code: 'UNAUTHENTICATED' } });
    const night = await kybatch(RUN);
    expect(night.codes).toContain('WATCH_READ_IN_PART');
    expect(night.code).toBe(0);
  }),
);

long('purge removes the events of a company, and prune only old events that stay known', () =>
  withPortfolio(3, {}, async ({ kybatch, sandbox, clock, ids }) => {
    await kybatch(SYNC);
    clock.advance(DAY);
    const [one = '', two = ''] = ids;
    for (const id of [one, two]) await sandbox.changeCompany(id, 'name', 'Named Anew');
    await kybatch(['watch', 'pull']);
    const events = async () =>
      jsonOf<{ events: { v2_company_id: string }[]; watches: { v2_company_id: string }[] }>(
        await kybatch(['watch', 'list', '--json']),
      );
    expect((await events()).events).toHaveLength(2);
    expect((await kybatch(['erase', '--entity', `v2:${one}`, '--yes'])).code).toBe(0);
    expect((await events()).events.map(({ v2_company_id: id }) => id)).toEqual([two]);
    expect((await events()).watches.map(({ v2_company_id: id }) => id)).not.toContain(one);
    clock.advance(2 * DAY);
    const prune = ['prune', '--older-than', '1d', '--yes', '--json'];
    expect(jsonOf(await kybatch(prune))).toMatchObject({ removed: { watch_events: 0, watch_looks: 3 } });
    clock.advance(3 * DAY);
    await kybatch(['watch', 'pull']);
    expect(jsonOf(await kybatch(prune))).toMatchObject({ removed: { watch_events: 1 } });
    expect((await events()).events).toHaveLength(0);
    expect(jsonOf(await kybatch(['watch', 'pull', '--json']))).toMatchObject({ events: 0 });
  }),
);

long('a pipeline may pull the watch less often than it runs, except for companies of callbacks', () => {
  const pipeline = ['stages: [record, financials]', 'watch: {refresh: [record], every: 3d}'];
  return withPortfolio(3, { pipeline }, async ({ kybatch, sandbox, clock, cwd, ids }) => {
    await kybatch(SYNC);
    const histories = () => sandbox.requests.get('watchHistory') ?? 0;
    const nights: number[] = [];
    for (let night = 0; night < 4; night++) {
      if (night === 2) await new Inbox(join(cwd, 'data')).put(ids[0] ?? '');
      const before = histories();
      clock.advance(DAY);
      await kybatch(RUN);
      nights.push(histories() - before);
    }
    expect(nights).toEqual([ids.length, 0, 1, ids.length - 1]);
  });
});

long('without consent to spend, the watch is not pulled, and a note says so', () =>
  withPortfolio(2, {}, async ({ kybatch, sandbox, clock }) => {
    await kybatch(SYNC);
    clock.advance(DAY);
    const asked = await kybatch(['run', 'a.csv', '--pipeline', './p.yaml'], { answers: () => 'n' });
    expect(asked.codes).toContain('WATCH_NOT_ASKED');
    expect(sandbox.requests.get('watchHistory') ?? 0).toBe(0);
  }),
);

long('an endless history is left after fifty pages, and unknown members of a record are kept', () =>
  withPortfolio(1, {}, async ({ kybatch, sandbox, clock, cwd }) => {
    await kybatch(SYNC);
    clock.advance(DAY);
    const odd = '{"event_type":"company_name","status":"UPDATED","message":7,"date_created":null,"old_value":1.10}';
    const plain = '{"event_type":"vat_number","status":"UPDATED","message":"m","date_created":"2026-03-02T00:00:00Z"}';
    const body = (page: number) => `{"data":[${plain},${odd},"no record"],"total_results":${page},"pages":1000000}`;
    sandbox.script(
      { operation: 'watchHistory' },
      Array.from({ length: 60 }, (_, page) => ({ rewrite: body(page) })),
    );
    expect(jsonOf(await kybatch(['watch', 'pull', '--json']))).toMatchObject({ histories_cut_short: 1, events: 2 });
    expect(sandbox.requests.get('watchHistory')).toBe(50);
    sandbox.clearScript();
    clock.advance(1);
    const { run } = jsonOf<EndJson>(await kybatch(RUN));
    const [, event] = tableOf({ cwd }, run, 'watch_events');
    expect(event).toMatchObject({ message: '', run: '', old_value: '1.10', extra: '{"message":7}' });
  }),
);

long('a run without due rows reports that the watch was pulled, and a refused list pulls nothing', () =>
  withPortfolio(5, {}, async ({ kybatch, sandbox, writeCsv, rows, cwd, ids }) => {
    await kybatch(SYNC);
    const quiet = await kybatch(RUN);
    expect(quiet.codes).toContain('NOTHING_DUE');
    expect(jsonOf(quiet)).toMatchObject({ watch_asked: ids.length });
    expect(jsonOf<object>(await kybatch(RUN))).toMatchObject({ watch_asked: ids.length });
    const asked = sandbox.requests.get('watchHistory') ?? 0;
    const file = join(cwd, 'p.yaml');
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nguards: {rows_lost: 20}`);
    writeCsv('a.csv', rows.slice(0, 2));
    expect(await kybatch(RUN)).toMatchObject({ code: 2, codes: expect.arrayContaining(['ROWS_LOST']) });
    expect(sandbox.requests.get('watchHistory')).toBe(asked);
  }),
);
