/** @module-tag long */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { inLedger } from '../helpers/ledger-place.js';
import { Interrupts, type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
const CHECK = ['status', '--check', '--max-age', '26h'];

test('an interrupted or killed attempt is reported until another one continues it', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, sandbox, cwd }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    await kybatch(RUN);
    writeCsv('in.csv', rows.slice(0, 6));
    const interrupts = new Interrupts();
    const before = sandbox.chargeLog.length;
    const end = kybatch([...RUN, '--concurrency', '1'], { interrupts });
    while (sandbox.chargeLog.length === before) await new Promise((next) => setImmediate(next));
    interrupts.send('SIGTERM');
    expect((await end).code).toBe(143);
    const stopped = await kybatch([...CHECK, '--json']);
    expect(stopped.code).toBe(3);
    expect(jsonOf<object>(stopped)).toMatchObject({
      portfolios: [{ troubles: [{ kind: 'interrupted' }] }],
      next: expect.stringMatching(/^kybatch resume /),
    });
    // The ledger after a kill.
    await inLedger(join(cwd, 'data'), 'UPDATE starts SET ending = NULL, ended_at = NULL');
    clock.advance(3_600_000);
    const died = await kybatch([...CHECK, '--json']);
    expect(died.code).toBe(3);
    expect(died.stdout).toContain('"kind":"died"');
    expect((await kybatch(RUN)).code).toBe(0);
    expect((await kybatch(CHECK)).code).toBe(0);
  });
});

const refuse: readonly [string, string, string, (job: Job) => void][] = [
  ['whose file is gone', 'FILE_UNREADABLE', 'run', ({ cwd }) => rmSync(join(cwd, 'in.csv'))],
  ['whose file is empty', 'FILE_EMPTY', 'run', ({ cwd }) => writeFileSync(join(cwd, 'in.csv'), '')],
  ['whose file has lost its rows', 'ROWS_LOST', 'plan', ({ rows, writeCsv }) => writeCsv('in.csv', rows.slice(0, 1))],
  [
    'whose pipeline cannot be read',
    'PIPELINE_INVALID',
    'plan',
    ({ cwd }) => writeFileSync(join(cwd, 'p.yaml'), 'stages: nothing'),
  ],
];

test.each(refuse)('an attempt %s is reported until another one succeeds', async (_, code, next, breakIt) => {
  const clock = new JumpingClock();
  const pipeline = ['stages: [record]', 'guards: {rows_lost: 20}', 'metrics: {file: k.prom}'];
  await withJob({ clock, pipeline }, async (job) => {
    const { rows, writeCsv, kybatch, cwd } = job;
    writeFileSync(join(cwd, 'good.yaml'), pipeline.join('\n'));
    writeCsv('in.csv', rows.slice(0, 4));
    await kybatch(RUN);
    breakIt(job);
    clock.advance(60_000);
    const refused = await kybatch(RUN);
    expect(refused.code).toBe(2);
    if (code === 'ROWS_LOST') {
      expect(refused.textOf(code)).toContain(': kybatch plan in.csv --pipeline ./p.yaml\n');
      expect(refused.textOf(code)).toMatch(/: kybatch run in.csv --pipeline .\/p.yaml --yes --accept rows_lost$/);
    }
    // A pipeline that cannot be read names no file.
    const written = /^kybatch_written_timestamp_seconds (\S+)/m.exec(readFileSync(join(cwd, 'k.prom'), 'utf8'))?.[1];
    const isKnown = !readFileSync(join(cwd, 'p.yaml'), 'utf8').includes('nothing');
    if (isKnown) expect(readFileSync(join(cwd, 'k.prom'), 'utf8')).toContain(`,reason="${code}"} 2\n`);
    expect(Number(written)).toBe(clock.now() / 1000 - (isKnown ? 0 : 60));
    const check = await kybatch(CHECK);
    expect(check).toMatchObject({ code: 3, stdout: expect.stringContaining(`(${code}, `) });
    // The plan shows the cause, free of charge. A missing file has no plan.
    expect(check.stdout).toContain(`kybatch ${next} in.csv`);
    if (code === 'ROWS_LOST') expect(check.stdout).toMatch(/\): .* 1 .* 4\b/);
    writeCsv('in.csv', rows.slice(0, 4));
    // Nothing is due, so it succeeds.
    expect((await kybatch(RUN.map((word) => (word === './p.yaml' ? './good.yaml' : word)))).code).toBe(0);
    expect((await kybatch(CHECK)).code).toBe(0);
  });
});
