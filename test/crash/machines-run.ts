import { formatTable, whole } from '../bench/table.js';
import { buildWhenStale } from '../helpers/build.js';
import { type CrashEnd, type CrashPlan, crashMachines } from './machines.js';

// `npm run test:machines`: four processes, one PostgreSQL, one counting provider. At random times a process is killed,
// frozen beyond its lease, or loses its connection.

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);
const rows = number('KYBATCH_CRASH_ROWS', 3000);
const kills = number('KYBATCH_CRASH_KILLS', 40);
const seed = number('KYBATCH_CRASH_SEED', 1);
const only = process.argv.slice(2);

const begun = performance.now();
const tell = (line: string) => console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(7)} s  ${line}`);
/** A row costs two units. */
const some = Math.max(200, Math.round(rows / 20));
const few = Math.max(4, Math.round(kills / 20));
/** Some processes wake up before their calls count as lost, some after. */
const frozenMs = [1000, 25_000] as const;
const plans: readonly CrashPlan[] = [
  { name: 'kills', rows, kills, seed, frozenMs, tell },
  { name: 'allowance', rows: some, kills: few, seed: seed + 1, frozenMs, allowance: some, tell },
  { name: 'budget', rows: some, kills: few, seed: seed + 2, frozenMs, budget: some, tell },
];

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
buildWhenStale();
const ends: { readonly name: string; readonly end: CrashEnd }[] = [];
for (const plan of plans.filter(({ name }) => only.length === 0 || only.includes(name))) {
  tell(`${plan.name}: ${plan.rows} rows, ${plan.kills} disturbances, seed ${plan.seed}`);
  ends.push({ name: plan.name, end: await crashMachines(plan) });
}

const figures = Object.keys(ends[0]?.end.figures ?? {});
const table = [
  ...figures.map((figure) => row(figure, (end) => whole(end.figures[figure] ?? 0))),
  row('disturbances', (end) => whole(Object.values(end.kills).reduce((sum, count) => sum + count, 0))),
  row('seconds', (end) => whole(end.seconds)),
  row('problems', (end) => whole(end.problems.length)),
];
console.log(`\n${formatTable(table)}\n`);
for (const { name, end } of ends) {
  console.log(
    `${name}: ${Object.entries(end.kills)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}`,
  );
  for (const problem of end.problems) console.log(`${name}: WRONG: ${problem}`);
}
process.exitCode = ends.some(({ end }) => end.problems.length > 0) ? 1 : 0;

function row(what: string, of: (end: CrashEnd) => string): Record<string, string> {
  return { '': what, ...Object.fromEntries(ends.map(({ name, end }) => [name, of(end)])) };
}
