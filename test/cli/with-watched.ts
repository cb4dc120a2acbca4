import { join } from 'node:path';
import type { Sandbox } from '../../src/sandbox/index.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { openLedgerIn } from '../helpers/ledger-place.js';
import { type Job, withJob } from './here.js';

/** `companies` are watched, as after `watch sync`. */
export async function withWatched(
  companies: number,
  use: (
    job: Job & {
      readonly clock: JumpingClock;
      readonly ids: readonly string[];
      readonly dataDir: string;
    },
  ) => Promise<void>,
): Promise<void> {
  const clock = new JumpingClock('2026-03-01T02:00:00Z');
  await withJob({ clock }, async (job) => {
    const dataDir = join(job.cwd, 'data');
    const ids = idsOf(job.sandbox, companies);
    const ledger = await openLedgerIn({ dataDir, now: clock.now(), access: 'write' });
    const environmentId = await ledger.calls.environment('v2', job.sandbox.v2BaseUrl);
    await Promise.all(ids.map((id) => ledger.watches.asked(environmentId, id, null, clock.now())));
    await Promise.all(ids.map((id) => ledger.watches.registered(environmentId, id, clock.now())));
    await ledger.close();
    await use({ ...job, clock, ids, dataDir });
  });
}

function idsOf({ registry }: Sandbox, count: number): readonly string[] {
  const ids: string[] = [];
  for (let index = 0; ids.length < count; index++) {
    const { v2Id } = registry.company(index);
    if (registry.byV2Id(v2Id) !== undefined) ids.push(v2Id);
  }
  return ids;
}
