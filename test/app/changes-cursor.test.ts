/** @module-tag long */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aRecord, type EndJson, type Job, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger, isOnPostgres } from '../helpers/ledger-place.js';
import { DAY, decideAll, type Line } from './nights.js';

const PIPELINE = ['stages: [record]', 'freshness: {fullKyb: 3d, searchKyb: 365d, kybSearch: 365d}'];
const RUN = ['--pipeline', './p.yaml', '--yes', '--json', '--no-export', '--concurrency', '1'];

interface Lists extends Job {
  readonly clock: JumpingClock;
  /** Runs one of the lists with these companies, then reads the changes with the cursor. */
  start(list: string, ...companies: (object | undefined)[]): Promise<void>;
  /** The reported changes, as `list id: new value`. */
  readonly told: readonly string[];
  /** The changes according to the final tables of both lists. */
  shown(): Promise<readonly string[]>;
}

/** The candidate with the requested number. */
const isMeant = ({ grade }: Line) => grade?.startsWith('A') === true;

type Change = Readonly<Record<'portfolio' | 'input_id' | 'new_value', string>>;

/** Every bought record has another status than the previous one. */
async function withLists(use: (lists: Lists) => Promise<void>): Promise<void> {
  const clock = new JumpingClock('2026-01-05T01:00:00Z');
  await withJob({ clock, pipeline: PIPELINE }, async (job) => {
    let bought = 0;
    const rewrite = (body: string) => body.replace(/"status":\s*"[^"]*"/, `"status":"state ${++bought}"`);
    job.sandbox.script(
      aRecord,
      Array.from({ length: 500 }, () => ({ rewrite })),
    );
    const told: string[] = [];
    const runs = new Map<string, string>();
    let cursor = 'change:0';
    const inWords = ({ portfolio, input_id: id, new_value: now }: Change) => `${portfolio} ${id}: ${now}`;
    const look = async () => {
      const page = jsonOf<{ changes: Change[]; next_since: string }>(
        await job.kybatch(['changes', '--json', '--since', cursor]),
      );
      cursor = page.next_since;
      told.push(...page.changes.map(inWords));
    };
    await use({
      ...job,
      clock,
      told,
      start: async (list, ...companies) => {
        job.writeCsv(`${list}.csv`, companies as object[]);
        clock.advance(1000);
        const { run } = jsonOf<EndJson>(await job.kybatch(['run', `${list}.csv`, '--portfolio', list, ...RUN]));
        if (run !== null) runs.set(list, run);
        await look();
      },
      shown: async () => {
        const lines: string[] = [];
        for (const [list, run] of runs) {
          await job.kybatch(['export', run, '--out', `tables-${list}`]);
          const table = parse(readFileSync(join(job.cwd, `tables-${list}`, 'changes.csv')), {
            columns: true,
          }) as Line[];
          lines.push(...table.map((line) => inWords(line as Change)));
        }
        return lines;
      },
    });
  });
}

test('changes while a row was not in the list are not its changes, whenever it returns', () =>
  withLists(async ({ start, told, shown, clock, rows, kybatch }) => {
    const [one, two] = rows;
    await start('a', one, two);
    await start('b', one);
    clock.advance(4 * DAY);
    await start('b', one);
    const both = [expect.stringMatching(/^a .*: state 3$/), expect.stringMatching(/^b .*: state 3$/)];
    expect(told).toEqual(both);
    await start('a', two);
    clock.advance(4 * DAY);
    await start('b', one);
    clock.advance(DAY);
    const back = new Date(clock.now()).toISOString();
    await start('a', one, two);
    expect((await shown()).toSorted()).toEqual(told.toSorted());
    expect(told.filter((line) => line.startsWith(`a ${one?.id}:`))).toHaveLength(1);
    const since = await kybatch(['changes', 'a', '--json', '--since', back]);
    expect(jsonOf<{ changes: Change[] }>(since).changes.filter(({ input_id: id }) => id === one?.id)).toEqual([]);
    clock.advance(4 * DAY);
    await start('a', one, two);
    expect(told.filter((line) => line.startsWith(`a ${one?.id}:`))).toHaveLength(2);
    expect((await shown()).toSorted()).toEqual(told.toSorted());
  }));

test('changes before a person confirmed the company are not its changes', () =>
  withLists(async (lists) => {
    const { start, told, shown, clock, rows } = lists;
    const [one] = rows;
    const inQuestion = { ...one, name: 'Somebody Else Altogether' };
    await start('a', one);
    await start('b', inQuestion);
    clock.advance(4 * DAY);
    await start('a', one);
    expect(told).toEqual([expect.stringMatching(/^a /)]);
    await decideAll(lists, 'confirm', isMeant);
    clock.advance(DAY);
    await start('b', inQuestion);
    expect(await shown()).toEqual(told);
    clock.advance(4 * DAY);
    await start('a', one);
    expect(told.slice(1)).toEqual([expect.stringMatching(/^a /), expect.stringMatching(/^b /)]);
  }));

