import { describe, expect, test } from 'vitest';
import { appEnvironment } from '../../../src/cli/terminal/io.js';
import { barLine, progressParts, type Reached, SmoothedRest } from '../../../src/cli/terminal/progress.js';
import { fitLine } from '../../../src/cli/terminal/text.js';
import { ManualClock } from '../../../src/util/clock.js';
import { terminalOf } from './terminal-of.js';

const LARGE: Reached = {
  settled: 123_456,
  total: 400_000,
  rowsPerSecond: 14.2,
  units: 246_912,
  unitsLeft: 1_753_088,
  reports: 12_345,
  awaited: 1_234,
  looks: 0,
  lookUntil: 0,
  parked: 17,
  failed: 3,
  msToGo: 12_000_000,
};

const drawn = (columns: number, reached: Reached): string =>
  barLine(reached.settled, reached.total, progressParts(reached), columns);

describe('the bar', () => {
  test.each([60, 80, 100, 140])(
    'fits %i columns, and keeps the remaining time and the reports that are awaited',
    (columns) => {
      const line = drawn(columns, LARGE);
      expect(line.length).toBeLessThan(columns);
      expect(line).toMatch(columns < 70 ? /^30% / : /^[█░]{10,20} 30% /);
      expect(line).toMatch(/ 123,456\D+400,000\b/);
      expect(line).toContain('3 h 20 min');
      expect(line).toContain(' 1,234 ');
    },
  );

  test('shows everything if there is room', () => {
    const figures = ['123,456', '400,000', '14.2', '246,912', '1,753,088', '12,345', '1,234', '17', '3', '3', '20'];
    expect(drawn(200, LARGE).match(/\d[\d,.]*\d|\d/g)).toEqual(['30', ...figures]);
  });
});

test('a line drops its least important part first', () => {
  const parts = [
    { text: 'first of all', short: 'first', rank: 1 },
    { text: 'by the way', rank: 9 },
    { text: 'the end of it', short: 'end', rank: 0 },
  ];
  expect(fitLine(parts, 40)).toBe('first of all, by the way, the end of it');
  expect(fitLine(parts, 38)).toBe('first, by the way, end');
  expect(fitLine(parts, 12)).toBe('first, end');
  expect(fitLine(parts, 4)).toBe('end');
  expect(fitLine(parts, 2)).toBe('en');
  expect(fitLine(parts, -3)).toBe('');
});

test('the remaining time is shown after a tenth or 20 s, and follows a change of speed slowly', () => {
  const early = new SmoothedRest(0);
  expect(early.msLeft(1_000, 0.09, 700_000)).toBeNull();
  expect(early.msLeft(1_000, 0.1, 30_000)).toBe(30_000);
  const rest = new SmoothedRest(0);
  expect(rest.msLeft(19_999, 0.01, 700_000)).toBeNull();
  expect(rest.msLeft(20_000, 0.01, 60_000)).toBe(60_000);
  // A pause makes the plain estimate ten times as long within a second.
  expect(rest.msLeft(21_000, 0.01, 600_000)).toBeLessThan(120_000);
  expect(rest.msLeft(22_000, 0.02, null)).toBeNull();
  for (let now = 23_000; now <= 82_000; now += 1_000) rest.msLeft(now, 0.5, 90_000 - now);
  expect(rest.msLeft(83_000, 0.9, 7_000)).toBeLessThan(10_000);
  expect(rest.msLeft(200_000, 0.99, 1)).toBe(1_000);
});

describe('planning that takes long', () => {
  test('is a line that is drawn again on a terminal, and gone at the end', () => {
    const clock = new ManualClock();
    const { io, printed } = terminalOf({ columns: 40, clock });
    const { onReading } = appEnvironment(io);
    onReading?.({ rows: 10, share: 0.001 });
    expect(printed()).toBe('');
    clock.advance(10_000);
    onReading?.({ rows: 120_000, share: 0.25 });
    onReading?.({ rows: 120_001, share: 0.25 });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these control a terminal.
    expect(printed()).toMatch(/^\r.* 120,000 .* 25%.*\u001b\[K$/);
    expect(printed()).toHaveLength(1 + 39 + 3);
    onReading?.(null);
    expect(printed().endsWith('\u001b[K\r\u001b[K')).toBe(true);
  });

  test('estimates the remaining time of each reading separately', () => {
    const clock = new ManualClock();
    const { io, printed } = terminalOf({ columns: 80, clock });
    const { onReading } = appEnvironment(io);
    onReading?.({ rows: 1_000, share: 0.5 });
    clock.advance(60_000);
    onReading?.(null);
    onReading?.({ rows: 1_000, share: 0.01 });
    clock.advance(1_000);
    onReading?.({ rows: 50_000, share: 0.5 });
    expect(printed().split('\r').at(-1)).toMatch(/ 50,000 .* 50%, .* 1 s /);
  });

  test('prints a line after 10 s and every 30 s without a terminal, and none if it is short', () => {
    const clock = new ManualClock();
    const { io, printed } = terminalOf({ clock, interactive: false });
    const { onReading } = appEnvironment(io);
    for (let second = 0; second < 75; second++, clock.advance(1_000))
      onReading?.({ rows: second * 1_000, share: second / 100 });
    onReading?.(null);
    expect(printed().split('\n')).toEqual([
      expect.stringMatching(/ 10,000 .* 10%, .* 1 min 30 s /),
      expect.stringMatching(/ 40,000 .* 40%, .* 1 min 0 s /),
      expect.stringMatching(/ 70,000 .* 70%, .* 30 s /),
      '',
    ]);
  });

  test('shows no share if the size is unknown', () => {
    const clock = new ManualClock();
    const { io, printed } = terminalOf({ clock, interactive: false });
    const { onReading } = appEnvironment(io);
    clock.advance(10_000);
    onReading?.({ rows: 1, share: null });
    expect(printed()).toMatch(/^[^\n%\d]* 1 [^\n%\d]*\n$/);
  });
});
