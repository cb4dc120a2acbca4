import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ManualClock } from '../../src/util/clock.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { type EndJson, Interrupts, jsonOf, rowsCounted, type Said, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
const down = { pipeline: ['stages: [record]', 'patience: 1h'], faults: { rate503: 1 } };

describe('an outage', () => {
  long('is reported without a terminal and in the log, and the run continues', async () => {
    await withJob(down, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const onCode = (code: string) => {
        if (code === 'OUTAGE') sandbox.setFaults({});
      };
      const end = await kybatch(RUN, { onCode });
      expect(end.code).toBe(0);
      expect(end.codes.filter((code) => /OUTAGE|RECOVERED/.test(code))).toEqual(['OUTAGE', 'RECOVERED']);
      const logs = join(cwd, 'data', 'logs');
      const log = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))[0] ?? '';
      const events = log.split('\n').filter((line) => /"(outage|recovered)"/.test(line));
      expect(events.map((line) => JSON.parse(line))).toMatchObject([
        { api: 'v1', operation: 'searchKyb', since: expect.any(Number), next_try_at: expect.any(Number) },
        { api: 'v1', operation: 'searchKyb', waited_ms: expect.any(Number) },
      ]);
    });
  });

  test('of any length is two lines of the log, with the number of calls that failed between', async () => {
    const pipeline = ['stages: [record]', 'patience: 2500ms'];
    const clock = new JumpingClock();
    await withJob({ ...down, pipeline, clock }, async ({ cwd, rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      expect((await kybatch(RUN)).code).toBe(6);
      const logs = join(cwd, 'data', 'logs');
      const log = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))[0] ?? '';
      const events = log
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { event: string });
      const from = events.findIndex(({ event }) => event === 'outage');
      const during = events.slice(from).filter(({ event }) => /outage|call_failed|retry|still_down/.test(event));
      expect(during).toMatchObject([{ event: 'outage' }, { event: 'still_down', failed_calls: expect.any(Number) }]);
    });
  });

  long('is shown in the bar, a signal ends it at once, and the last line names resume', async () => {
    await withJob(down, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const interrupts = new Interrupts();
      const onOutput = (text: string) => {
        // The bar names a call only while it waits for one.
        if (text.includes('v1 searchKyb')) interrupts.send('SIGTERM');
      };
      const end = await kybatch(RUN, { onOutput, interrupts, answers: () => 'yes' });
      expect(end.code).toBe(143);
      expect(rowsCounted(end)).toEqual([3, 3]);
      const status = { rows: 3, outcomes: { pending: 3 } };
      expect(jsonOf<object>(await kybatch(['status', '--json']))).toMatchObject(status);
      expect(end.codes.at(-2)).toBe('RESUME_NEXT');
      expect(end.stdout).toMatch(/^ +kybatch resume /m);
    });
  });

  // Without a lock only the lease shows whether a process is alive, and it ends in two minutes.
  test.skipIf(isOnPostgres)('is shown by status in another terminal, and resume is not suggested', async () => {
    await withJob(down, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const seen: Said[] = [];
      const interrupts = new Interrupts();
      let over = false;
      const look = async () => {
        const clock = new ManualClock(Date.now() + 120_000);
        while (!over && !seen.at(-1)?.codes.includes('OUTAGE')) {
          seen.push(await kybatch(['status'], { clock }));
          await new Promise((next) => setImmediate(next));
        }
        interrupts.send('SIGTERM');
      };
      let looking: Promise<void> | undefined;
      const onCode = (code: string) => {
        if (code === 'OUTAGE') looking ??= look();
      };
      expect((await kybatch(RUN, { onCode, interrupts })).code).toBe(143);
      over = true;
      await looking;
      expect(seen.at(-1)?.codes).toEqual(expect.arrayContaining(['OUTAGE', 'PROCESS_AT_WORK']));
      expect(seen.at(-1)?.stdout).not.toContain('kybatch resume');
      const after = jsonOf<{ process: object }>(await kybatch(['status', '--json']));
      expect(after.process).toMatchObject({ alive: false, interrupted: true, outages: [] });
    });
  });

  long('X-1 fails no row, even before it is detected', async () => {
    await withJob({ pipeline: ['stages: [record]', 'patience: 0s'] }, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 4));
      // The check of the key, two rows with answers, and two without, at the end.
      sandbox.script({ operation: 'searchKyb' }, ['none', 'none', 'none', 503, 503, 503, 503]);
      // The rest of the limit allows one row at a time.
      const end = await kybatch([...RUN, '--concurrency', '1', '--max-units', '5', '--json']);
      expect(end.code).toBe(6);
      expect(jsonOf<EndJson>(end)).toMatchObject({ outcomes: { complete: 2, failed: 0, pending: 2 } });
    });
  });

  long('that ended a run is shown by status', async () => {
    await withJob({ ...down, pipeline: ['stages: [record]', 'patience: 0s'] }, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const end = await kybatch(RUN);
      expect(end.code).toBe(6);
      expect(end.codes).toContain('PROVIDER_UNAVAILABLE');
      expect((await kybatch(['status'])).codes).toContain('PROVIDER_UNAVAILABLE');
      const { process } = jsonOf<{ process: object }>(await kybatch(['status', '--json']));
      expect(process).toMatchObject({ alive: false, stopped: { code: 'PROVIDER_UNAVAILABLE' } });
    });
  });
});

describe('status after a stop at a limit', { tags: 'long' }, () => {
  test('names the limit and the speed of the last attempt', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 4));
      const first = await kybatch([...RUN, '--max-units', '4']);
      expect(first.code).toBe(4);
      const command = /^ +kybatch resume \S+ --max-units 4\b.*$/m.exec(first.stdout)?.[0];
      const { stdout, textOf } = await kybatch(['status']);
      expect(stdout.trimEnd().split('\n').at(-1)).toBe(command);
      expect(textOf('SPEED')).toMatch(/ 2 rows/);
      expect((await kybatch(['resume', '--max-units', '2', '--yes'])).code).toBe(4);
      expect((await kybatch(['status'])).textOf('SPEED')).toMatch(/ 1 row/);
    });
  });
});
