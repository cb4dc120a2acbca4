import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { writeSample } from '../../src/sandbox/sample.js';
import { type EndJson, type Job, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { Dice } from './nights.js';

/** `npm run test:year` asks for 365. */
const NIGHTS = Number(process.env.KYBATCH_YEAR_NIGHTS ?? 0);
const MEMBERS = Number(process.env.KYBATCH_YEAR_MEMBERS ?? 500);
const DAY = 86_400_000;
const FRESH_DAYS = 14;

/** Units a night; to keep everybody fresh takes `MEMBERS / FRESH_DAYS` of them. */
const REGIMES = [
  ['as many units as are wanted', null],
  ['just enough', Math.ceil((MEMBERS / FRESH_DAYS) * 1.3)],
  ['a third of what it takes', Math.floor(MEMBERS / FRESH_DAYS / 3)],
] as const;

type Line = Readonly<Record<string, string>>;

describe.runIf(NIGHTS > 0)(`${NIGHTS} nights of ${MEMBERS} members`, () => {
  test.each(REGIMES)('with %s', { timeout: 3_600_000 }, async (regime, budget) => {
    const clock = new JumpingClock('2026-01-01T01:00:00Z');
    const pipeline = ['stages: [record]', `freshness: {fullKyb: ${FRESH_DAYS}d, searchKyb: forever}`];
    await withJob({ clock, pipeline, allowance: 1_000_000_000 }, async (job) => {
      const list = new MovingList(job, new Dice(7));
      const nights: { units: number; due: number; size: number }[] = [];
      const run = async (...flags: string[]) =>
        jsonOf<EndJson & { due: number }>(
          await job.kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', ...flags]),
        );
      for (let night = 0; night < NIGHTS; night++) {
        list.write();
        const { this_start, due, outcomes } = await run(
          '--no-export',
          ...(budget === null ? [] : ['--budget', String(budget)]),
        );
        expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(list.length);
        nights.push({ units: this_start.units_charged, due, size: statSync(join(job.cwd, 'data', 'kybatch.db')).size });
        clock.advance(DAY);
        if (night % 30 === 29) await job.kybatch(['prune', '--older-than', '60d', '--yes']);
        list.move();
      }
      const ages = await agesOf(job, clock);
      const oldest = Math.max(...ages);
      const bought = nights.reduce((sum, { units }) => sum + units, 0);
      const last = nights.at(-1)?.size ?? 0;
      console.log(
        `${regime}: ${bought} units in ${NIGHTS} nights, the oldest answer is ${oldest.toFixed(1)} days old, the ledger has ${(last / 2 ** 20).toFixed(1)} MB, ${(last / list.length / 1024).toFixed(1)} KB a member`,
      );
      // A night is a day long: what became stale since last night is bought in the next.
      const turn = budget === null ? 0 : Math.ceil(list.length / budget);
      expect(oldest).toBeLessThanOrEqual(
        Math.max(FRESH_DAYS, turn) + 2 + list.joined / (budget ?? Number.POSITIVE_INFINITY),
      );
      if (budget !== null) for (const { units } of nights) expect(units).toBeLessThanOrEqual(budget);
      expect(bought).toBe(job.sandbox.chargeLog.length);
      const { environments } = jsonOf<{ environments: { api: string; drift_units: number | null }[] }>(
        await job.kybatch(['usage', '--json']),
      );
      expect(environments.find(({ api }) => api === 'v1')?.drift_units ?? 0).toBe(0);
    });
  });
});

/** A list from which somebody goes, to which somebody comes, and which is re-sorted, from time to time. */
class MovingList {
  joined = 0;
  readonly #job: Job;
  readonly #dice: Dice;
  readonly #pool: object[];
  #listed: object[];

  constructor(job: Job, dice: Dice) {
    this.#job = job;
    this.#dice = dice;
    const { registry } = job.sandbox;
    this.#pool = [...writeSample({ registry, rows: MEMBERS + 200, dirty: false })].map(({ input }) => input);
    this.#listed = this.#pool.splice(0, MEMBERS);
  }

  get length(): number {
    return this.#listed.length;
  }

  write(): void {
    this.#job.writeCsv('in.csv', this.#listed);
  }

  move(): void {
    const dice = this.#dice;
    if (dice.roll() < 0.2) this.#pool.push(...this.#listed.splice(dice.upTo(this.#listed.length), 1));
    if (dice.roll() < 0.2) {
      this.#listed.splice(dice.upTo(this.#listed.length), 0, ...this.#pool.splice(0, 1));
      this.joined += 1;
    }
    if (dice.roll() < 0.1) this.#listed = this.#listed.toReversed();
  }
}

async function agesOf(job: Job, clock: JumpingClock): Promise<readonly number[]> {
  await job.kybatch(['export', '--out', 'tables']);
  const companies = parse(readFileSync(join(job.cwd, 'tables', 'companies.csv')), { columns: true }) as Line[];
  return companies.map(({ fetched_at = '' }) => (clock.now() - Date.parse(fetched_at)) / DAY);
}
