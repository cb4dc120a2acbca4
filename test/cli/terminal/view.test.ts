import { describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/command-list.js';
import { guarded, type Outside } from '../../../src/cli/terminal/io.js';
import { asCalled, withRelativePaths } from '../../../src/cli/terminal/text.js';
import { block, commandLine, countLines, labelLines, marked, view, wrapped } from '../../../src/cli/terminal/view.js';
import { systemClock } from '../../../src/util/clock.js';
import { ExactNumber } from '../../../src/util/exact-json.js';
import { type MessageCode, message } from '../../../src/util/message-parts.js';
import { pick, toJson, verbatim } from '../../../src/util/view-json.js';
import { listed, shortRun } from '../../../src/util/words.js';

describe('a view', () => {
  test('leaves empty parts out, in messages, lines and lists', () => {
    const [first, second] = [message('FIRST', 'one'), message('SECOND', 'two')];
    expect(view(first, false, null, [undefined, [second]])).toEqual([first, second]);
    expect(block('BLOCK', '', 'one', false, ['two', [null]]).text).toBe('\none\ntwo');
    expect(listed(['one', '', undefined, 'two'])).toBe('one, two');
  });

  test('has counts to the right, labelled lines and indented commands, without zeros', () => {
    expect(countLines([[1740, 'complete'], [0, 'failed'], false, [7, 'invalid', 'kybatch plan a.csv']])).toEqual([
      '  1,740  complete',
      '      7  invalid   kybatch plan a.csv',
    ]);
    expect(
      labelLines([
        ['Spent', ['3 units', false, '1 report']],
        ['Left', null],
        ['Results', 'a.xlsx'],
      ]),
    ).toEqual(['  Spent     3 units', '            1 report', '  Results   a.xlsx']);
    expect(marked('DONE', 'attention', 'Stopped', commandLine('kybatch resume'))).toEqual(
      message('DONE', '! Stopped\n    kybatch resume', 'attention'),
    );
  });

  test('becomes JSON in snake_case with times in ISO 8601', () => {
    const json = toJson({
      unitsCharged: 3,
      createdAt: 0,
      parkedUntil: null,
      leftOut: undefined,
      byStage: { 'credit-report': [{ nextTryAt: 1000 }], needs_review: 1, 'of 3 rows': 2 },
      exact: new ExactNumber('1.10'),
      body: verbatim({ fiscalYear: 2020, at: { createdAt: 5 } }),
    });
    expect(json).toEqual({
      units_charged: 3,
      created_at: '1970-01-01T00:00:00.000Z',
      parked_until: null,
      by_stage: { 'credit-report': [{ next_try_at: '1970-01-01T00:00:01.000Z' }], needs_review: 1, 'of 3 rows': 2 },
      exact: new ExactNumber('1.10'),
      body: { fiscalYear: 2020, at: { createdAt: 5 } },
    });
    expect(Object.keys(json as object)).not.toContain('left_out');
    expect(pick({ a: 1, b: 2, c: 3 }, 'c', 'a')).toEqual({ c: 3, a: 1 });
  });
});

describe('lines for people', () => {
  test.each([
    ['a sentence continues after two spaces', 'one two three four', 'one two\n  three\n  four'],
    ['an indented line continues below its beginning', '    one two three', '    one\n    two\n    three'],
    ['a figure and its unit continue below the words', '  12  one two three', '  12  one\n      two\n      three'],
    ['a line of a table stays', 'one  two  three  four', 'one  two  three  four'],
    ['a command stays whole', 'Go on with: kybatch run a.csv --yes', 'Go on\n  with:\n  kybatch run a.csv --yes'],
    ['a command in backticks stays whole', 'See `kybatch charges --all`.', 'See\n  `kybatch charges --all`.'],
    ['empty lines stay', '\none two three', '\none two\n  three'],
  ])('%s', (_, text, shown) => {
    expect(wrapped(text, 9)).toBe(shown);
  });

  test('wrap a sentence with two spaces in it at its own indent', () => {
    const sentence = 'one two three four five six seven  eight nine ten';
    expect(wrapped(`  ${sentence}`, 40)).toBe('  one two three four five six seven\n  eight nine ten');
    expect(wrapped(sentence, 40)).toBe('one two three four five six seven eight\n  nine ten');
  });

  test('wrap the last cell of a table below its beginning if there is room', () => {
    expect(wrapped('  line 3  deadline  one two three four five six', 44)).toBe(
      '  line 3  deadline  one two three four five\n                    six',
    );
  });

  const printedTo = (
    screens: Outside['screens'],
    env: Outside['env'],
    text = 'one two\u001b[31m three',
    code: MessageCode = 'DONE',
  ): string => {
    let printed = '';
    const take = (text: string) => {
      printed += text;
    };
    const plain = { env, cwd: '/', clock: systemClock, interactive: false, columns: 10, onInterrupt: () => () => {} };
    const io = guarded(
      { ...plain, stdout: take, stderr: take, screens },
      { quiet: false, plain: false, json: false, place: '' },
    );
    io.say(message(code, text, 'done'), 'stdout');
    return printed;
  };

  test('are wrapped at 80 columns on a pipe, except a command and a line that programs read', () => {
    const pipe = { stdout: false, stderr: false };
    const sentence = 'word '.repeat(40).trimEnd();
    const lines = printedTo(pipe, {}, `${sentence}\n    kybatch run ${sentence}`).split('\n');
    expect(lines.slice(0, -2).map(({ length }) => length)).toEqual([79, 76, 46]);
    expect(lines.at(-2)).toBe(`    kybatch run ${sentence}`);
    // Not every line that begins with the name is a command.
    expect(printedTo(pipe, {}, `Note: kybatch ${sentence}`)).toMatch(/^(?:.{1,80}\n)+$/);
    expect(printedTo(pipe, {}, sentence, 'CHECK_NOT_WELL')).toBe(`${sentence}\n`);
  });

  test('are coloured by state unless NO_COLOR is set, and no outside text controls the terminal', () => {
    const screen = { stdout: true, stderr: true };
    expect(printedTo(screen, {})).toBe('\u001b[32mone\n  two\\u001b[31m\n  three\u001b[0m\n');
    expect(printedTo(screen, { NO_COLOR: '1' })).not.toContain('\u001b');
    expect(printedTo({ stdout: false, stderr: true }, {})).toMatch(/^one two\S+ three\n$/);
    expect(printedTo(screen, { TERM: 'dumb' })).not.toContain('\u001b');
    expect(printedTo(undefined, {})).not.toContain('\u001b');
  });

  test('are coloured in the first line alone', () => {
    expect(printedTo({ stdout: true, stderr: true }, {}, '✓ Done\n  3')).toBe('\u001b[32m✓ Done\u001b[0m\n  3\n');
  });

  test('name paths from the working directory', () => {
    const said = (text: string) => withRelativePaths(text, '/home/ann');
    expect(said("Read /home/ann/a.csv, '/home/ann/b c.csv' (/home/ann/d)")).toBe("Read a.csv, 'b c.csv' (d)");
    const kept = 'in /home/ann, /srv/home/ann/a.csv, /home/ann/-a.csv, /home/anna/b';
    expect(said(kept)).toBe(kept);
    expect(withRelativePaths('/a.csv', '/')).toBe('/a.csv');
    expect(shortRun('2026-11-17-4331d2')).toBe('4331d2');
  });
});

test('commands name the program as the user called it', () => {
  const text =
    'Next: `kybatch run a.csv`\n    kybatch resume 4331d2\nkybatch run=2026 exit=0, kybatch reads data/kybatch.db';
  expect(asCalled(text, 'kybatch')).toBe(text);
  const called = asCalled(text, 'npx kybatch');
  expect(called).toBe(
    'Next: `npx kybatch run a.csv`\n    npx kybatch resume 4331d2\nkybatch run=2026 exit=0, kybatch reads data/kybatch.db',
  );
  expect(asCalled(called, 'npx kybatch')).toBe(called);
  for (const name of Object.keys(commands))
    expect(asCalled(`kybatch ${name} x`, 'npx kybatch')).toBe(`npx kybatch ${name} x`);
});
