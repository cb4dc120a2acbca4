/** @module-tag long */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { status } from '../../src/app/run/status.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { writeSample } from '../../src/sandbox/sample.js';
import { systemClock } from '../../src/util/clock.js';
import { aRecord, type EndJson, jsonOf } from '../cli/here.js';
import { cli, environmentFor, startCli, withFolder } from '../helpers/cli.js';
import { withSandbox } from '../helpers/sandbox.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];

describe('the built command line', () => {
  test('a first interrupt drains (130), meanwhile other attempts are refused (75), and resume finishes without paying twice', async () => {
    await withJob(async ({ cwd, env, sandbox }) => {
      sandbox.setFaults({ latency: { medianMs: 60, p99Ms: 60 } });
      const { child, finished } = startCli(RUN, { cwd, env });
      await charged(sandbox, 4);
      // A frozen process keeps its lock.
      child.kill('SIGSTOP');
      const other = await cli(RUN, { cwd, env });
      expect(other.code).toBe(75);
      expect(jsonOf(other)).toMatchObject({ error: { code: 'LOCKED' } });
      expect((await status({}, { cwd, env, clock: systemClock })).atWork).toMatchObject({ alive: true, endedAt: null });
      child.kill('SIGINT');
      child.kill('SIGCONT');
      const end = await finished;
      expect(end.code).toBe(130);
      expect(jsonOf<EndJson>(end)).toMatchObject({ finished: false, outcomes: { failed: 0 } });
      expect(jsonOf<EndJson>(end).units_charged).toBe(sandbox.chargeLog.length);
      sandbox.setFaults({});
      const resumed = await cli(['resume', '--json'], { cwd, env });
      expect(resumed.code).toBe(0);
      expect(jsonOf<EndJson>(resumed)).toMatchObject({ outcomes: { complete: ROWS } });
      expect(sandbox.chargeLog).toHaveLength(2 * ROWS);
    });
  });

  test('V1-5 a second interrupt stops at once: abandoned calls are flagged, and usage shows them', async () => {
    await withJob(async ({ cwd, env, sandbox }) => {
      sandbox.script(aRecord, Array(8).fill({ latencyMs: 60_000 }));
      const { child, finished } = startCli(RUN, { cwd, env });
      await until(() => (sandbox.requests.get('fullKyb') ?? 0) >= 2);
      child.kill('SIGINT');
      await until(() => logged(cwd).some(({ event, second }) => event === 'interrupt' && second === false));
      child.kill('SIGINT');
      const end = await finished;
      expect(end.code).toBe(130);
      const usage = jsonOf<{ unknown_calls: { operation: string }[] }>(await cli(['usage', '--json'], { cwd, env }));
      expect(usage.unknown_calls.length).toBeGreaterThan(0);
      expect(new Set(usage.unknown_calls.map(({ operation }) => operation))).toEqual(new Set(['fullKyb']));
    });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s: %i', async (signal, code) => {
    await withJob(async ({ cwd, env, sandbox }) => {
      sandbox.setFaults({ latency: { medianMs: 60, p99Ms: 60 } });
      const { child, finished } = startCli(RUN, { cwd, env });
      await charged(sandbox, 2);
      child.kill(signal);
      const end = await finished;
      expect(end.code).toBe(code);
      expect(jsonOf<EndJson>(end).units_charged).toBe(sandbox.chargeLog.length);
    });
  });
});

const ROWS = 20;

interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
}

async function withJob(use: (place: Place) => Promise<void>): Promise<void> {
  await withFolder((cwd) =>
    withSandbox({}, async ({ sandbox }) => {
      const rows = [...writeSample({ registry: sandbox.registry, rows: ROWS, dirty: false })].map(({ input }) => input);
      writeFileSync(join(cwd, 'in.csv'), stringify(rows, { header: true }));
      writeFileSync(join(cwd, 'p.yaml'), 'stages: [record]\nconcurrency: 4\n');
      await use({ cwd, env: environmentFor(sandbox), sandbox });
    }),
  );
}

/** The lines of the run's log so far. */
function logged(cwd: string): readonly { event: string; second?: boolean }[] {
  const logs = join(cwd, 'data', 'logs');
  const [name] = existsSync(logs) ? readdirSync(logs) : [];
  const lines = name === undefined ? [] : readFileSync(join(logs, name), 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as { event: string; second?: boolean });
}

const charged = (sandbox: Sandbox, units: number) => until(() => sandbox.chargeLog.length >= units);

/** Waits until it is true. The test's own time limit applies. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((next) => setTimeout(next, 5));
}
