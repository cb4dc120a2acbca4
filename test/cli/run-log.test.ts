/** @module-tag long */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type EndJson, jsonOf, withJob } from './here.js';

type Line = Readonly<Record<string, unknown>> & { readonly event: string };

test('the log has codes for every failed call, every wait and every slowdown', async () => {
  await withJob({}, async ({ cwd, rows, writeCsv, kybatch, sandbox }) => {
    writeCsv('in.csv', rows.slice(0, 3));
    // The first of them is the check of the key.
    sandbox.script({ operation: 'searchKyb' }, ['none', 503, { status: 429, retryAfter: 0 }]);
    const end = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--concurrency', '4']);
    expect(end.code).toBe(0);
    const lines = linesOf(join(cwd, 'data', 'logs', `${jsonOf<EndJson>(end).run}.log`));
    const told = (event: string) => lines.filter((line) => line.event === event);
    expect(told('call_failed').map(({ http_status: status }) => status)).toEqual(expect.arrayContaining([503]));
    expect(told('retry')[0]).toMatchObject({
      api: 'v1',
      operation: 'searchKyb',
      attempt: 2,
      wait_ms: expect.any(Number),
    });
    expect(told('slowed')[0]).toMatchObject({ api: 'v1', concurrency: 2 });
  });
});

test('an outage and a used up allowance are logged at once', async () => {
  const pipeline = ['stages: [record]', 'breaker: {failures: 5}', 'patience: 1s'];
  await withJob({ pipeline, faults: { rate503: 1 } }, async ({ cwd, rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 20));
    const end = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json']);
    const events = linesOf(join(cwd, 'data', 'logs', `${jsonOf<EndJson>(end).run}.log`)).map(({ event }) => event);
    expect(events).toContain('outage');
    expect(events.indexOf('outage')).toBeLessThan(events.indexOf('stopped'));
    expect(events).toContain('call_failed');
  });
  await withJob({ plan: 'free' }, async ({ cwd, rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', rows.slice(0, 4));
    const end = await kybatch(['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json']);
    const events = linesOf(join(cwd, 'data', 'logs', `${jsonOf<EndJson>(end).run}.log`)).map(({ event }) => event);
    expect(events).toEqual(expect.arrayContaining(['allowance_spent', 'parked']));
    // The run reports when the allowance resets, as `status` does later.
    expect(end.codes).toContain('ROWS_WAIT_FOR_ALLOWANCE');
    const [time] = /\d{4}-\d\d-\d\d 00:00 UTC/.exec(end.textOf('ALLOWANCE_RENEWED_AT')) ?? ['none'];
    expect((await kybatch(['status'])).textOf('ALLOWANCE_RENEWED_AT')).toContain(time);
  });
});

const linesOf = (path: string): readonly Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
