import { describe, expect, test } from 'vitest';
import { withCurrentNames } from '../../src/cli/command-list.js';

describe('names of earlier versions', () => {
  test.each([
    ['doubt', 'charges'],
    ['doubt charged 7 --note x', 'charges charged 7 --note x'],
    ['--data-dir books doubt', '--data-dir books charges'],
    ['--data-dir doubt runs', '--data-dir doubt runs'],
    ['migrate --grant r', 'ledger migrate --grant r'],
    ['purge --entity GB:1', 'erase --entity GB:1'],
    ['retry', 'resume --failed'],
    ['retry 4331d2 --yes', 'resume --failed 4331d2 --yes'],
    ['work --once', 'worker --once'],
    ['run a.csv --budget 5', 'run a.csv --max-units 5'],
    ['run a.csv --budget=5 --fresh', 'run a.csv --max-units=5 --rebuy'],
    ['run a.csv --no-fresh', 'run a.csv --no-rebuy'],
    ['call v1 liteKyb --fresh', 'call v1 liteKyb --rebuy'],
    ['prune --run 4331d2 --yes', 'runs delete 4331d2 --yes'],
    ['--json prune --yes --run=4331d2', '--json runs delete 4331d2 --yes'],
    ['prune --portfolio clients --sandbox', 'portfolios delete clients --sandbox'],
    ['prune --run', 'prune --run'],
    ['prune --older-than 90d', 'prune --older-than 90d'],
    ['run budget --freshness', 'run budget --freshness'],
  ])('%s is %s', (given, current) => {
    expect(withCurrentNames(given.split(' '))).toEqual(current.split(' '));
  });
});
