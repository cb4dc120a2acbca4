import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Interrupts, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
const down = { pipeline: ['stages: [record]', 'patience: 1h'], faults: { rate503: 1 } };

describe('an outage', () => {
  test('is told without a terminal and in the log, with what is waited for; the run goes on by itself', async () => {
    await withJob(down, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const onOutput = (text: string) => {
        if (text.includes('does not answer')) sandbox.setFaults({});
      };
      const end = await kybatch(RUN, { onOutput });
      expect(end.code).toBe(0);
      expect(end.stderr).toMatch(/^v1 searchKyb does not answer \(\w+\): waiting until .* UTC at the most/m);
      expect(end.stderr).toMatch(/^v1 searchKyb answers again after \d+ s: the run goes on$/m);
      const logs = join(cwd, 'data', 'logs');
      const log = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))[0] ?? '';
      const events = log.split('\n').filter((line) => /"(outage|recovered)"/.test(line));
      expect(events.map((line) => JSON.parse(line))).toMatchObject([
        { api: 'v1', operation: 'searchKyb', since: expect.any(Number), next_try_at: expect.any(Number) },
        { api: 'v1', operation: 'searchKyb', waited_ms: expect.any(Number) },
      ]);
    });
  });

  test('stands in the bar; a signal ends it at once, and the last line says how to go on', async () => {
    await withJob(down, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      const interrupts = new Interrupts();
      const onOutput = (text: string) => {
        if (text.includes('waiting for v1 searchKyb')) interrupts.send('SIGTERM');
      };
      const end = await kybatch(RUN, { onOutput, interrupts, answers: () => 'yes' });
      expect(end.code).toBe(143);
      expect(end.stderr).toMatch(/waiting for v1 searchKyb \(\w+\) for \d+ s, next try/);
      expect(end.stderr).toContain('3 pending = 3 rows');
      expect(end.stderr.trimEnd().split('\n').at(-1)).toContain('kybatch resume');
    });
  });
});
