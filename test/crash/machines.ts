import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import { lineOf, wholeCompanies, writeInput } from '../engine/support.js';
import { startPostgres } from '../postgres/server.js';
import { type Audit, auditMachines, readMachineBooks } from './machines-audit.js';
import { type Provider, startProvider } from './provider.js';

export interface CrashPlan {
  readonly name: string;
  readonly rows: number;
  readonly kills: number;
  readonly seed: number;
  /** How long a process is frozen, from and to, after the others have taken over its work. */
  readonly frozenMs: readonly [from: number, to: number];
  /** These in turn, instead of random ones. */
  readonly inTurn?: readonly Disturbance[];
  /** The provider's faults. The default is a few of each kind. */
  readonly faults?: SandboxOptions['faults'];
  /** The first allowance of the provider. The rest is added when it is used up. */
  readonly allowance?: number;
  /** The limit of the first leader. Another one continues when it is used up. */
  readonly budget?: number;
  /** Reports the events. */
  readonly tell: (line: string) => void;
}

export interface CrashEnd extends Audit {
  readonly seconds: number;
  readonly kills: Readonly<Record<string, number>>;
}

/** The disturbances of a process or a connection, in per cent. */
const DISTURBANCES = {
  'backend killed': 30,
  'worker killed': 30,
  'leader killed': 15,
  'worker frozen': 10,
  'leader frozen': 15,
} as const;
type Disturbance = keyof typeof DISTURBANCES;

const WORKERS = 4;
const MAIN = resolve(import.meta.dirname, '../../dist/cli/main.js');
/** No longer standstill is allowed: a lease, the time until others look, and a busy machine. */
const PATIENCE_MS = 150_000;
const LOOK_MS = 50;

/** Sometimes an answer is lost, cut or refused. */
const FAULTS: SandboxOptions['faults'] = {
  rate429: 0.002,
  rate503: 0.01,
  lostAnswer: 0.004,
  resetBefore: 0.004,
  failGenerate: 0.01,
  latency: { medianMs: 8, p99Ms: 60 },
};

const PIPELINE = `stages: [record, financials, credit-report]
search: {attempts: 1}
concurrency: 8
retry: {attempts: 8, base: 20ms, cap: 500ms}
breaker: {failures: 100}
lost_answer_tries: 10
report: {first_poll: 100ms, poll_at_most: 1s, look_for: 5m}
`;
/** No pipeline file allows such a short time, but the test must not wait minutes for a missing report. */
const QUICK_LOOK_MS = 3000;

/** Several processes on one PostgreSQL and one provider. At random times one of them, or a connection, is ended. */
export async function crashMachines(plan: CrashPlan): Promise<CrashEnd> {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-machines-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  const server = await startPostgres();
  const provider = await startProvider({
    journal: join(folder, 'journal.jsonl'),
    seed: plan.seed,
    faults: plan.faults ?? FAULTS,
    reportDelayMs: { min: 0, max: 400 },
    allowance: plan.allowance,
  });
  const database = new pg.Pool({ connectionString: server.url('postgres'), max: 2 });
  database.on('error', () => {});
  try {
    writeFileSync(join(folder, 'pipeline.yaml'), PIPELINE);
    const registry = createRegistry({ seed: plan.seed });
    writeInput(
      join(folder, 'input.csv'),
      wholeCompanies({ registry }, plan.rows).map((company) => lineOf(company)),
    );
    return await new Crash(plan, folder, server.url('postgres'), provider, database).run();
  } finally {
    await database.end();
    await provider.stop();
    await server.stop();
    process.off('exit', remove);
    remove();
  }
}

interface Life {
  readonly child: ChildProcess;
  readonly role: 'leader' | 'worker';
  readonly slot: number;
  readonly ended: Promise<number | null>;
  /** The test ended it or let others take over, so any exit code is allowed. */
  excused: boolean;
  frozen: boolean;
  said: string;
}

class Crash {
  readonly #lives = new Set<Life>();
  readonly #problems: string[] = [];
  readonly #kills: Record<string, number> = {};
  readonly #random: () => number;
  readonly #thawing = new Set<Promise<void>>();
  #spentStops = 0;
  #inFlight = 0;
  #isFinished = false;
  #over = false;

