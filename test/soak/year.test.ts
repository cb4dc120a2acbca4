import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import type { SampleRow } from '../../src/sandbox/sample/damage.js';
import { writeSample } from '../../src/sandbox/sample.js';
import { type EndJson, type Job, jsonOf, withJob } from '../cli/here.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { Dice } from './nights.js';

/** `npm run test:year` uses 365. */
const NIGHTS = Number(process.env.KYBATCH_YEAR_NIGHTS ?? 0);
const MEMBERS = Number(process.env.KYBATCH_YEAR_MEMBERS ?? 500);
const DAY = 86_400_000;
const FRESH_DAYS = 14;

/** Units a night. Keeping all companies fresh takes `MEMBERS / FRESH_DAYS` of them. */
const REGIMES = [
  ['as many units as are wanted', null],
  ['just enough', Math.ceil((MEMBERS / FRESH_DAYS) * 1.3)],
  ['a third of what it takes', Math.floor(MEMBERS / FRESH_DAYS / 3)],
] as const;

type Line = Readonly<Record<string, string>>;

describe.runIf(NIGHTS > 0)(`${NIGHTS} nights of ${MEMBERS} companies`, () => {
  test.each(REGIMES)('with %s', { timeout: 3_600_000 }, async (regime, budget) => {
    const clock = new JumpingClock('2026-01-01T01:00:00Z');
    const pipeline = ['stages: [record]', `freshness: {fullKyb: ${FRESH_DAYS}d, searchKyb: forever}`];
    await withJob({ clock, pipeline, allowance: 1_000_000_000 }, async (job) => {
      const list = new MovingList(job, new Dice(7));
      const register = new MovingRegister(job, new Dice(11));
      const nights: { units: number; due: number; size: number }[] = [];
      const run = async (...flags: string[]) =>
        jsonOf<EndJson & { due: number }>(
          await job.kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', ...flags]),
        );
      for (let night = 0; night < NIGHTS; night++) {
        list.write();
        const { this_start, due, outcomes } = await run(
          '--no-export',
          ...(budget === null ? [] : ['--max-units', String(budget)]),
        );
        expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(list.length);
        nights.push({ units: this_start.units_charged, due, size: statSync(join(job.cwd, 'data', 'kybatch.db')).size });
        clock.advance(DAY);
        register.noteBought();
        if (night % 30 === 29) await job.kybatch(['prune', '--older-than', '400d', '--yes']);
        list.move();
        await register.move(list.companies);
      }
      const ages = await agesOf(job, clock);
      const isStill = ({ v1_company_id = '' }: Line) => list.stayed.has(v1_company_id);
      const told = linesOf(job, 'changes').filter(
        (line) => isStill(line) && line.table === 'companies' && WATCHED.some(([, column]) => column === line.column),
      );
      expect(told.map(inWords).sort()).toEqual(register.expected.filter(isStill).map(inWords).sort());
      expect(told.length).toBeGreaterThan(0);
      const oldest = Math.max(...ages);
      const bought = nights.reduce((sum, { units }) => sum + units, 0);
      const last = nights.at(-1)?.size ?? 0;
      console.log(
        `${regime}: ${told.length} changes as the register had them; ${bought} units in ${NIGHTS} nights, the oldest answer is ${oldest.toFixed(1)} days old, the ledger has ${(last / 2 ** 20).toFixed(1)} MB, ${(last / list.length / 1024).toFixed(1)} KB a member`,
      );
      // Nights are a day apart: answers that became stale since the last night are bought in the next.
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

/** A list that loses and gains companies, and is re-sorted, from time to time. */
class MovingList {
  joined = 0;
  readonly #job: Job;
  readonly #dice: Dice;
  readonly #pool: SampleRow[];
  #listed: SampleRow[];
  /** The companies that were in it all the time. */
  readonly stayed: Set<string>;

  constructor(job: Job, dice: Dice) {
    this.#job = job;
    this.#dice = dice;
    const { registry } = job.sandbox;
    this.#pool = [...writeSample({ registry, rows: MEMBERS + 200, dirty: false })];
    this.#listed = this.#pool.splice(0, MEMBERS);
    this.stayed = new Set(this.#listed.map(({ answer }) => answer.v1_company_id));
  }

  get companies(): readonly SampleRow['answer'][] {
    return this.#listed.map(({ answer }) => answer);
  }

  get length(): number {
    return this.#listed.length;
  }

  write(): void {
    this.#job.writeCsv(
      'in.csv',
      this.#listed.map(({ input }) => input),
    );
  }

  move(): void {
    const dice = this.#dice;
    if (dice.roll() < 0.2) {
      const gone = this.#listed.splice(dice.upTo(this.#listed.length), 1);
      for (const { answer } of gone) this.stayed.delete(answer.v1_company_id);
      this.#pool.push(...gone);
    }
    if (dice.roll() < 0.2) {
      this.#listed.splice(dice.upTo(this.#listed.length), 0, ...this.#pool.splice(0, 1));
      this.joined += 1;
    }
    if (dice.roll() < 0.1) this.#listed = this.#listed.toReversed();
  }
}

/** The fields that the sandbox changes, and their columns. */
const WATCHED = [
  ['name', 'name'],
  ['company_status', 'status'],
] as const;

type Facts = Readonly<Record<'name' | 'status', string | null>>;

/** A register that changes from time to time, with the bought answers and their differences. */
class MovingRegister {
  readonly expected: Line[] = [];
  readonly #job: Job;
  readonly #dice: Dice;
  readonly #known = new Map<string, Facts>();
  #seen = 0;

  constructor(job: Job, dice: Dice) {
    this.#job = job;
    this.#dice = dice;
  }

  async move(companies: readonly SampleRow['answer'][]): Promise<void> {
    for (let count = 0; count < 3; count++) {
      const { v2_company_id } = this.#dice.of(companies);
      if (v2_company_id === '') continue;
      const [field] = this.#dice.of(WATCHED);
      await this.#job.sandbox.changeCompany(v2_company_id, field, `${field} ${this.#dice.upTo(1000)}`);
    }
  }

  noteBought(): void {
    const charges = this.#job.sandbox.chargeLog.slice(this.#seen);
    this.#seen = this.#job.sandbox.chargeLog.length;
    for (const { operation, params } of charges) {
      if (operation !== 'fullKyb') continue;
      const { id } = JSON.parse(params) as { id: string | number };
      const company = this.#job.sandbox.registry.byV1Id(String(id));
      if (company === undefined) throw new Error(`nobody is ${id}`);
      const { name, status } = company;
      const before = this.#known.get(String(id));
      this.#known.set(String(id), { name, status });
      for (const column of ['name', 'status'] as const)
        if (before !== undefined && before[column] !== { name, status }[column])
          this.expected.push({
            v1_company_id: String(id),
            column,
            old_value: before[column] ?? '',
            new_value: { name, status }[column] ?? '',
          });
    }
  }
}

const inWords = ({ v1_company_id, column, old_value, new_value }: Line): string =>
  [v1_company_id, column, old_value, new_value].join(' | ');

const linesOf = (job: Job, table: string): readonly Line[] =>
  parse(readFileSync(join(job.cwd, 'tables', `${table}.csv`)), { columns: true }) as Line[];

async function agesOf(job: Job, clock: JumpingClock): Promise<readonly number[]> {
  await job.kybatch(['export', '--out', 'tables']);
  return linesOf(job, 'companies').map(({ fetched_at = '' }) => (clock.now() - Date.parse(fetched_at)) / DAY);
}
