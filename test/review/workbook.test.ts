import { join } from 'node:path';
import readExcel from 'read-excel-file/node';
import { expect, test } from 'vitest';
import { applySheet } from '../../src/review/apply.js';
import { openQuestions } from '../../src/review/questions.js';
import { loadSheet, readSheet } from '../../src/review/read-sheet.js';
import { headingOf, type ReviewColumn, SHEET_COLUMNS } from '../../src/review/sheet-columns.js';
import { saveSheet, sheetLines } from '../../src/review/write-sheet.js';
import { openSheet } from '../../src/sheets/open-sheet.js';
import { WorkbookWriter } from '../../src/sheets/xlsx/write-workbook.js';
import { long } from '../helpers/long.js';
import { withDesk } from './with-ledger.js';

const LONG = '12345678901234567890';

long('a workbook holds the questions as texts, with the decisions to choose from', () =>
  withDesk(async (desk) => {
    await desk.ask({ row: 1, key: 'one', candidates: [{ id: LONG, name: '=1+1' }, { id: 'b' }] });
    const path = join(desk.folder, 'review.xlsx');
    await saveSheet(path, await openQuestions(desk.review), { overwrite: false });
    const sheet = await openSheet(path, () => undefined);
    expect([sheet.sheet, sheet.headers]).toEqual(['Questions', SHEET_COLUMNS]);
    const lines: (readonly string[])[] = [];
    for await (const { cells } of sheet.lines()) lines.push(cells);
    const column = (name: ReviewColumn) => lines.map((cells) => cells[SHEET_COLUMNS.indexOf(headingOf(name))]);
    expect(column('candidate_id')).toEqual([LONG, 'b']);
    expect(column('candidate_name')[0]).toBe('=1+1');
    expect(column('candidate_registration_number')).toEqual(['00123456', '00123456']);
    expect(column('line')).toEqual(['2', '2']);
    const [first] = (await readExcel(path)) as unknown as readonly { readonly data: readonly (readonly unknown[])[] }[];
    expect(first?.data[1]?.[SHEET_COLUMNS.indexOf('line')]).toBe(2);
    expect(await loadSheet(path)).toMatchObject([{ decision: '' }, { decision: '' }]);
    await expect(saveSheet(path, [], { overwrite: false })).rejects.toMatchObject({ code: 'SHEET_EXISTS' });
  }),
);

long('in a workbook with other sheets the one with the questions is read', () =>
  withDesk(async (desk) => {
    await desk.ask({ row: 1, key: 'one' });
    const path = join(desk.folder, 'results.xlsx');
    const workbook = new WorkbookWriter(path);
    workbook.begin({ name: 'Results', columns: [{ header: 'name' }, { header: 'note' }] });
    workbook.write([['Acme', 'mine']]);
    workbook.begin({ name: 'Questions', columns: SHEET_COLUMNS.map((header) => ({ header })) });
    const decision = SHEET_COLUMNS.indexOf('decision');
    const [, second = []] = sheetLines(await openQuestions(desk.review));
    workbook.write([second.map((cell, index) => (index === decision ? 'Confirm' : cell))]);
    await workbook.finish();
    const applied = await applySheet(await loadSheet(path), desk.review, 'anna', 7);
    expect(applied).toMatchObject({ applied: 1, refused: [] });
    expect(await desk.remembered('one')).toMatchObject({ candidateId: 'b' });
    await expect(loadSheet(path, 'Results')).rejects.toMatchObject({ code: 'NOT_A_REVIEW_SHEET' });
    await expect(loadSheet(path, 'Nowhere')).rejects.toMatchObject({ code: 'SHEET_NOT_FOUND' });
  }),
);

long('of several sheets with questions none is chosen automatically', () =>
  withDesk(async (desk) => {
    await desk.ask({ row: 1, key: 'one' });
    const path = join(desk.folder, 'review.xlsx');
    const workbook = new WorkbookWriter(path);
    for (const name of ['Questions', 'Questions (ann)']) {
      workbook.begin({ name, columns: SHEET_COLUMNS.map((header) => ({ header })) });
      workbook.write(sheetLines(await openQuestions(desk.review)));
    }
    await workbook.finish();
    await expect(loadSheet(path)).rejects.toMatchObject({
      code: 'SHEET_AMBIGUOUS',
      message: expect.stringContaining('Questions, Questions (ann)'),
    });
    expect(await loadSheet(path, 'Questions (ann)')).toHaveLength(2);
  }),
);

test('a decision that is a formula without a result is refused, not left blank', () =>
  withDesk(async (desk) => {
    const headers = ['question', 'candidate', 'decision'];
    const [line] = readSheet(headers, [{ line: 7, cells: ['Q-1', 'C-1', ''], unknown: [2] }]);
    if (line === undefined) throw new Error('there is no line');
    const { refused, blank } = await applySheet([line], desk.review, 'anna', 7);
    expect(blank).toBe(0);
    expect(refused).toMatchObject([{ line: 7, code: 'LINE_UNREADABLE' }]);
  }));
