import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSheet } from '../../src/review/read-sheet.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { type Job, jsonOf, withJob } from './here.js';

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json', '--concurrency', '1'];

interface Listed {
  readonly matching: number;
  readonly questions: readonly {
    readonly question: string;
    readonly code: string;
    readonly rows: readonly { readonly row: number; readonly line: number; readonly id: string | null }[];
    readonly candidates: readonly { readonly grade: string; readonly agreement: string }[];
    readonly proposed: readonly { readonly by: string; readonly candidate: string | null }[];
  }[];
  readonly facets: Readonly<Record<string, readonly { readonly value: string | null; readonly questions: number }[]>>;
}

interface Outcomes {
  readonly outcomes: Readonly<Record<string, number>>;
}

interface Ruled {
  readonly batch: string | null;
  readonly decided: number;
  readonly held: number;
  readonly left_out: Readonly<Record<string, number>>;
  readonly released_rows: number;
}

/** Three rows whose number belongs to another name, and one with only a name. */
async function withQuestions(pipeline: readonly string[], use: (job: Job) => Promise<void>): Promise<void> {
  await withJob({ clock: new JumpingClock(), pipeline: ['stages: [record]', ...pipeline] }, async (job) => {
    const [last, ...rows] = job.rows.filter(({ vat_number }) => vat_number !== '').slice(0, 4);
    const renamed = rows.map((row) => ({ ...row, name: 'Quite Another Thing', vat_number: '' }));
    job.writeCsv('in.csv', [...renamed, { ...last, registration_number: '', vat_number: '' }]);
    expect((await job.kybatch(RUN)).code).toBe(3);
    await use(job);
  });
}

const list = async ({ kybatch }: Job, ...flags: readonly string[]) =>
  jsonOf<Listed>(await kybatch(['review', 'list', '--json', ...flags]));
const confirm = ({ kybatch }: Job, minGrade: string, ...flags: readonly string[]) =>
  kybatch(['review', 'confirm', '--reason', 'NAME_CONFLICT', '--min-grade', minGrade, ...flags]);

describe('which questions', () => {
  long('are listed by reason, country and grade, with the number of each', () =>
    withQuestions([], async (job) => {
      const all = await list(job);
      expect(all.matching).toBe(4);
      expect(all.facets.reason).toEqual([
        { value: 'NAME_CONFLICT', questions: 3 },
        { value: 'NAME_ONLY', questions: 1 },
      ]);
      const [first] = all.questions;
      expect(first?.rows).toMatchObject([{ row: 1, line: 2, id: expect.stringMatching(/^C-/) }]);
      expect(first?.candidates[0]?.agreement).toContain('same: number');
      expect((await list(job, '--reason', 'name_only')).matching).toBe(1);
      expect((await list(job, '--grade', 'AF???')).matching).toBe(3);
      expect((await list(job, '--min-grade', 'AZ???')).matching).toBe(0);
      const limited = await list(job, '--limit', '1');
      expect([limited.matching, limited.questions.length]).toEqual([4, 1]);
      const countries = all.facets.country ?? [];
      const [{ value, questions } = { value: '', questions: 0 }] = countries;
      expect((await list(job, '--country', value ?? '')).matching).toBe(questions);
      const counted = (await job.kybatch(['review', 'list'])).textOf('OPEN_QUESTIONS');
      expect(counted).toMatch(/^ +3 .* NAME_CONFLICT /m);
      expect(counted).toMatch(/^4 .*$/m);
    }),
  );

  test.each([
    [['--grade', 'A'], 'GRADE_INVALID'],
    [['--country', 'Atlantis'], 'COUNTRY_INVALID'],
    [['--limit', '0'], 'FLAG_OUT_OF_RANGE'],
  ])('%j is refused as %s', (flags, refusal) =>
    withJob({}, async ({ kybatch }) => {
      expect(await kybatch(['review', 'list', ...flags])).toMatchObject({ code: 2, codes: [refusal] });
    }),
  );
});

