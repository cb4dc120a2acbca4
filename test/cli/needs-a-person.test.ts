import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { shortRun } from '../../src/util/words.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { aRecord, type EndJson, Interrupts, type Job, jsonOf, rowsCounted, withJob } from './here.js';

type Row = Job['rows'][number];

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--json', '--yes', '--concurrency', '1'];
const PARKS = { pipeline: ['stages: [record]', 'lost_answers: hold'] };

interface Standing extends EndJson {
  readonly further: readonly string[];
}

describe('rows that need a person', () => {
  long.each([
    [
      'continues in the same attempt',
      'not',
      'resetBefore',
      { finished: true, outcomes: { complete: 3 }, parked: {} },
      0,
    ],
    ['stays on hold', '', 'lostAnswer', { finished: false, outcomes: { complete: 2 }, parked: { in_doubt: 1 } }, 3],
  ] as const)('a row %s if the remaining units show that its lost call was %s charged', async (...given) => {
    const [, , fault, end, code] = given;
    const clock = new JumpingClock();
    await withJob({ ...PARKS, clock }, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 3));
      sandbox.script({ operation: 'fullKyb' }, ['none', fault]);
      // The lost record may have taken the second unit, so the others wait for another attempt.
      const first = await kybatch([...RUN, '--max-units', '2']);
      expect(first.code).toBe(4);
      expect(first.codes).toContain('ROWS_WAIT_FOR_IN_DOUBT');
      clock.advance(31_000);
      const second = await kybatch(['resume', '--yes', '--json']);
      expect(jsonOf<EndJson>(second)).toMatchObject(end);
      expect(second.code).toBe(code);
    });
  });

  long('calls given up at a second interrupt are named, and the next command is not resume', async () => {
    await withJob(PARKS, async ({ rows, writeCsv, kybatch, sandbox }) => {
      writeCsv('in.csv', rows.slice(0, 1));
      const interrupts = new Interrupts();
      sandbox.script(
        (request) => {
          if (!aRecord(request)) return false;
          for (const _ of ['first', 'second']) setImmediate(() => interrupts.send('SIGINT'));
          return true;
        },
        { latencyMs: 60_000 },
      );
      const end = await kybatch(RUN, { interrupts });
      expect(end.code).toBe(130);
      expect(jsonOf<Standing>(end)).toMatchObject({ parked: { in_doubt: 1 }, next: 'kybatch charges' });
      expect(jsonOf<Standing>(await kybatch(['status', '--json']))).toMatchObject({
        parked: { in_doubt: 1 },
        next: 'kybatch charges',
      });
      // The message was right.
      expect((await kybatch(['resume', '--yes'])).code).toBe(3);
    });
  });

  long('every kind of row that needs a person is named with its command and data directory', async () => {
    await withJob(PARKS, async ({ rows, writeCsv, kybatch, sandbox }) => {
      const [first, second, third, fourth] = rows.slice(0, 4) as [Row, Row, Row, Row];
      writeCsv('in.csv', [first, { ...second, country: 'Nowhere' }, third, fourth]);
      sandbox.script({ operation: 'fullKyb' }, ['none', 400, 'none', 'lostAnswer']);
      const place = ['--data-dir', 'books'];
      const end = await kybatch([...RUN, ...place]);
      expect(end.code).toBe(3);
      const { run, next, further } = jsonOf<Standing>(end);
      expect(next).toBe('kybatch charges --data-dir books');
      expect(further).toEqual([
        `kybatch resume --failed ${run} --data-dir books --concurrency 1 --yes`,
        expect.stringMatching(/^kybatch plan .*in\.csv .*--data-dir books$/),
      ]);
      for (const command of [next ?? '', further[0] ?? ''])
        expect(end.stderr).toContain(` ${command.replace(run, shortRun(run))}\n`);
      expect(end.textOf('ROWS_WAIT_FOR_IN_DOUBT')).toMatch(/^\n! 1 /);
      const status = await kybatch(['status', ...place]);
      expect(status.stdout).toContain(` kybatch resume --failed ${shortRun(run)} --data-dir books --yes\n`);
      expect(status.textOf('ROWS_WAIT_FOR_IN_DOUBT')).toMatch(/^\n! 1 /);
    });
  });

  test('a limit stops rows that have begun and rows that have not', async () => {
    await withJob({}, async ({ rows, writeCsv, kybatch }) => {
      writeCsv('in.csv', rows.slice(0, 6));
      const end = await kybatch([...RUN, '--max-units', '2']);
      const { parked, outcomes } = jsonOf<EndJson>(end);
      const toDo = (outcomes.pending ?? 0) - (parked.budget ?? 0);
      expect(toDo).toBeGreaterThan(1);
      expect(end.codes).toContain('ROWS_WAIT_FOR_BUDGET');
      expect(rowsCounted(end)).toEqual([outcomes.complete ?? 0, outcomes.pending, 6].filter((rows) => rows !== 0));
    });
  });
});

const CHECK = ['status', '--check', '--json'];

/** A name alone is never enough, so the row needs review. */
const inQuestion = (row: object) => ({ ...row, registration_number: '', vat_number: '' });

const wordsOf = (command: string | undefined) => (command ?? '').split(' ').slice(1);

long('the command to answer the questions covers those of the list in any run, and no others', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async ({ rows, writeCsv, kybatch, cwd }) => {
    const [one, two, three] = rows.map(inQuestion) as [object, object, object];
    const list = async (name: string, ...records: object[]) => {
      writeCsv(name, records);
      return jsonOf<EndJson>(await kybatch(RUN.map((word) => (word === 'in.csv' ? name : word))));
    };
    const alone = await list('in.csv', one);
    expect(alone.next).toBe(`kybatch review export ${alone.run}`);
    await list('other.csv', three);
    clock.advance(60_000);
    const { next } = await list('in.csv', one, two);
    expect(next).toBe(`kybatch review export --portfolio ${join(cwd, 'in.csv')}`);
    expect(jsonOf<EndJson>(await kybatch([...CHECK, '--portfolio', 'in.csv'])).next).toBe(next);

    const listed = await kybatch(['review', 'list', '--portfolio', 'in.csv', '--json']);
    expect(jsonOf<{ questions: object[] }>(listed).questions).toHaveLength(2);
    expect(listed.stderr).toContain('kybatch review export --portfolio in.csv\n');
    expect((await kybatch(['review', 'list', alone.run, '--portfolio', 'in.csv'])).code).toBe(2);
    expect((await kybatch(['review', 'list', '--portfolio', 'nobody'])).code).toBe(2);

    const exported = await kybatch(wordsOf(next));
    expect(exported).toMatchObject({ code: 0, codes: ['QUESTIONS_WRITTEN', 'REVIEW_APPLY_NEXT'] });
    expect(exported.textOf('REVIEW_APPLY_NEXT')).toMatch(/ none_of_these .* not_sure\b/s);
    const sheet = readFileSync(join(cwd, 'review.csv'), 'utf8');
    expect(new Set(sheet.match(/Q-[0-9a-f]+/g))).toHaveProperty('size', 2);

    // A sheet with answers is not overwritten by any command that suggests next steps.
    const apply = 'kybatch review apply review.csv';
    expect((await list('in.csv', one, two)).next).toBe(apply);
    expect(jsonOf<EndJson>(await kybatch([...CHECK, '--portfolio', 'in.csv'])).next).toBe(apply);
    const elsewhere = jsonOf<EndJson>(await kybatch([...CHECK, '--portfolio', 'other.csv']));
    expect(elsewhere.next).toMatch(/^kybatch review export \S+ --out review-\S+\.csv$/);
  });
});