test('a record that is accepted late is reported then, and later changes are reported at once', () =>
  withLists(async (lists) => {
    const { start, told, shown, clock, rows, sandbox } = lists;
    const [one] = rows;
    await start('a', one);
    await start('b', one);
    clock.advance(4 * DAY);
    const other = (body: string) =>
      body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');
    sandbox.clearScript();
    sandbox.script(aRecord, [{ rewrite: other }]);
    await start('a', one);
    expect(told).toEqual([]);
    await decideAll(lists, 'confirm');
    clock.advance(4 * DAY);
    sandbox.script(aRecord, [
      { rewrite: (body) => other(body).replace(/"status":\s*"[^"]*"/, '"status":"dissolved"') },
    ]);
    await start('b', one);
    clock.advance(DAY);
    await start('a', one);
    expect(told).toContain(`a ${one?.id}: dissolved`);
    expect(told).toContain(`a ${one?.id}: 00000000`);
    expect((await shown()).toSorted()).toEqual(told.toSorted());
  }));

test('the times when a row was absent or had another company stay with it', () =>
  withLists(async ({ start, clock, rows, kybatch, cwd }) => {
    const [one, two] = rows;
    await start('a', one, two);
    await start('a', two);
    await start('a', one, two);
    const kept = async () => {
      const all = (table: string) => inLedger(join(cwd, 'data'), `SELECT member_id FROM ${table}`);
      return [(await all('absences')).length, (await all('member_companies')).length];
    };
    expect(await kept()).toEqual([1, 2]);
    await start('a', two);
    clock.advance(100 * DAY);
    await kybatch(['prune', '--older-than', '30d', '--yes']);
    expect(await kept()).toEqual([0, 1]);
  }));

const POOL = [0, 1, 2, 3];
const histories = fc.array(
  fc.record({
    days: fc.integer({ min: 1, max: 4 }),
    a: fc.subarray(POOL, { minLength: 1 }),
    b: fc.subarray(POOL, { minLength: 1 }),
    bFirst: fc.boolean(),
    answered: fc.boolean(),
  }),
  { minLength: 5, maxLength: 7 },
);

test('for any departures, returns and review answers, the cursor reports what the tables finally show, once', {
  timeout: isOnPostgres ? 300_000 : 60_000,
}, async () => {
  const property = fc.asyncProperty(histories, async (history) => {
    await withLists(async (lists) => {
      const { start, told, shown, clock, rows } = lists;
      // The second list only confirms half of them.
      const inB = (index: number) => (index % 2 === 0 ? rows[index] : { ...rows[index], name: `Unlike ${index}` });
      for (const { days, a, b, bFirst, answered } of history) {
        clock.advance(days * DAY);
        const starts = [() => start('a', ...a.map((index) => rows[index])), () => start('b', ...b.map(inB))];
        for (const begin of bFirst ? starts.toReversed() : starts) await begin();
        if (answered) await decideAll(lists, 'confirm', isMeant);
      }
      expect(told.toSorted()).toEqual((await shown()).toSorted());
      expect(new Set(told).size).toBe(told.length);
    });
  });
  await fc.assert(property, { numRuns: Number(process.env.KYBATCH_PROPERTY_RUNS ?? 1), seed: 3, endOnFailure: true });
});

test('a row with another spelling of the same company keeps its changes', () =>
  withLists(async ({ start, told, shown, clock, rows }) => {
    const [one] = rows;
    await start('a', one);
    clock.advance(4 * DAY);
    await start('a', one);
    expect(told).toHaveLength(1);
    clock.advance(DAY);
    await start('a', { ...one, name: one?.name?.toUpperCase() });
    expect(told).toHaveLength(1);
    expect(await shown()).toEqual(told);
    clock.advance(4 * DAY);
    await start('a', { ...one, name: one?.name?.toUpperCase() });
    expect(told).toHaveLength(2);
    expect((await shown()).toSorted()).toEqual(told.toSorted());
  }));

test('an accepted answer is reported to a list even if another list has not continued with it yet', () =>
  withLists(async ({ start, told, shown, clock, rows, sandbox, kybatch, cwd }) => {
    const [one] = rows;
    await start('a', one);
    await start('b', one);
    clock.advance(4 * DAY);
    sandbox.clearScript();
    const other = (body: string) =>
      body.replace(/"registration_number":\s*"[^"]*"/, '"registration_number":"00000000"');
    sandbox.script(aRecord, [{ rewrite: other }]);
    await start('a', one);
    await start('b', one);
    expect(told).toEqual([]);
    await decideAll({ kybatch, cwd }, 'confirm');
    clock.advance(1000);
    await start('a', one);
    expect(told).toContain(`a ${one?.id}: 00000000`);
    expect(await shown()).toContain(`a ${one?.id}: 00000000`);
  }));

test('a row with a new spelling gets the change of a record that is refreshed in the same run', () =>
  withLists(async ({ start, told, shown, clock, rows }) => {
    const [one, two] = rows;
    const inTown = (row: object | undefined) => ({ ...row, city: 'Somewhere' });
    await start('a', one, two);
    clock.advance(4 * DAY);
    await start('a', inTown(one), inTown(two));
    expect(told).toHaveLength(2);
    expect((await shown()).toSorted()).toEqual(told.toSorted());
  }));
