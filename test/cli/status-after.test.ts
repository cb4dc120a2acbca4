/** @module-tag long */
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/index.js';
import { shortRun } from '../../src/util/words.js';
import { type EndJson, Interrupts, jsonOf, rowsCounted, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--data-dir', 'books'];

interface StatusJson {
  readonly run: string;
  readonly rows: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly next: string;
  readonly process: { readonly alive: boolean; readonly interrupted: boolean | null; readonly rows_settled: number };
}

/** Acts once this many records were requested. */
function afterRecords(sandbox: Sandbox, records: number, act: () => void): void {
  let asked = 0;
  sandbox.script((request) => {
    if (request.operation === 'fullKyb') asked += 1;
    if (asked === records) act();
    return false;
  }, 'none');
}

describe('status shows finished rows, remaining rows and the next command', () => {
  test.each([
    ['after an interrupt', 1, [], 130],
    ['after a second one, which stops at once', 2, [], 130],
    ['after a limit is used up', 0, ['--max-units', '7'], 4],
  ])('%s', async (_, signals, flags, code) => {
    await withJob({}, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 12));
      const interrupts = new Interrupts();
      afterRecords(sandbox, 4, () => {
        for (let sent = 0; sent < signals; sent++) interrupts.send('SIGINT');
      });
      const end = await kybatch([...RUN, ...flags, '--concurrency', '1'], { interrupts });
      expect(end.code).toBe(code);
      const { outcomes } = jsonOf<EndJson>(end);
      const { complete = 0, pending = 0 } = outcomes;
      expect(complete).toBeGreaterThan(0);
      expect(complete).toBeLessThan(12);

      const told = jsonOf<StatusJson>(await kybatch(['status', '--json', '--data-dir', 'books']));
      expect(told).toMatchObject({ rows: 12, outcomes, process: { alive: false, rows_settled: complete } });
      expect(told.process.interrupted).toBe(signals > 0);
      const status = await kybatch(['status', '--data-dir', 'books']);
      const { stdout, textOf, codes } = status;
      expect(rowsCounted(status)).toEqual([complete, pending, 12]);
      expect(textOf('SPEED')).toMatch(new RegExp(` ${complete} row`));
      expect(codes.at(-1)).toBe('RESUME_NEXT');
      expect(stdout.trimEnd().split('\n').at(-1)).toBe(`    ${told.next.replace(told.run, shortRun(told.run))}`);
      const words = told.next.split(' ').slice(1);
      // The suggested limit is the given one, so several attempts may be needed.
      let finished = false;
      for (let starts = 0; starts < 6 && !finished; starts++)
        ({ finished } = jsonOf<EndJson & { finished: boolean }>(await kybatch([...words, '--yes', '--json'])));
      expect(finished).toBe(true);
      expect((await kybatch(['status', '--data-dir', 'books'])).codes).not.toContain('ROWS_LEFT');
    });
  });
});
