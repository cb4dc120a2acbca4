/**
 * How well kybatch reads lists that people make: `npm run bench:input [part of a name]`. The exit code is 1 if a file
 * is misread without a note, if a wrong company is confirmed, or if reading is too slow.
 */
import { readCorpus } from './input/corpus/read-corpus.js';
import { type Judgement, judge, VERDICTS } from './input/judge.js';
import { look } from './input/look.js';
import { type Planned, planned } from './input/plans.js';
import { readSpeed } from './input/read-speed.js';
import { runAll } from './input/runs.js';
import { formatTable } from './table.js';

const [only = ''] = process.argv.slice(2);
const corpus = readCorpus().filter(({ name }) => name.includes(only));
const misses: string[] = [];

const judged: (Judgement & { readonly name: string })[] = [];
for (const { name, path, expected } of corpus) {
  const plan = await planned(path);
  const asItIs = await look(path);
  const answered = expected.answer && (await look(path, expected.answer));
  const reading = judge(expected, { asItIs, answered, printed: plan.printed });
  judged.push({ name, ...(planFault(plan, asItIs) ?? reading) });
}
console.log(`${corpus.length} files\n`);
console.log(formatTable(VERDICTS.map((verdict) => ({ verdict, files: String(ofVerdict(verdict).length) }))));
for (const { name, verdict, why } of judged)
  if (verdict !== 'right' && verdict !== 'asked') console.log(`\n${name}: ${verdict}\n  ${why}`);
const asked = ofVerdict('asked').map(({ name }) => name);
if (asked.length > 0) console.log(`\nAsked about, though it could be known: ${asked.join(', ')}`);
if (ofVerdict('wrong').length > 0) misses.push(`${ofVerdict('wrong').length} files are silently read wrongly`);

const runs = await runAll(corpus);
const total = (of: (run: (typeof runs)[number]) => number) => runs.reduce((sum, run) => sum + of(run), 0);
console.log(
  `\n${runs.length} files run on the sandbox: ${total(({ rows }) => rows)} rows, ${total(({ confirmed }) => confirmed)} confirmed\n`,
);
for (const { name, confirmed, wanted, wrong, outcomes, refused } of runs) {
  if (refused !== undefined) console.log(`${name}: refused: ${refused}`);
  else if (confirmed < wanted) console.log(`${name}: ${confirmed} of ${wanted} confirmed; ${JSON.stringify(outcomes)}`);
  for (const who of wrong) misses.push(`${name}: falsely confirmed: ${who}`);
}
console.log(`false confirmations: ${total(({ wrong }) => wrong.length)}`);

if (only === '') {
  const { rows, missed } = await readSpeed();
  console.log(`\n${formatTable(rows)}`);
  misses.push(...missed);
}
console.log(misses.length === 0 ? '\nEvery target is met.' : `\nMissed:\n${misses.join('\n')}`);
process.exitCode = misses.length === 0 ? 0 : 1;

function ofVerdict(verdict: string) {
  return judged.filter((one) => one.verdict === verdict);
}

/** The shown columns must be the read columns. */
function planFault({ code, columns, printed }: Planned, seen: Awaited<ReturnType<typeof look>>): Judgement | undefined {
  const refused = 'refused' in seen;
  if (refused !== (code === 2))
    return {
      verdict: 'wrong',
      why: `plan ends with ${code}, reading ${refused ? 'refuses' : 'does not'}: ${printed.slice(0, 300)}`,
    };
  if (refused || columns === undefined) return undefined;
  const shown = inOneLine(columns);
  const read = inOneLine(seen.columns);
  return shown === read ? undefined : { verdict: 'wrong', why: `plan shows ${shown}, read is ${read}` };
}

/** Line breaks in headers are shown as spaces. */
function inOneLine(columns: object): string {
  const entries = Object.entries(columns).map(
    ([field, header]) => `${field}=${String(header).replace(/\s+/g, ' ').trim()}`,
  );
  return entries.sort().join(', ');
}
