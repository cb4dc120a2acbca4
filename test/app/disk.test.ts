import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { doctor } from '../../src/app/admin/doctor.js';
import { checkPortfolios } from '../../src/app/monitoring/check.js';
import { plan } from '../../src/app/run/plan.js';
import { run } from '../../src/app/run/run.js';
import { systemClock } from '../../src/util/clock.js';
import { withJob } from '../cli/here.js';
import { long } from '../helpers/long.js';

const JOB = { input: 'in.csv', pipeline: './p.yaml', yes: true };
const HOUR_MS = 3_600_000;

long('plan and doctor show the room that a list needs, and a check wants room for three nights', async () => {
  await withJob({ pipeline: ['stages: [record]'] }, async (job) => {
    job.writeCsv('in.csv', job.rows.slice(0, 3));
    const environment = (free: number) => ({ cwd: job.cwd, env: job.env, clock: systemClock, freeBytes: () => free });
    const first = await plan(JOB, environment(1e9));
    expect(first.disk).toMatchObject({ free: 1e9 });
    // Rows are larger in the estimate than in these tables.
    expect(first.disk.bytes).toBeGreaterThan(300_000);
    const { tables } = await run(JOB, environment(1e9));
    const again = await plan({ ...JOB, fresh: true }, environment(1e9));
    expect(again.disk.bytes).toBeLessThan(first.disk.bytes + 100_000);
    const check = async (free: number) =>
      (await checkPortfolios({ maxAgeMs: HOUR_MS }, environment(free))).troubles.map((trouble) =>
        trouble.kind === 'error' ? trouble.code : trouble.kind,
      );
    expect(await check(1e9)).toEqual([]);
    const finding = async (free: number) =>
      (await doctor({}, environment(free))).findings.find(({ check: what }) => what === 'disk need')?.state;
    expect(await finding(1e9)).toBe('ok');
    // Tables of a long list. Below 16 MB the disk counts as full.
    writeFileSync(join(tables ?? '', 'companies.csv'), Buffer.alloc(2e7));
    expect(await check(5e7)).toEqual(['DISK_SHORT']);
    expect(await finding(5e7)).toBe('note');
    expect(await check(1e6)).toEqual(['DISK_FULL']);
    // A later run without tables shows less than a night needs.
    job.writeCsv('in.csv', job.rows.slice(0, 4));
    await run({ ...JOB, export: false }, environment(1e9));
    expect(await check(5e7)).toEqual(['DISK_SHORT']);
  });
});
