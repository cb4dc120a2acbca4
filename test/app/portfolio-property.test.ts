/** @module-tag long */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type EndJson, Interrupts, type Job, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';

const DAY = 86_400_000;
const FRESH_DAYS = 7;
const RUNS = Number(process.env.KYBATCH_PROPERTY_RUNS ?? 2);
const POOL = 9;

/** Events between two runs, and the limit of the second. */
interface Night {
  readonly days: number;
  /** The companies in the list, in this order. */
  readonly listed: readonly number[];
  readonly budget: number | null;
  readonly fails: 'nothing' | 'lostAnswer' | 503;
  /** Both interrupts come when this many requests have arrived. */
  readonly stopsAfter: number | null;
  /** The companies of the tables whose status changes after it. */
  readonly changes: readonly number[];
}

const nights: fc.Arbitrary<readonly Night[]> = fc.array(
  fc.record({
    // A clock may also be set back.
    days: fc.integer({ min: -1, max: 12 }),
    listed: fc.shuffledSubarray(
      Array.from({ length: POOL }, (_, index) => index),
      { minLength: 1 },
    ),
    budget: fc.option(fc.integer({ min: 0, max: 6 }), { freq: 3 }),
    fails: fc.constantFrom<Night['fails']>('nothing', 'nothing', 'lostAnswer', 503),
    stopsAfter: fc.option(fc.integer({ min: 2, max: 12 }), { freq: 3 }),
    changes: fc.subarray(Array.from({ length: POOL }, (_, index) => index)),
  }),
  { minLength: 3, maxLength: 7 },
);

test('after any files, losses, stops and clocks, no fresh answer was bought, none is stale, and changes lead from first to last tables', {
  timeout: 60_000 * RUNS,
}, async () => {
  const property = fc.asyncProperty(nights, async (history) => {
    const clock = new JumpingClock('2026-01-05T01:00:00Z');
    const pipeline = ['stages: [record]', `freshness: {fullKyb: ${FRESH_DAYS}d, searchKyb: 365d}`];
    await withJob({ clock, pipeline }, async (job) => {
      const { rows, writeCsv, kybatch, sandbox } = job;
      const told = new Told(job);
      // A lost charged answer may be bought again.
      let lost = 0;
      for (const { days, listed, budget, fails, stopsAfter, changes } of history) {
        clock.advance(days * DAY);
        writeCsv(
          'in.csv',
          listed.map((index) => rows[index] ?? {}),
        );
        if (fails !== 'nothing') sandbox.script('fullKyb', ['none', fails]);
        const bound = budget === null ? [] : ['--max-units', String(budget)];
        const { code, stdout } = await kybatch([...RUN, ...bound], { interrupts: stopping(sandbox, stopsAfter) });
        sandbox.clearScript();
        lost += (fails === 'lostAnswer' ? 1 : 0) + (stopsAfter === null ? 0 : IN_FLIGHT);
        if (stdout !== '') {
          const end = JSON.parse(stdout) as EndJson;
          expect(Object.values(end.outcomes).reduce((sum, count) => sum + count, 0)).toBe(listed.length);
          if (budget !== null) expect(end.this_start.units_charged).toBeLessThanOrEqual(budget);
        }
        expect([0, 4, 6, 130]).toContain(code);
        const ids = listed.map((index) => rows[index]?.id ?? '');
        told.forgetBut(ids);
        // After an interrupt the next attempt compares the received answers.
        if (code !== 130) await told.look();
        for (const index of changes) await told.change(index);
      }
      expect(boughtTooSoon(sandbox.chargeLog)).toBeLessThanOrEqual(lost);
      // The clock may have been set back since some answers were fetched, but none is in the future any more.
      clock.advance(DAY);
      const last = jsonOf<EndJson>(await kybatch(RUN));
      expect(last).toMatchObject({ finished: true, outcomes: { pending: 0, failed: 0 } });
      const listed = history.at(-1)?.listed.map((index) => rows[index]?.id ?? '') ?? [];
      await told.look();
      const companies = told.table('companies');
      expect(companies).toHaveLength(listed.length);
      for (const { fetched_at = '' } of companies)
        expect(clock.now() - Date.parse(fetched_at)).toBeLessThanOrEqual(FRESH_DAYS * DAY);
      expect(told.table('members').filter(({ due }) => due === 'true')).toEqual([]);
      told.mustLeadToTheLast();
    });
  });
  await fc.assert(property, { numRuns: RUNS, seed: Number(process.env.KYBATCH_PROPERTY_SEED ?? 7) });
});

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--no-export', '--concurrency', '2'];
/** Calls in flight at the interrupt. */
const IN_FLIGHT = 4;

