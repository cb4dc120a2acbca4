/** @module-tag long */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decideAll } from '../app/nights.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { type EndJson, type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--concurrency', '1'];
const CHECK = ['status', '--check'];

/** A name alone is never enough, so the row needs review. */
const inQuestion = (row: object) => ({ ...row, registration_number: '', vat_number: '' });

const nextOf = async ({ kybatch }: Job, args: readonly string[]) => jsonOf<EndJson>(await kybatch(args)).next;

test('a sheet with a withdrawn decision is not suggested until it has another one', async () => {
  const clock = new JumpingClock();
  await withJob({ clock }, async (job) => {
    const { kybatch, rows, writeCsv, cwd } = job;
    writeCsv('in.csv', rows.slice(0, 1).map(inQuestion));
    await kybatch(RUN);
    await decideAll(job, 'confirm', ({ candidate }) => candidate === firstCandidate(cwd));
    expect((await kybatch(RUN)).code).toBe(0);
    clock.advance(60_000);
    const withdrawn = await kybatch(['review', 'withdraw', '1']);
    expect(withdrawn.stdout).not.toContain('review apply');
    const { next, run } = jsonOf<EndJson>(await kybatch(RUN));
    expect(next).toBe(`kybatch review export ${run} --out review-${run}.csv`);
    expect(jsonOf<object>(await kybatch(['plan', 'in.csv', '--pipeline', './p.yaml', '--json']))).toMatchObject({
      needs_review: 1,
      v1_units: { at_most: 0 },
    });
    expect(await nextOf(job, [...CHECK, '--json'])).toBe(next);
    expect((await kybatch(['review', 'list'])).stderr).not.toContain('review apply');

    const sheet = join(cwd, 'review.csv');
    writeFileSync(sheet, readFileSync(sheet, 'utf8').replace(',confirm,', ',none of these,'));
    expect(await nextOf(job, RUN)).toBe('kybatch review apply review.csv');
    expect((await kybatch(['status'])).codes).toContain('REVIEW_APPLY_NEXT');
    const answered = readFileSync(sheet, 'utf8');
    writeFileSync(sheet, answered.replace(',none of these,', ',perhaps,'));
    expect((await kybatch(['review', 'apply', 'review.csv'])).codes).toContain('LINE_REFUSED');
    expect((await kybatch(['status'])).codes).not.toContain('REVIEW_APPLY_NEXT');
    writeFileSync(sheet, answered);
    await kybatch(['review', 'export', '--force']);
    expect((await kybatch(['status'])).codes).not.toContain('REVIEW_APPLY_NEXT');
  });
});

test('after an answer elsewhere, an empty sheet is not suggested, and the plan does not count the row', async () => {
  await withJob({ clock: new JumpingClock() }, async (job) => {
    const { kybatch, rows, writeCsv } = job;
    const planned = async (file: string) =>
      jsonOf<{ to_person: number }>(await kybatch(['plan', file, '--pipeline', './p.yaml', '--json'])).to_person;
    for (const file of ['in.csv', 'other.csv']) writeCsv(file, rows.slice(0, 2).map(inQuestion));
    expect(await planned('in.csv')).toBe(2);
    await kybatch(RUN);
    await kybatch(['review', 'export']);
    expect(await nextOf(job, ['status', '--json'])).toBe('kybatch review apply review.csv');
    const answered = await kybatch(['review'], { keys: ['1', 'q'] });
    expect(answered.codes).toEqual(expect.arrayContaining(['QUESTIONS_ANSWERED', 'SIGNED_AS_USER']));
    const { next, run } = jsonOf<EndJson>(await kybatch(RUN));
    expect(next).toBe(`kybatch review export ${run} --out review-${run}.csv`);
    expect([await planned('in.csv'), await planned('other.csv')]).toEqual([0, 1]);
  });
});

const firstCandidate = (cwd: string) => /C-[0-9a-f]{8}/.exec(readFileSync(join(cwd, 'review.csv'), 'utf8'))?.[0];

describe('status --check', () => {
  test('lists questions that are missing in the sheet that it names', async () => {
    await withJob({ clock: new JumpingClock() }, async ({ kybatch, rows, writeCsv, cwd }) => {
      writeCsv('in.csv', rows.slice(0, 1).map(inQuestion));
      await kybatch(RUN);
      await kybatch(['review', 'export']);
      writeCsv('in.csv', rows.slice(0, 2).map(inQuestion));
      await kybatch(RUN);
      const write = `kybatch review export --portfolio ${join(cwd, 'in.csv')} --out review-open.csv`;
      expect((await kybatch(CHECK)).textOf('CHECK_NOT_WELL')).toMatch(
        new RegExp(`: 2 .* kybatch review apply review\\.csv \\(1 .*: \`${write}\` .*\\)$`),
      );
    });
  });

  test('names the command for the questions if the other rows only wait', async () => {
    const clock = new JumpingClock();
    await withJob({ clock, plan: 'free' }, async (job) => {
      const { kybatch, rows, writeCsv } = job;
      writeCsv('in.csv', [...rows.slice(0, 1).map(inQuestion), ...rows.slice(1, 4)]);
      const { code, ...end } = await kybatch(RUN);
      expect(code).toBe(4);
      const { run, next } = jsonOf<EndJson>({ code, ...end });
      expect(next).toMatch(/^kybatch resume /);
      expect(await nextOf(job, [...CHECK, '--json'])).toBe(`kybatch review export ${run}`);
      // As `run` has printed: the workbook of the results has the questions, until one is answered elsewhere.
      const workbook = `${run}/results.xlsx`;
      expect((await kybatch(['status'])).textOf('REVIEW_NEXT')).toContain(workbook);
      clock.advance(60_000);
      const answered = await kybatch(['review'], { keys: ['s', 'u', '1', 'q'] });
      const { outcomes } = jsonOf<EndJson>(await kybatch(['status', '--json']));
      expect(answered.textOf('RESUME_NEXT')).toMatch(new RegExp(`^${outcomes.pending} `));
      expect((await kybatch(['status'])).textOf('REVIEW_NEXT')).not.toContain(workbook);
    });
  });
});
