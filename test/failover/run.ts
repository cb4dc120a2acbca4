import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'csv-stringify/sync';
import pg from 'pg';
import { writeSample } from '../../src/sandbox/sample.js';
import { buildWhenStale } from '../helpers/build.js';
import { cli, environmentFor, type Finished, startCli, withFolder } from '../helpers/cli.js';
import { chargedAgain, withSandbox } from '../helpers/sandbox.js';
import { Cluster } from './cluster.js';

// `npm run test:failover`: a run with two workers over TLS, whose PostgreSQL dies and is replaced by its standby.
// It needs PostgreSQL with its tools and openssl, as Debian has them.

const FAILOVERS = Number(process.env.KYBATCH_FAILOVERS ?? 3);
const ROWS = 400;

const begun = performance.now();
const tell = (line: string) => console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(7)} s  ${line}`);
const problems: string[] = [];
const must = (holds: boolean, otherwise: string) => {
  if (holds) return;
  problems.push(otherwise);
  tell(`WRONG: ${otherwise}`);
};

buildWhenStale();
const cluster = new Cluster();
process.once('exit', () => cluster.stop());
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await cluster.start();
const url = `postgres://kybatch:p%40ss%20word@localhost:${cluster.port}/kybatch?sslmode=verify-full&sslrootcert=${cluster.authority}`;

await withFolder((cwd) =>
  withSandbox({ faults: { latency: { medianMs: 40, p99Ms: 90 } } }, async ({ sandbox }) => {
    const env = { ...environmentFor(sandbox), KYBATCH_LEDGER_URL: url };
    writeFileSync(join(cwd, 'p.yaml'), 'stages: [record, financials]\nconcurrency: 4\n');
    const lists = FAILOVERS + 1;
    const rows = [...writeSample({ registry: sandbox.registry, rows: ROWS * lists, dirty: false })].map(
      ({ input }) => input,
    );
    for (let n = 0; n < lists; n++)
      writeFileSync(join(cwd, `${n}.csv`), stringify(rows.slice(n * ROWS, (n + 1) * ROWS), { header: true }));
    const migrated = await cli(['ledger', 'migrate'], { cwd, env });
    must(migrated.code === 0, `migrate: ${migrated.stderr}`);

    /** Runs with two workers, calls `then` when `settled` rows are done, and returns how they end. */
    const work = async (n: number, settled: number, then: () => Promise<void>) => {
      const start = (args: readonly string[]) => startCli(args, { cwd, env });
      const helpers = ['a', 'b'].map((name) => start(['worker', '--data-dir', name]));
      const run = start(['run', `${n}.csv`, '--pipeline', './p.yaml', '--yes', '--no-export', '--json']);
      while ((await settledIn(n)) < settled) await sleep(50);
      await then();
      const end = await run.finished;
      for (const { child } of helpers) child.kill('SIGTERM');
      return { end, helped: await Promise.all(helpers.map(({ finished }) => finished)) };
    };
    const settledIn = async (n: number) =>
      await ask<number>(
        `SELECT count(*)::int AS told FROM kybatch.rows JOIN kybatch.runs ON runs.id = run_id
         WHERE outcome <> 'pending' AND input_path LIKE '%/${n}.csv'`,
      );

    for (let n = 0; n < FAILOVERS; n++) {
      await cluster.addStandby(true);
      const [at, awayMs] = [randomInt(20, 250), randomInt(0, 6000)];
      const { end, helped } = await work(n, at, () => cluster.failOver(awayMs));
      tell(`failover ${n + 1} after ${at} rows, away for ${awayMs} ms: ${outcomesOf(end)}`);
      must(end.code === 0 && outcomesOf(end) === `${ROWS} complete`, `the run ended with ${end.code}: ${end.stderr}`);
      for (const { code, stderr } of helped) must(code === 143, `a worker ended with ${code}: ${stderr}`);
      must(chargedAgain(sandbox.chargeLog).length === 0, 'an answer was paid for twice');
      const units = await ask<number>('SELECT coalesce(sum(units_charged), 0)::int AS told FROM kybatch.calls');
      const open = "SELECT count(*)::int AS told FROM kybatch.calls WHERE charge = 'unknown' OR settled_at IS NULL";
      const sold = sandbox.chargeLog.filter(({ api }) => api === 'v1').length;
      must(units === sold, `the books say ${units} units, the provider ${sold}`);
      must((await ask<number>(open)) === 0, 'calls are open');
    }

    await cluster.addStandby(false);
    const lost = await work(FAILOVERS, 40, async () => {
      cluster.cutStandbyOff();
      await sleep(2000);
      await cluster.failOver(500);
    });
    const hasSeen = ({ code, stderr }: Finished) => code === 1 && stderr.includes('LEDGER_WENT_BACK');
    tell(
      `a standby that lacks two seconds: run ${lost.end.code}, workers ${lost.helped.map(({ code }) => code).join(' and ')}`,
    );
    must(hasSeen(lost.end), `nobody noticed: ${lost.end.stderr}`);
    const resumed = await cli(['resume', '--yes', '--no-export', '--json'], { cwd, env });
    tell(`resume: ${resumed.code}, ${outcomesOf(resumed)}`);
    must(resumed.code === 0, `resume ended with ${resumed.code}: ${resumed.stderr}`);
    const usage = await cli(['usage', '--json'], { cwd, env });
    const { environments } = JSON.parse(usage.stdout) as { environments: { api: string; drift_units: number }[] };
    const drift = environments.find(({ api }) => api === 'v1')?.drift_units ?? 0;
    tell(
      `what the provider counts more than the books: ${drift}; bought twice: ${chargedAgain(sandbox.chargeLog).length}`,
    );
    must(drift > 0, 'usage does not tell what was lost');
  }),
);
tell(`${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

async function ask<T>(sql: string): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ told: T }>(sql);
    return rows[0]?.told as T;
  } finally {
    await client.end();
  }
}

function outcomesOf({ stdout }: Finished): string {
  const { outcomes = {} } = (stdout === '' ? {} : JSON.parse(stdout)) as { outcomes?: Record<string, number> };
  return Object.entries(outcomes)
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(', ');
}