  constructor(
    private readonly plan: CrashPlan,
    private readonly folder: string,
    private readonly url: string,
    private readonly provider: Provider,
    private readonly database: pg.Pool,
  ) {
    this.#random = lehmer(plan.seed);
  }

  async run(): Promise<CrashEnd> {
    const begun = performance.now();
    try {
      await this.#prepare();
      const { budget } = this.plan;
      this.#lead(budget === undefined ? [] : ['--max-units', String(budget)]);
      for (let slot = 1; slot < WORKERS; slot++) this.#help(slot);
      await this.#untilDone();
      this.#isFinished = true;
      await Promise.all(this.#thawing);
      const books = await readMachineBooks(this.database);
      const audit = auditMachines(books, this.provider.judge(), this.plan.rows);
      return {
        figures: { ...audit.figures, 'calls in flight when given up': this.#inFlight },
        problems: [...this.#problems, ...audit.problems],
        seconds: (performance.now() - begun) / 1000,
        kills: this.#kills,
      };
    } finally {
      this.#over = true;
      for (const life of this.#lives) {
        life.excused = true;
        life.child.kill('SIGKILL');
      }
      await Promise.all([...this.#lives].map(({ ended }) => ended));
    }
  }

  /** Creates the run and reads its rows, without a generated report. */
  async #prepare(): Promise<void> {
    const migrate = this.#spawn('worker', 0, ['ledger', 'migrate']);
    if ((await migrate.ended) !== 0) throw new Error(`migrate failed: ${migrate.said}`);
    const args = ['run', 'input.csv', '--pipeline', './pipeline.yaml', '--yes', '--no-export'];
    const first = this.#spawn('leader', 0, [...args, '--max-units', '0', '--max-reports', '0']);
    first.excused = true;
    await first.ended;
    const { rowCount } = await this.database.query(
      `UPDATE kybatch.runs SET settings = jsonb_set(settings::jsonb, '{pipeline,options,credit-report,lookForMs}', $1)::text
       WHERE state = 'open' AND row_count = $2`,
      [String(QUICK_LOOK_MS), this.plan.rows],
    );
    this.plan.tell('the run is begun');
    if (rowCount !== 1) throw new Error(`the run was not begun: ${first.said}`);
  }

  #lead(args: readonly string[] = []): Life {
    const life = this.#spawn('leader', 0, ['resume', '--yes', '--no-export', ...args]);
    void life.ended.then((code) => this.#leaderEnded(life, code));
    return life;
  }

  #help(slot: number): void {
    const life = this.#spawn('worker', slot, ['worker']);
    void life.ended.then((code) => {
      if (!life.excused && !this.#over) this.#wrong(`worker ${slot} ended by itself with ${code}: ${tail(life.said)}`);
      if (!this.#over) this.#help(slot);
    });
  }

  async #leaderEnded(life: Life, code: number | null): Promise<void> {
    if (this.#over || life.excused || code === 0) return;
    if (code === 4 && this.#spentStops === 0 && (this.plan.allowance ?? this.plan.budget) !== undefined) {
      this.#spentStops += 1;
      await this.#atSpent();
      if (!this.#over) this.#lead();
      return;
    }
    // A frozen process woke up in time: it stays the leader, and no other may lead.
    const awake = [...this.#lives].find((other) => other !== life && isLeader(other) && !other.frozen);
    if (code === 75 && awake !== undefined) {
      awake.excused = false;
      return;
    }
    const standing = JSON.stringify(await this.#standing());
    this.#wrong(`the leader ended by itself with ${code}: ${tail(life.said)}; ${standing}`);
    if (!this.#over) this.#lead();
  }

  /** Exactly the limit is used up, checked when no call is in flight. */
  async #atSpent(): Promise<void> {
    const { budget, allowance } = this.plan;
    await sleep(1000);
    const units = this.provider.judge().charges.filter(({ api }) => api === 'v1').length;
    const atMost = budget ?? allowance ?? 0;
    this.plan.tell(`spent: ${units} units charged of ${atMost} (${budget === undefined ? 'allowance' : 'budget'})`);
    if (units > atMost) this.#wrong(`${units} units were charged, and ${atMost} was all there was to spend`);
    if (allowance !== undefined) await this.provider.setAllowance(1_000_000);
  }

  async #untilDone(): Promise<void> {
    const { rows, kills } = this.plan;
    let done = 0;
    let left = -1;
    let movedAt = performance.now();
    for (;;) {
      const progress = await this.#progress();
      if (progress.finished) break;
      if (progress.moves !== left) movedAt = performance.now();
      left = progress.moves;
      if (performance.now() - movedAt > PATIENCE_MS) {
        const said = [...this.#lives].map((life) => `${life.role} ${life.slot}: ${tail(life.said)}`).join('; ');
        this.#wrong(`nothing moved for ${PATIENCE_MS / 1000} s: ${JSON.stringify(await this.#standing())}; ${said}`);
        return;
      }
      // Spread over the rows, so that slow parts are not killed more often.
      if (done < kills && progress.settled >= ((done + 0.3) * rows * 0.97) / kills) {
        await this.#kill(done, progress.settled);
        done += 1;
      }
      await sleep(LOOK_MS);
    }
    if (done < kills) this.#wrong(`only ${done} of ${kills} kills came before the end`);
    if (this.plan.budget !== undefined && this.#spentStops === 0) this.#wrong('the budget was never spent');
    if (this.plan.allowance !== undefined && this.#spentStops === 0) this.#wrong('the allowance was never spent');
  }

  async #progress(): Promise<{ readonly settled: number; readonly moves: number; readonly finished: boolean }> {
    const { rows } = await this.database.query<{ settled: string; calls: string; state: string }>(
      `SELECT (SELECT count(*) FROM kybatch.rows WHERE outcome <> 'pending') AS settled,
         (SELECT coalesce(max(id), 0) FROM kybatch.calls) AS calls, state FROM kybatch.runs`,
    );
    const [found] = rows;
    const settled = Number(found?.settled ?? 0);
    return { settled, moves: settled + Number(found?.calls ?? 0), finished: found?.state === 'finished' };
  }

  /** Why the run does not progress. */
  async #standing(): Promise<unknown> {
    const { rows } = await this.database.query(
      `SELECT outcome, hold, hold_reason, count(*)::int, min(row)::int AS first FROM kybatch.rows GROUP BY 1, 2, 3`,
    );
    const held = await this.database.query(
      `SELECT claimed_by, count(*)::int, bool_or(ended_at IS NOT NULL) AS ended FROM kybatch.rows JOIN kybatch.starts ON starts.id = claimed_by GROUP BY 1`,
    );
    const left = await this.database.query(
      `SELECT row::int, hold, hold_reason, stage, error_code FROM kybatch.rows WHERE outcome = 'pending' ORDER BY row LIMIT 5`,
    );
    const open = await this.database.query(
      `SELECT operation, start_id, count(*)::int FROM kybatch.calls WHERE settled_at IS NULL GROUP BY 1, 2`,
    );
    const led = await this.database.query('SELECT id, led_by, resume_at FROM kybatch.runs WHERE led_by IS NOT NULL');
    return { rows, left: left.rows, held: held.rows, open: open.rows, led: led.rows };
  }

  async #kill(nth: number, settled: number): Promise<void> {
    const { inTurn } = this.plan;
    const drawn = inTurn?.[nth % inTurn.length] ?? drawDisturbance(this.#random());
    const which = this.#random();
    const alive = [...this.#lives].filter((life) => !life.frozen && !life.excused);
    // A process with a limit keeps it, because another leader would get a new one.
    const mayLose = this.plan.budget === undefined || this.#spentStops > 0;
    const [leader] = mayLose ? alive.filter(isLeader) : [];
    const workers = alive.filter((life) => !isLeader(life));
    const life = (drawn.startsWith('leader') ? leader : undefined) ?? workers[Math.floor(which * workers.length)];
    if (drawn === 'backend killed' || life === undefined) {
      await this.#killBackend(which);
      this.#note(nth, settled, 'backend killed');
      return;
    }
    if (drawn.endsWith('frozen')) {
      this.#freeze(life);
      this.#note(nth, settled, `${life.role} frozen`);
      return;
    }
    life.excused = true;
    life.child.kill('SIGKILL');
    this.#note(nth, settled, `${life.role} killed`);
    if (isLeader(life)) void life.ended.then(() => (this.#over ? undefined : this.#lead()));
  }

  #note(nth: number, settled: number, what: Disturbance): void {
    this.#kills[what] = (this.#kills[what] ?? 0) + 1;
    this.plan.tell(`disturbance ${nth + 1} at ${settled} rows: ${what}`);
  }

  async #killBackend(which: number): Promise<void> {
    const backends = await this.database.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'kybatch%' ORDER BY pid`,
    );
    const pid = backends.rows[Math.floor(which * backends.rows.length)]?.pid;
    if (pid !== undefined) await this.database.query('SELECT pg_terminate_backend($1)', [pid]);
  }

  /** A leader is replaced meanwhile, as an operator would. For a worker the run waits. */
  #freeze(life: Life): void {
    const [from, to] = this.plan.frozenMs;
    life.frozen = true;
    life.child.kill('SIGSTOP');
    if (isLeader(life)) {
      life.excused = true;
      this.#lead();
    }
    const thawing = this.#untilGivenUp(life)
      .then(() => sleep(from + this.#random() * (to - from)))
      .then(() => {
        life.frozen = false;
        life.child.kill('SIGCONT');
        this.#thawing.delete(thawing);
      });
    this.#thawing.add(thawing);
  }

  async #untilGivenUp({ child }: Life): Promise<void> {
    const { rows } = await this.database.query<{ id: number }>(
      `SELECT id FROM kybatch.starts WHERE ended_at IS NULL AND worker LIKE '%:' || $1::text`,
      [String(child.pid)],
    );
    const starts = rows.map(({ id }) => id);
    const countOf = async (sql: string) => (await this.database.query(sql, [starts])).rowCount ?? 0;
    const alive = 'SELECT 1 FROM kybatch.starts WHERE id = ANY($1) AND ended_at IS NULL';
    // After the run has finished, no process is left to take over.
    while (!this.#isFinished && (await countOf(alive)) > 0) await sleep(LOOK_MS);
    this.#inFlight += await countOf('SELECT 1 FROM kybatch.calls WHERE start_id = ANY($1) AND settled_at IS NULL');
  }

  #spawn(role: Life['role'], slot: number, args: readonly string[]): Life {
    const env = {
      PATH: process.env.PATH ?? '',
      KYBATCH_LEDGER_URL: this.url,
      KYBATCH_DATA_DIR: join(this.folder, `data-${slot}`),
      ...this.provider.env,
    };
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: this.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close').then(([code]) => code as number | null);
    const life: Life = { child, role, slot, ended, excused: false, frozen: false, said: '' };
    const hear = (chunk: Buffer) => {
      life.said = (life.said + chunk.toString()).slice(-4000);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    this.#lives.add(life);
    const withUs = () => child.kill('SIGKILL');
    process.once('exit', withUs);
    void ended.then(() => process.off('exit', withUs));
    void ended.then(() => this.#lives.delete(life));
    return life;
  }

  #wrong(problem: string): void {
    this.plan.tell(`WRONG: ${problem}`);
    this.#problems.push(problem);
  }
}

function drawDisturbance(drawn: number): Disturbance {
  let left = drawn * 100;
  for (const [kind, weight] of Object.entries(DISTURBANCES) as [Disturbance, number][]) {
    left -= weight;
    if (left < 0) return kind;
  }
  return 'backend killed';
}

const isLeader = ({ role }: Life): boolean => role === 'leader';
const tail = (said: string): string => said.trim().split('\n').slice(-4).join(' | ').slice(-600);

export function lehmer(seed: number): () => number {
  let state = (seed * 7919 + 17) % 2147483647;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}
