import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('sandbox/'))
  .map((file) => ({ file, text: readFileSync(join(root, 'src', file), 'utf8') }));
const architecture = readFileSync(join(root, 'docs/developers/architecture.md'), 'utf8');

const filesWith = (pattern: RegExp) => sources.filter(({ text }) => pattern.test(text)).map(({ file }) => file);

interface Decider {
  readonly file: string;
  readonly name: string;
  readonly callers: readonly string[];
  /** A pattern of code that would decide it again, and the files that may have it. */
  readonly again: RegExp;
  readonly allowed: readonly string[];
}

const DECIDERS: readonly Decider[] = [
  {
    file: 'domain/freshness.ts',
    name: 'reusableSince',
    callers: ['app/provider/call.ts', 'app/provider/direct-calls.ts', 'engine/stage-contexts.ts'],
    again: /(?:now|now\(\)) - \w*[fF]reshMs|\+ \w*[fF]reshMs/,
    allowed: ['domain/freshness.ts'],
  },
  {
    file: 'calls/request.ts',
    name: 'findStored',
    callers: ['calls/door.ts', 'engine/row-cost.ts'],
    again: /\.findAnswer\(/,
    // The door computes the digest of an answer that it has just bought. A tool of the MCP server has no operation.
    allowed: ['app/provider/call.ts', 'calls/door.ts', 'calls/request.ts'],
  },
  {
    file: 'api/answer.ts',
    name: 'eachPage',
    callers: ['api/client.ts', 'portfolio/watch/sync.ts', 'stages/pages.ts', 'stages/report-history.ts'],
    again: /\bpage(?:\+\+| \+= 1)/,
    allowed: ['api/answer.ts'],
  },
  {
    file: 'app/provider/direct-calls.ts',
    name: 'withDirectDoors',
    callers: ['app/provider/call.ts'],
    again: /new Door\(/,
    allowed: ['app/provider/direct-calls.ts', 'engine/run.ts'],
  },
  {
    file: 'engine/row-cost.ts',
    name: 'RowCosts',
    callers: ['engine/plan.ts'],
    again: /\baddCalls\(|new StoredAnswersOnly\(/,
    // The first finds free searches. The second adds up past purchases.
    allowed: ['app/portfolio/look-up.ts', 'domain/prices.ts', 'engine/row-cost.ts'],
  },
  {
    file: 'engine/plan.ts',
    name: 'planRun',
    callers: ['app/portfolio/portfolios.ts', 'app/run/plan.ts', 'app/run/spending.ts'],
    again: /new RowCosts\(|maximumCostOfRows\((?!1,)/,
    allowed: ['engine/plan.ts', 'engine/row-cost.ts'],
  },
  {
    file: 'calls/outage.ts',
    name: 'decideOnEvent',
    callers: ['calls/reactions.ts'],
    again: /code: PROVIDER_UNAVAILABLE|\blastAnswered\b|\bisGivenUp\b/,
    allowed: ['calls/outage.ts'],
  },
  {
    file: 'engine/row-source.ts',
    name: 'RowSource',
    callers: ['engine/queue.ts', 'engine/run.ts'],
    again: /implements RowSource/,
    allowed: ['engine/row-source.ts'],
  },
  {
    file: 'app/run/progress.ts',
    name: 'stateOfRun',
    callers: ['app/monitoring/check.ts', 'app/monitoring/figures.ts', 'app/run/status.ts'],
    again: /reading\.atWork\(/,
    allowed: ['app/run/progress.ts'],
  },
  {
    file: 'app/review/unknown-charges.ts',
    name: 'withResendState',
    callers: ['app/monitoring/figures.ts'],
    again: /unknownCharges\.list\(/,
    allowed: ['app/monitoring/figures.ts', 'app/review/unknown-charges.ts'],
  },
  {
    file: 'ledger/answers/visible-answer.ts',
    name: 'IS_VISIBLE',
    callers: ['ledger/portfolio/change-store.ts'],
    again: /\b(?:FROM|JOIN) verdicts\b/,
    // The second finds data to compare again after a decision.
    allowed: ['ledger/answers/visible-answer.ts', 'ledger/review/review-store.ts'],
  },
  {
    file: 'ledger/erase/erase-company.ts',
    name: 'PLACES',
    callers: [],
    again: /DELETE FROM \w+ WHERE \(space, id\)/,
    allowed: [],
  },
];

describe.each(DECIDERS)('$name in $file', ({ file, name, callers, again, allowed }) => {
  test('is exported, and the architecture names it', () => {
    expect(filesWith(new RegExp(`export (?:async )?(?:function\\*?|const|interface|class) ${name}\\b`))).toEqual([
      file,
    ]);
    expect(architecture).toContain(`\`${file}\``);
  });

  test('is imported by its callers', () => {
    const users = filesWith(new RegExp(`import [^;]*\\b${name}\\b[^;]*from`));
    expect(users).toEqual(expect.arrayContaining([...callers]));
  });

  test('is decided nowhere else', () => {
    expect(filesWith(again).sort()).toEqual([...allowed]);
  });
});
