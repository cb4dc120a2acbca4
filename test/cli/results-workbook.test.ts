import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import readWorkbook from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { WorkbookWriter } from '../../src/sheets/xlsx/write-workbook.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';
import { jsonOf, withJob } from './here.js';

interface End {
  readonly results: string;
  readonly files: string;
}

type Sheet = { readonly sheet: string; readonly data: readonly (readonly unknown[])[] };

const RUN = ['run', 'in.csv', '--pipeline', './p.yaml', '--yes', '--json'];

/** Fills in the workbook as a person who confirms the first candidate. */
async function answer(path: string, sheets: readonly Sheet[]): Promise<void> {
  const workbook = new WorkbookWriter(path);
  for (const { sheet, data } of sheets) {
    const [header = [], ...lines] = data.map((line) => line.map((cell) => (cell === null ? '' : String(cell))));
    workbook.begin({ name: sheet, columns: header.map((name) => ({ header: name })) });
    const decision = sheet === 'Questions' ? header.indexOf('decision') : -1;
    workbook.write(
      lines.map((line, index) => line.map((cell, at) => (index === 0 && at === decision ? 'confirm' : cell))),
    );
  }
  await workbook.finish();
}

long('a run ends with a workbook, named first, in which questions are answered and read back', async () => {
  await withJob({ clock: new JumpingClock() }, async ({ kybatch, rows, writeCsv, cwd }) => {
    const [sure, doubtful] = rows;
    writeCsv('in.csv', [sure ?? {}, { ...doubtful, registration_number: '', vat_number: '' }]);
    const run = await kybatch(RUN);
    expect(run.code).toBe(3);
    const { results, files } = jsonOf<End>(run);
    expect(results).toBe(join(files, 'results.xlsx'));
    const sheets = (await readWorkbook(results)) as unknown as readonly Sheet[];
    expect(sheets.map(({ sheet }) => sheet)).toEqual(['Summary', 'Results', 'Columns', 'Questions']);
    mkdirSync(join(cwd, 'mine'));
    await answer(join(cwd, 'mine/results.xlsx'), sheets);
    const applied = await kybatch(['review', 'apply', 'mine/results.xlsx']);
    expect(applied.textOf('ANSWERS_APPLIED')).toMatch(/^1 /);
    expect((await kybatch(RUN)).code).toBe(0);
  });
});

long('an edited workbook is kept beside the folder that replaces it', async () => {
  await withJob({ clock: new JumpingClock(), pipeline: ['stages: [record]'] }, async (job) => {
    const { kybatch, rows, writeCsv, cwd } = job;
    writeCsv('in.csv', [{ ...rows[0], registration_number: '', vat_number: '' }]);
    const { results, files } = jsonOf<End>(await kybatch(RUN));
    const again = await kybatch(['export']);
    expect(again.codes).not.toContain('WORKBOOK_KEPT');
    const sheets = (await readWorkbook(results)) as unknown as readonly Sheet[];
    rmSync(results);
    await answer(results, sheets);
    const filledIn = readFileSync(results);
    const exported = await kybatch(['export']);
    expect(exported.textOf('WORKBOOK_KEPT')).toContain(` ${files}-results-edited.xlsx`);
    expect(exported.textOf('REVIEW_APPLY_NEXT')).toContain(` kybatch review apply ${files}-results-edited.xlsx`);
    expect(readFileSync(`${files}-results-edited.xlsx`)).toEqual(filledIn);
    expect((await kybatch(['export'])).codes).not.toContain('WORKBOOK_KEPT');
    expect((await kybatch(['review', 'apply', `${files}-results-edited.xlsx`])).code).toBe(0);
    // Its answers are recorded now, so it is kept but not suggested.
    rmSync(results);
    await answer(results, sheets);
    appendFileSync(results, 'b');
    expect((await kybatch(['export'])).codes).not.toContain('REVIEW_APPLY_NEXT');
    // The workbook has a person's work, so `--quiet` and JSON report its place, too.
    appendFileSync(results, 'a note');
    const end = await kybatch([...RUN, '--quiet']);
    const kept = `${files}-results-edited-3.xlsx`;
    expect(end.stderr).toContain(kept.slice(cwd.length + 1));
    expect(jsonOf<{ results_edited: string }>(end).results_edited).toBe(kept);
  });
});

long('purge and prune name the kept workbook, and do not remove it', async () => {
  const clock = new JumpingClock();
  await withJob({ clock, pipeline: ['stages: [record]'] }, async ({ kybatch, rows, writeCsv }) => {
    writeCsv('in.csv', rows.slice(0, 1));
    const { results, files } = jsonOf<End>(await kybatch(RUN));
    appendFileSync(results, 'a note');
    await kybatch(['export']);
    const kept = `${files}-results-edited.xlsx`;
    const pruned = await kybatch(['prune', '--older-than', '1d', '--yes']);
    expect(pruned.stdout).not.toContain(kept);
    const removed = await kybatch([
      'purge',
      '--entity',
      `${rows[0]?.country}:${rows[0]?.registration_number}`,
      '--yes',
    ]);
    expect(removed.textOf('WORKBOOKS_NOT_SEARCHED')).toContain(`:\n  ${kept}`);
    const asked = await kybatch([
      'purge',
      '--entity',
      `${rows[0]?.country}:${rows[0]?.registration_number}`,
      '--yes',
      '--json',
    ]);
    expect(jsonOf<{ workbooks_not_searched: string[] }>(asked).workbooks_not_searched).toEqual([kept]);
    clock.set(clock.now() + 3 * 86_400_000);
    const later = await kybatch(['prune', '--older-than', '1d', '--yes']);
    expect(later.textOf('WORKBOOK_KEPT')).toContain(kept);
    expect(existsSync(kept)).toBe(true);
  });
});

test('only a run writes a workbook: other tables are refused as one', async () => {
  await withJob({}, async ({ kybatch }) => {
    const refused = await kybatch(['vocab', '--out', 'x', '--format', 'xlsx']);
    expect(refused).toMatchObject({ code: 2, codes: ['FORMAT_NOT_FOUND'] });
  });
});