describe('a rule', { tags: 'long' }, () => {
  test('confirms only matching questions, with the rule as note, and is withdrawn as one batch', () =>
    withQuestions([], async (job) => {
      const { kybatch } = job;
      const none = jsonOf<Ruled>(await confirm(job, 'A????', '--yes', '--json'));
      expect(none).toMatchObject({ batch: null, decided: 0, left_out: { name_conflict: 3 } });
      const asked = await confirm(job, 'AF???');
      expect(asked).toMatchObject({ code: 2, codes: expect.arrayContaining(['RULE_PROPOSED', 'NOT_CONFIRMED']) });
      expect(asked.textOf('RULE_PROPOSED')).toMatch(/^ +1 /m);
      const done = jsonOf<Ruled>(await confirm(job, 'AF???', '--yes', '--json', '--by', 'anna', '--note', 'agreed'));
      expect(done).toMatchObject({ decided: 3, held: 0, released_rows: 3 });
      const decisions = (await kybatch(['review', 'decisions'])).textOf('DECISIONS').split('\n');
      const note = new RegExp(` "agreed[.;].* AF\\?\\?\\?[.,;] .*NAME_CONFLICT" .*\\[${done.batch}\\]$`);
      expect(decisions.filter((line) => note.test(line))).toHaveLength(3);
      expect(decisions.filter((line) => / anna {2}confirm /.test(line))).toHaveLength(3);
      const back = await kybatch(['review', 'withdraw', '--batch', done.batch ?? '']);
      expect(back.codes).toContain('BATCH_WITHDRAWN');
      expect((await list(job)).matching).toBe(4);
      const again = await kybatch(['review', 'withdraw', '--batch', done.batch ?? '']);
      expect(again).toMatchObject({ code: 2, codes: ['BATCH_NOT_FOUND'] });
    }));

  test('asks once on a terminal, and a no confirms nothing', () =>
    withQuestions([], async (job) => {
      const answers: string[] = [];
      const said = (word: string) => (question: string) => {
        answers.push(question);
        return word;
      };
      const flags = ['review', 'confirm', '--reason', 'NAME_CONFLICT', '--min-grade', 'AF???', '--by', 'anna'];
      expect((await job.kybatch(flags, { answers: said('n') })).code).toBe(130);
      expect((await list(job)).matching).toBe(4);
      expect((await job.kybatch(flags, { answers: said('y') })).code).toBe(0);
      expect(answers[1]).toMatch(/\banna\b.* 3 /);
      expect((await list(job)).matching).toBe(1);
    }));

  test('names the missing flag', () =>
    withJob({}, async ({ kybatch }) => {
      const unsaid = await kybatch(['review', 'confirm', '--min-grade', 'AAAAA']);
      expect(unsaid).toMatchObject({ code: 2, codes: ['REASON_MISSING'] });
      const ungraded = await kybatch(['review', 'confirm', '--reason', 'NAME_ONLY']);
      expect(ungraded).toMatchObject({ code: 2, codes: ['GRADE_MISSING'] });
      const nothing = await kybatch(['review', 'withdraw']);
      expect(nothing).toMatchObject({ code: 2, codes: ['DECISION_MISSING'] });
    }));
});

long('if two people must agree, a second name releases the rows, and repeating one name does not', () =>
  withQuestions(['review: {second_person: true}'], async (job) => {
    const { kybatch } = job;
    const first = jsonOf<Ruled>(await confirm(job, 'AF???', '--yes', '--json', '--by', 'anna'));
    expect(first).toMatchObject({ decided: 0, held: 3, released_rows: 0 });
    const waiting = await list(job, '--reason', 'SECOND_PERSON');
    expect(waiting.questions.map(({ proposed }) => proposed.map(({ by }) => by))).toEqual([
      ['anna'],
      ['anna'],
      ['anna'],
    ]);
    const alone = jsonOf<Ruled>(await confirm(job, 'AF???', '--yes', '--json', '--by', ' ANNA '));
    expect(alone).toMatchObject({ batch: null, left_out: { said_before: 3 } });
    expect((await kybatch(['review', 'list', '--full'])).textOf('QUESTION')).toMatch(/^ +anna .* 1: /m);
    expect((await kybatch(['status'])).textOf('OPEN_QUESTIONS')).toMatch(/ 4 .* 3 /);
    const second = jsonOf<Ruled>(await confirm(job, 'AF???', '--yes', '--json', '--by', 'bob'));
    expect(second).toMatchObject({ decided: 3, held: 0, released_rows: 3 });
    expect((await kybatch(['review', 'decisions'])).textOf('DECISIONS')).toMatch(/ anna \w+ bob /);
    const { outcomes } = jsonOf<{ outcomes: Record<string, number> }>(await kybatch(RUN));
    expect(outcomes).toMatchObject({ complete: 3, needs_review: 1 });
  }),
);

