/** The cost of a night alone: `npm run bench:portfolio [members …]`. Each size runs in its own process. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NightCost } from './portfolio/case.js';
import { formatTable } from './table.js';

const sizes = process.argv.slice(2).map(Number);
const script = fileURLToPath(new URL('./portfolio/case.ts', import.meta.url));
const costs = (sizes.length > 0 ? sizes : [20_000, 200_000]).map((members) => {
  const folder = mkdtempSync(join(tmpdir(), 'kybatch-bench-'));
  const step = (name: string) =>
    execFileSync(process.execPath, ['--expose-gc', '--import', 'tsx', script, name, folder, String(members)], {
      encoding: 'utf8',
    });
  try {
    step('fill');
    return JSON.parse(step('night')) as NightCost;
  } finally {
    rmSync(folder, { recursive: true });
  }
});
const ms = (value: number) => value.toFixed(0);
console.log(
  `Node ${process.version}, ${process.arch}, ${new Date().toISOString().slice(0, 10)}; 1% of the members are due\n`,
);
console.log(
  formatTable(
    costs.map((cost) => ({
      members: String(cost.members),
      'same file: read ms': ms(cost.same.readMs),
      'find what is due and begin ms': ms(cost.same.dueMs),
      'due ms per 100,000': ms((cost.same.dueMs / cost.members) * 100_000),
      'one cell changed: lay out ms': ms(cost.changed.layMs),
      'take in and begin ms': ms(cost.changed.dueMs),
      'ledger KB a quiet night': ms(cost.quietBytes / 1024),
      'RSS MB': ms(cost.rssMb),
      'RSS MB, changed': ms(cost.rssChangedMb),
      'heap held MB': ms(cost.heldMb),
      'heap held MB, changed': ms(cost.heldChangedMb),
    })),
  ),
);
const [small, large] = costs;
if (small !== undefined && large !== undefined) {
  const grows = large.members / small.members;
  const total = (cost: NightCost) => cost.same.readMs + cost.same.dueMs;
  console.log(
    `\n${grows} times the members: ${(total(large) / total(small)).toFixed(1)} times the time, ${(large.rssMb / small.rssMb).toFixed(2)} times the memory; of a changed file ${(large.rssChangedMb / small.rssChangedMb).toFixed(2)}`,
  );
}