/** Two interrupts in a row when this many requests have arrived. */
function stopping(sandbox: Job['sandbox'], after: number | null): Interrupts {
  const interrupts = new Interrupts();
  let seen = 0;
  const count = () => {
    seen += 1;
    if (seen === after) for (let times = 0; times < 2; times++) interrupts.send('SIGINT');
    return false;
  };
  if (after !== null) sandbox.script(count, ['none']);
  return interrupts;
}

type Line = Readonly<Record<string, string>>;

/** The first shown status of each company, and the changes reported since. */
class Told {
  readonly #job: Job;
  /** By row ID: the first shown status, and the number of changes reported by then. */
  #first = new Map<string, { readonly status: string; readonly told: number }>();
  #changed = 0;
  #looked = false;

  constructor(job: Job) {
    this.#job = job;
  }

  table = (name: string): readonly Line[] =>
    parse(readFileSync(join(this.#job.cwd, 'tables', `${name}.csv`)), { columns: true }) as Line[];

  /** A departed company begins again when it returns. */
  forgetBut(listed: readonly string[]): void {
    this.#first = new Map([...this.#first].filter(([id]) => listed.includes(id)));
  }

  async look(): Promise<void> {
    expect((await this.#job.kybatch(['export', '--out', 'tables'])).code).toBe(0);
    this.#looked = true;
    for (const [id, status] of this.#statuses())
      if (!this.#first.has(id)) this.#first.set(id, { status, told: this.#of(id).length });
  }

  async change(index: number): Promise<void> {
    if (!this.#looked) return;
    const { v1_company_id = '' } = this.table('companies')[index] ?? {};
    const { v2Id } = this.#job.sandbox.registry.byV1Id(v1_company_id) ?? {};
    this.#changed += 1;
    if (v2Id !== undefined) await this.#job.sandbox.changeCompany(v2Id, 'company_status', `status ${this.#changed}`);
  }

  mustLeadToTheLast(): void {
    const statuses = this.#statuses();
    for (const [id, { status, told }] of this.#first) {
      let now = status;
      for (const { old_value, new_value = '' } of this.#of(id).slice(told)) {
        expect(old_value).toBe(now);
        now = new_value;
      }
      expect([id, now]).toEqual([id, statuses.get(id)]);
    }
  }

  #of(id: string): readonly Line[] {
    return this.table('changes').filter(
      ({ input_id, table, column }) => input_id === id && table === 'companies' && column === 'status',
    );
  }

  #statuses(): ReadonlyMap<string, string> {
    const companies = new Map(this.table('companies').map((line) => [line.v1_company_id, line.status ?? '']));
    return new Map(
      this.table('rows').flatMap(({ input_id = '', v1_company_id = '' }) => {
        const status = companies.get(v1_company_id);
        return status === undefined ? [] : [[input_id, status] as const];
      }),
    );
  }
}

/** Charges for answers that were still fresh. */
function boughtTooSoon(
  charges: readonly { readonly operation: string; readonly at: number; readonly params: string }[],
): number {
  const last = new Map<string, number>();
  let tooSoon = 0;
  for (const { operation, at, params } of charges) {
    const key = `${operation} ${params}`;
    const fresh = (operation === 'fullKyb' ? FRESH_DAYS : 365) * DAY;
    if (at - (last.get(key) ?? Number.NEGATIVE_INFINITY) < fresh) tooSoon += 1;
    last.set(key, at);
  }
  return tooSoon;
}
