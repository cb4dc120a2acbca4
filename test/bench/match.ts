/** How well rows are matched: `npm run bench:match [rows] [seed]`. Exit code 1 if a target is missed. */
import { defaultMatchPolicy } from '../../src/domain/match-decision.js';
import { Random } from '../../src/sandbox/random.js';
import { createRegistry } from '../../src/sandbox/registry/index.js';
import type { SearchKind } from '../../src/sandbox/registry/types.js';
import { type SampleRow, writeSample } from '../../src/sandbox/sample.js';
import { hardRows, isAlone } from './match/hard-rows.js';
import { guess } from './match/naive.js';
import {
  groupLines,
  isFalse,
  isRightlyAsked,
  isTakenForSomebody,
  type Judged,
  percent,
  scoreLine,
  sideLine,
} from './match/score.js';
import { type Setting, travel } from './match/world.js';
import { formatTable } from './table.js';

const count = Number(process.argv[2] ?? 20_000);
const seed = Number(process.argv[3] ?? 7);
const registry = createRegistry({ seed });
const rows = [...writeSample({ registry, rows: count, dirty: true })];
const harderRows = [...hardRows(registry, new Random(seed), Math.ceil(count / 50))];
console.log(`${rows.length} rows of the sampler and ${harderRows.length} harder ones, seed ${seed}`);
const hard = harderRows.filter((row) => !isAlone(row));
const alone = harderRows.filter(isAlone);

const misses: string[] = [];
for (const search of ['forgiving', 'exact'] as const) {
  const judged = await judge(rows, { registry, search });
  const searches = judged.reduce((sum, { ending }) => sum + ending.searches, 0) / judged.length;
  console.log(`\nA search that is ${search} (${searches.toFixed(2)} searches a row)\n`);
  console.log(formatTable([scoreLine('all', judged), ...groupLines(judged, ({ country }) => country)]));
  console.log(`\n${formatTable(groupLines(judged, ({ row }) => row.answer.damage))}`);
  console.log(
    `\n${formatTable([sideLine('v2', judged, 'v2', registry), sideLine('credit report', judged, 'credit', registry)])}`,
  );
  check(judged, search);

  const harder = await judge(hard, { registry, search });
  console.log(`\nHarder rows, ${search}\n\n${formatTable(groupLines(harder, ({ row }) => row.answer.damage))}`);
  check(harder, `${search}, harder rows`);
}

console.log('\nA number alone, by policy (match.confirm_number_alone)\n');
const lines = [];
for (const confirmNumberAlone of ['always', 'with_checksum', 'never'] as const) {
  const policy = { ...defaultMatchPolicy, confirmNumberAlone };
  const judged = await judge(alone, { registry, search: 'forgiving', policy });
  const right = judged.filter(({ row }) => row.answer.damage === 'number_alone');
  const wrong = judged.filter(({ row }) => row.answer.damage !== 'number_alone');
  lines.push({
    policy: confirmNumberAlone,
    'right numbers': String(right.length),
    'asked needlessly': percent(right.filter(({ ending }) => ending.kind === 'needs_review').length, right.length),
    'wrong numbers': String(wrong.length),
    'confirmed falsely': String(wrong.filter(isFalse).length),
  });
  // No program can distinguish a right number alone from a wrong one. The default trusts it, the others do not.
  check(confirmNumberAlone === 'always' ? right : wrong, `a number alone, ${confirmNumberAlone}`);
}
console.log(formatTable(lines));
console.log(misses.length === 0 ? '\nEvery target is met.' : `\nMissed:\n${misses.join('\n')}`);
process.exitCode = misses.length === 0 ? 0 : 1;

async function judge(sample: readonly SampleRow[], setting: Setting): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const row of sample) {
    const company = registry.byV1Id(row.answer.v1_company_id);
    judged.push({
      row,
      country: company?.countryCode ?? '(none meant)',
      ending: await travel(row.input, setting),
      naive: guess(row.input, registry, setting.search),
    });
  }
  return judged;
}

/**
 * The targets: no false confirmation, 97% of repairable rows confirmed, right review reasons, and no match for unknown
 * companies.
 */
function check(judged: readonly Judged[], search: SearchKind | string): void {
  const wrong = judged.filter(isFalse);
  for (const { row, ending } of wrong.slice(0, 5)) misses.push(`${search}: ${JSON.stringify({ ...row, ending })}`);
  if (wrong.length > 0) misses.push(`${search}: ${wrong.length} false confirmations`);
  const repairable = judged.filter(({ row }) => row.answer.expected === 'confirmed');
  const confirmed = repairable.filter(({ ending }) => ending.kind === 'confirmed').length;
  if (confirmed < 0.97 * repairable.length) {
    misses.push(`${search}: only ${percent(confirmed, repairable.length)} of repairable rows confirmed`);
  }
  const lost = judged.filter((one) => one.row.answer.expected === 'needs_review' && !isRightlyAsked(one));
  for (const { row, ending } of lost.slice(0, 5)) misses.push(`${search}: ${JSON.stringify({ ...row, ending })}`);
  if (lost.length > 0) misses.push(`${search}: ${lost.length} rows for people did not reach them for the right reason`);
  const taken = judged.filter(isTakenForSomebody);
  for (const { row, ending } of taken.slice(0, 5)) misses.push(`${search}: ${JSON.stringify({ ...row, ending })}`);
  if (taken.length > 0) misses.push(`${search}: ${taken.length} rows about nobody did not end without a company`);
}
