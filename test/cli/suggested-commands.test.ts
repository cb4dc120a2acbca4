import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withPlace } from '../../src/cli/terminal/text.js';
import type { Finished } from '../helpers/cli.js';
import { long } from '../helpers/long.js';
import { withJob } from './here.js';

const PLACE = ['--data-dir', 'books'];
const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', ...PLACE];

/**
 * Every suggested command: in backticks, after a colon, or on its own line. A command with a gap to fill is left out.
 */
const suggestedIn = ({ stdout, stderr }: Finished): readonly string[] =>
  [...`${stdout}\n${stderr}`.matchAll(/`(kybatch [a-z][^`]*)`|(?:: |^ +)(kybatch [a-z].*)$/gm)]
    .map(([, quoted, behind]) => quoted ?? behind ?? '')
    .filter((command) => !/<\w+| [A-Z]{2,}(?!\S)|--help|kybatch (?:run|review)( --data-dir books)?$/.test(command));

long('every suggested command can be pasted unchanged, for any place of the ledger', () =>
  withJob({ pipeline: ['stages: [record]'] }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const [first] = rows;
    writeCsv('in.csv', [
      ...rows.slice(0, 3),
      { name: first?.name, country: first?.country },
      { name: 'Nobody Nowhere' },
    ]);
    const said = new Set<string>();
    const hear = async (args: readonly string[]) => {
      for (const command of suggestedIn(await kybatch(args))) said.add(command);
    };
    await hear([...RUN, '--max-units', '5']);
    for (const args of [
      ['status'],
      ['usage'],
      ['runs'],
      ['portfolios'],
      ['charges'],
      ['doctor'],
      ['status', 'nothing'],
      ['resume', '--failed'],
    ])
      await hear([...args, ...PLACE]);
    await hear([...RUN]);
    await hear(['status', ...PLACE]);
    const kinds = new Set([...said].map((command) => command.split(' ')[1]));
    for (const kind of ['resume', 'review', 'runs', 'plan']) expect(kinds).toContain(kind);
    for (const command of said) {
      expect(command).toContain('--data-dir books');
      const { code, stderr } = await kybatch([
        ...command.split(' ').slice(1),
        ...(/resume|retry/.test(command) ? ['--yes'] : []),
      ]);
      // Nothing may be left to do, but the command is valid.
      expect([0, 3, 4], `${command}: ${stderr}`).toContain(code);
    }
    expect(existsSync(join(cwd, 'data'))).toBe(false);
  }),
);

test('a command gets the place once, other text does not', () => {
  const place = " --data-dir 'my books'";
  expect(withPlace('`kybatch runs` lists them', place)).toBe("`kybatch runs --data-dir 'my books'` lists them");
  expect(withPlace('`kybatch runs --data-dir x`, `kybatch run --help`, `kybatch --help`, `errors`', place)).toBe(
    '`kybatch runs --data-dir x`, `kybatch run --help`, `kybatch --help`, `errors`',
  );
  expect(withPlace('  kybatch charges 6    # free\nNext: kybatch resume r', ' --data-dir d')).toBe(
    '  kybatch charges 6 --data-dir d    # free\nNext: kybatch resume r --data-dir d',
  );
  expect(withPlace('kybatch run=1\nNote: kybatch decides', ' --data-dir d')).not.toContain('--data-dir');
  expect(withPlace('`kybatch runs`', '')).toBe('`kybatch runs`');
});

test('suggested commands read the list as the last run did', () =>
  withJob({ pipeline: ['stages: [record]'] }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', [...rows.slice(0, 2), { name: 'Nobody Nowhere' }]);
    const run = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes'];
    await kybatch([...run, '--map', 'name=name']);
    await kybatch([...run, '--encoding', 'utf-8']);
    const { stdout } = await kybatch(['status']);
    expect(stdout).toContain('--encoding utf-8');
    expect(stdout).not.toContain('--map');
    expect((await kybatch(['report', '--portfolio', 'in', '--out', 'r.html'])).code).toBe(0);
    expect((await kybatch(['export', '--portfolio', 'other'])).code).toBe(2);
  }));

test('if most rows lack a country, plan suggests one', () =>
  withJob({ pipeline: ['stages: [record]'] }, async ({ rows, writeCsv, kybatch }) => {
    writeCsv('in.csv', [...rows.slice(0, 1), { name: 'Nobody Nowhere' }, { name: 'No One GmbH' }]);
    const { stdout } = await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml']);
    expect(stdout).toContain('kybatch plan in.csv --pipeline ./p.yaml --country CC');
    expect(stdout).not.toContain('kybatch run in.csv');
  }));
