import type { ReadingOptions } from '../../../src/app/run/plan.js';
import { readReadingFlags } from '../../../src/cli/run-flags.js';

/** The options of the flags that a person adds to a command. */
export function optionsOf(flags: readonly string[]): ReadingOptions {
  const one = (flag: string) => (flags.includes(flag) ? flags[flags.indexOf(flag) + 1] : undefined);
  const map = flags.filter((_, index) => flags[index - 1] === '--map');
  const headerLine = one('--header-line');
  const said = readReadingFlags({
    map: map.length === 0 ? undefined : map,
    country: one('--country'),
    encoding: one('--encoding'),
    delimiter: one('--delimiter'),
    sheet: one('--sheet'),
    headerLine: headerLine === undefined ? undefined : Number(headerLine),
  });
  return said ?? {};
}