long('a confirmation from a list without the rule waits for a second person in a list with it', () =>
  withQuestions([], async (job) => {
    const { kybatch, cwd } = job;
    expect(jsonOf<Ruled>(await confirm(job, 'AF???', '--yes', '--json', '--by', 'ann'))).toMatchObject({ decided: 3 });
    const rules = readFileSync(join(cwd, 'p.yaml'), 'utf8');
    writeFileSync(join(cwd, 'two.yaml'), `${rules}\nreview: {second_person: true}\n`);
    const strict = RUN.map((word) => (word === './p.yaml' ? './two.yaml' : word)).concat('--portfolio', 'strict');
    const waiting = { complete: 0, needs_review: 4 };
    expect(jsonOf<Outcomes>(await kybatch(strict)).outcomes).toMatchObject(waiting);
    expect((await list(job, '--reason', 'SECOND_PERSON')).questions.map(({ proposed }) => proposed[0]?.by)).toEqual(
      Array(3).fill('ann'),
    );
    const alone = await confirm(job, 'AF???', '--yes', '--json', '--by', "'Ann.", '--portfolio', 'strict');
    expect(jsonOf<Ruled>(alone)).toMatchObject({ batch: null, left_out: { said_before: 3 } });
    const both = jsonOf<Ruled>(await confirm(job, 'AF???', '--yes', '--json', '--by', 'bob'));
    expect(both).toMatchObject({ decided: 3, held: 0, released_rows: 3 });
    expect(jsonOf<Outcomes>(await kybatch(strict)).outcomes).toMatchObject({ complete: 3, needs_review: 1 });
    const back = await kybatch(['review', 'withdraw', '4', '--by', 'bob']);
    expect(back.textOf('DECISION_WITHDRAWN')).toMatch(/ 4 .* 1 /);
    expect(jsonOf<Outcomes>(await kybatch(strict)).outcomes).toMatchObject({ complete: 2, needs_review: 2 });
    expect(jsonOf<Outcomes>(await kybatch(RUN)).outcomes).toMatchObject({ complete: 3, needs_review: 1 });
  }),
);

long('withdrawing a second confirmation reports that the row waits, and suggests no resume', () =>
  withQuestions(['review: {second_person: true}'], async (job) => {
    for (const by of ['ann', 'bob']) await confirm(job, 'AF???', '--yes', '--by', by);
    const back = await job.kybatch(['review', 'withdraw', '4', '--by', 'bob']);
    expect(back.codes).toEqual(['DECISION_WITHDRAWN', 'ROWS_ASK_AGAIN']);
    expect(back.textOf('DECISION_WITHDRAWN')).toMatch(/ 4 .* 1 /);
    expect(back.textOf('ROWS_ASK_AGAIN')).toMatch(/^! 1 .*: kybatch review list$/);
  }),
);

test('a batch is withdrawn also after a second person has agreed', () =>
  withQuestions(['review: {second_person: true}'], async (job) => {
    const [first] = [jsonOf<Ruled>(await confirm(job, 'AF???', '--yes', '--json', '--by', 'ann'))];
    await confirm(job, 'AF???', '--yes', '--by', 'bob');
    const back = await job.kybatch(['review', 'withdraw', '--batch', `${first?.batch}`, '--by', 'ann']);
    expect(back.code).toBe(0);
    expect(back.textOf('BATCH_WITHDRAWN')).toMatch(new RegExp(`^\\S 3 .* ${first?.batch} `));
  }));

long('questions are written as text or a workbook, and another file type is refused', () =>
  withQuestions([], async ({ kybatch }) => {
    const refused = await kybatch(['review', 'export', '--out', 'q.pdf']);
    expect(refused).toMatchObject({
      code: 2,
      codes: ['SHEET_FORMAT_UNKNOWN'],
      stderr: expect.stringContaining('.pdf'),
    });
    for (const name of ['q.tsv', 'q.TXT', 'q'])
      expect((await kybatch(['review', 'export', '--out', name])).code).toBe(0);
    expect((await kybatch(['review', 'apply', 'q.tsv', '--by', '\u200b—'])).codes).toEqual(['PERSON_NAME_INVALID']);
  }),
);

long('the workbook of the results has these questions, too, and unknown questions are refused by line', () =>
  withQuestions([], async (job) => {
    const { kybatch } = job;
    await kybatch(['export', '--out', 'tables']);
    await kybatch(['review', 'export', '--out', 'review.xlsx']);
    const mistyped = await kybatch(['review', 'list', '--reason', 'NAME_CONFLIT']);
    expect(mistyped.textOf('QUESTIONS_OF_OTHER_KIND')).toMatch(/ 4 .*: NAME_CONFLICT \(3\), NAME_ONLY \(1\)$/);
    expect((await kybatch(['review', 'list'])).stderr).toContain('kybatch review apply review.xlsx\n');
    const linesOf = async (file: string) => loadSheet(join(job.cwd, file));
    expect(await linesOf('tables/results.xlsx')).toEqual(await linesOf('review.xlsx'));
    const blank = await kybatch(['review', 'apply', 'tables/results.xlsx']);
    expect(blank.textOf('ANSWERS_APPLIED')).toMatch(/ 4 questions\./);
    job.writeCsv('other.csv', [{ question: 'Q-0000000000', candidate: 'C-00000000', decision: 'confirm' }]);
    const other = await kybatch(['review', 'apply', 'other.csv']);
    expect(other.code).toBe(3);
    expect(other.textOf('LINE_REFUSED')).toMatch(/^! other\.csv, \w+ 2: .*"Q-0000000000"$/);
  }),
);
