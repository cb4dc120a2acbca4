import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { applySheet } from '../../src/review/apply.js';
import { openQuestions } from '../../src/review/questions.js';
import { loadSheet } from '../../src/review/read-sheet.js';
import { recordAnswer } from '../../src/review/record-answer.js';
import { reasonInWords, topicName } from '../../src/review/words.js';
import { saveSheet, spreadsheetText, writeSheet } from '../../src/review/write-sheet.js';
import { expectGolden } from '../helpers/golden.js';
import { long } from '../helpers/long.js';
import { sheetColumns } from '../helpers/review-sheet.js';
import { type Desk, withDesk } from './with-ledger.js';

type Cells = readonly string[][];

async function sheetOf({ review, ask }: Desk): Promise<Cells> {
  await ask({ row: 1, key: 'one', candidates: [{ id: '12345678901234567890' }, { id: 'b', name: '=HYPERLINK("x")' }] });
  await ask({ row: 2, key: 'two', candidates: [] });
  await ask({ row: 3, key: 'three', candidates: [{ id: 'c' }] });
  return parse(writeSheet(await openQuestions(review)), { bom: true });
}

/** Fills in the sheet: the second candidate of the first question, and none for the second. */
function fillIn([header = [], ...lines]: Cells): string[][] {
  const decision = header.indexOf('decision');
  const note = header.indexOf('note');
  const words = ['', 'confirm', 'none_of_these', ''];
  const filled = lines.map((cells, index) =>
    cells.map((cell, column) => {
      if (column === decision) return words[index] ?? '';
      return column === note && index === 1 ? 'Vertrag geprüft; „ja“ – 5 €' : cell;
    }),
  );
  return [header, ...filled];
}

const columnsOf = (cells: Cells, name: string) => {
  const [header = [], ...lines] = cells;
  return lines.map((line) => line[sheetColumns(header).indexOf(name)]);
};

describe('export', () => {
  test('counts the candidates with the name of a row that gives only a name', () =>
    withDesk(async (desk) => {
      const graded = (...grades: string[]) => grades.map((matchGrade, index) => ({ id: String(index), matchGrade }));
      const asks = { code: 'NAME_ONLY', message: 'only a name' };
      await desk.ask({ row: 1, key: 'one', ...asks, candidates: graded('ZAZAZ', 'ZAZAA', 'ZFZAZ') });
      await desk.ask({ row: 2, key: 'two', ...asks, candidates: graded('ZAZAZ', 'ZBZAZ') });
      const questions = await openQuestions(desk.review);
      const cells: Cells = parse(writeSheet(questions), { bom: true });
      const [first, , , ...second] = columnsOf(cells, 'reason');
      expect(first).toMatch(/^only a name\. 2 /);
      expect(second).toEqual(['only a name', 'only a name']);
      expect(questions.map(reasonInWords)).toEqual([expect.stringMatching(/^2 /), 'name only']);
    }));

  test('an answer from before the candidates changed stays on its line', () =>
    withDesk(async (desk) => {
      for (const [row, decision] of [
        [1, 'confirm'],
        [2, 'none_of_these'],
      ] as const) {
        await desk.ask({ row, key: decision });
        const [question] = await openQuestions(desk.review);
        if (question === undefined) throw new Error('there is no question');
        const choice = decision === 'confirm' ? question.candidates[1] : undefined;
        await recordAnswer(desk.review, question, { verdict: decision, choice, by: 'Bea' }, 1);
        await desk.ask({ row, key: decision, candidates: [{ id: 'new' }, { id: 'b' }], at: 6 });
        const cells = parse(writeSheet((await openQuestions(desk.review)).slice(-1)), { bom: true }) as Cells;
        const said = decision === 'confirm' ? ['', 'confirm, Bea'] : ['none of these, Bea', 'none of these, Bea'];
        expect(columnsOf(cells, 'earlier')).toEqual(said);
        await recordAnswer(desk.review, question, { verdict: 'none_of_these', by: 'Bea' }, 2);
      }
    }));

  test('one line per candidate, one for a question without any, input and candidate side by side', () =>
    withDesk(async (desk) => {
      const cells = await sheetOf(desk);
      expect(columnsOf(cells, 'rows')).toEqual(['first: 1', 'first: 1', 'first: 2', 'first: 3']);
      await expectGolden('sheet', [['a question without candidates', columnsOf(cells, 'evidence')[2] ?? '']]);
      expect(columnsOf(cells, 'input_name')[0]).toBe('Müller & Söhne GmbH');
      expect(columnsOf(cells, 'candidate_name')[0]).toBe('Müller und Söhne GmbH');
      expect(columnsOf(cells, 'decision')).toEqual(['', '', '', '']);
      expect(columnsOf(cells, 'reason')[0]).toBe('the number agrees, but the name does not');
    }));

  test('names the topic of each question: a company of an ID space, or the answer of a stage', () =>
    withDesk(async (desk) => {
      await desk.ask({ row: 1, key: 'one', candidates: [] });
      await desk.ask({ row: 2, key: 'two', space: 'v2', candidates: [] });
      await desk.ask({ row: 3, key: 'three', space: 'credit', candidates: [] });
      await desk.ask({ row: 4, key: 'four', stage: 'record', candidates: [] });
      await desk.ask({ row: 5, key: 'five', space: 'v2', stage: 'financials', candidates: [] });
      const questions = await openQuestions(desk.review);
      const topics = columnsOf(parse(writeSheet(questions), { bom: true }), 'about').map(String);
      for (const [index, name] of ['v1', 'v2', '', 'record', 'financials'].entries())
        expect(topics[index]).toContain(name);
      expect(new Set(topics).size).toBe(5);
      expect(questions.map(topicName)).toEqual(['v1', 'v2', 'credit', 'record', 'financials']);
    }));

  test('the bought values are beside the candidate of the search, and different values are not called equal', () =>
    withDesk(async (desk) => {
      const said = {
        stage: 'record',
        candidates: [{ id: '77', matchGrade: 'AAZAZ', jurisdiction: 'Amtsgericht Köln' }],
      };
      await desk.ask({ row: 1, key: 'record|77|["DE","00123456","DE","00999999"]', ...said });
      await desk.ask({ row: 2, key: 'record|77|["DE","00123456","AT",null]', ...said });
      const cells = parse(writeSheet(await openQuestions(desk.review)), { bom: true }) as Cells;
      expect(columnsOf(cells, 'bought_registration_number')).toEqual(["'00999999", '(no number)']);
      expect(columnsOf(cells, 'candidate_register')).toEqual(['Amtsgericht Köln', 'Amtsgericht Köln']);
      expect(columnsOf(cells, 'agreement')).toEqual([
        'same: name, country; different: number',
        'same: name; different: country',
      ]);
    }));

  test('begins with a byte order mark, and a spreadsheet neither runs nor changes a cell', () =>
    withDesk(async (desk) => {
      const cells = await sheetOf(desk);
      expect(writeSheet([])).toMatch(/^\ufeffquestion,decision,corrected number,decided by,note,/);
      expect(columnsOf(cells, 'candidate_name')[1]).toBe(`'=HYPERLINK("x")`);
      expect(columnsOf(cells, 'candidate_registration_number')[0]).toBe("'00123456");
      expect(columnsOf(cells, 'candidate_id')[0]).toBe("'12345678901234567890");
    }));

  test.each([
    ['=1+1', "'=1+1"],
    ['+49 221', "'+49 221"],
    ['-x', "'-x"],
    ['@cmd', "'@cmd"],
    ['\tx', "'\tx"],
    ['00123456', "'00123456"],
    ['123456789012', "'123456789012"],
    ['12E5', "'12E5"],
    ['5.00510E+08', "'5.00510E+08"],
    ['5,0e-3', "'5,0e-3"],
    ['12-2025', "'12-2025"],
    ['3 Mar', "'3 Mar"],
    ['10:30', "'10:30"],
    ['1E', '1E'],
    ['3 Marketing Ltd', '3 Marketing Ltd'],
    ['1-2', "'1-2"],
    ['HRB 1234', 'HRB 1234'],
    ['01234567-8', '01234567-8'],
    ['SC123456', 'SC123456'],
    ['1234567', '1234567'],
  ])('%j is written as %j', (text, expected) => {
    expect(spreadsheetText(text)).toBe(expected);
  });

  test('a file that may hold decisions is not overwritten', () =>
    withDesk(async (desk) => {
      const path = join(desk.folder, 'review.csv');
      writeFileSync(path, 'mine');
      const refused = saveSheet(path, [], { overwrite: false });
      await expect(refused).rejects.toMatchObject({ code: 'SHEET_EXISTS' });
      expect(readFileSync(path, 'utf8')).toBe('mine');
      await saveSheet(path, [], { overwrite: true });
      expect(readFileSync(path, 'utf8')).toBe(writeSheet([]));
    }));

  test("the delimiter can come from another country's spreadsheets", () =>
    withDesk(async (desk) => {
      const path = join(desk.folder, 'review.csv');
      await desk.ask({ row: 1, key: 'one' });
      await saveSheet(path, await openQuestions(desk.review), { overwrite: false, delimiter: ';' });
      expect(readFileSync(path, 'utf8')).toMatch(/^\ufeffquestion;decision;/);
      expect(await loadSheet(path)).toHaveLength(2);
      const workbook = saveSheet(join(desk.folder, 'review.xlsx'), [], { overwrite: false, delimiter: ';' });
      await expect(workbook).rejects.toMatchObject({ code: 'SHEET_WITHOUT_DELIMITER' });
    }));
});

const csv = (cells: Cells, delimiter = ',', end = '\r\n') =>
  stringify(cells as string[][], { delimiter, record_delimiter: end });

const cp1252 = (text: string) =>
  Buffer.from([...text].map((letter) => (letter.charCodeAt(0) < 256 ? letter.charCodeAt(0) : (HIGH[letter] ?? 0x3f))));
const HIGH: Readonly<Record<string, number>> = { '€': 0x80, '„': 0x84, '“': 0x93, '–': 0x96 };

const SAVED: Readonly<Record<string, (cells: string[][]) => Buffer>> = {
  'as it was written': (cells) => Buffer.from(`\ufeff${csv(cells)}`),
  'with semicolons and a byte order mark': (cells) => Buffer.from(`\ufeff${csv(cells, ';')}`),
  'as windows-1252 with semicolons': (cells) => cp1252(csv(cells, ';')),
  'as UTF-16 text with tabs': (cells) => Buffer.from(`\ufeff${csv(cells, '\t')}`, 'utf16le'),
  'with bare line feeds and no mark': (cells) => Buffer.from(csv(cells, ',', '\n')),
  'sorted the other way round': ([header = [], ...lines]) => Buffer.from(csv([header, ...lines.reverse()])),
  'with columns moved, added and headers retyped': (cells) =>
    Buffer.from(
      csv(
        cells.map((line, index) => [
          index === 0 ? 'My remarks' : 'hm; "quoted"\nover two lines',
          ...line.map((cell) => (index === 0 ? ` ${cell.toUpperCase().replaceAll('_', ' ')}` : cell)).reverse(),
        ]),
        ';',
      ),
    ),
  'without the columns that only inform': (cells) => {
    const [header = []] = cells;
    const kept = ['candidate', 'decision', 'question', 'basis', 'note'].map((name) =>
      sheetColumns(header).indexOf(name),
    );
    return Buffer.from(csv(cells.map((line) => kept.map((index) => line[index] ?? ''))));
  },
};

describe('read back', () => {
  long.each(Object.keys(SAVED))('%s', (how) =>
    withDesk(async (desk) => {
      const path = join(desk.folder, 'back.csv');
      const cells = fillIn(await sheetOf(desk));
      writeFileSync(path, SAVED[how]?.(cells) ?? '');
      const applied = await applySheet(await loadSheet(path), desk.review, 'anna', 1);
      expect(applied).toMatchObject({ applied: 2, refused: [], blank: 2 });
      expect(await desk.remembered('one')).toMatchObject({ candidateId: 'b', note: 'Vertrag geprüft; „ja“ – 5 €' });
      expect(await desk.remembered('two')).toMatchObject({ decision: 'none_of_these', shown: [] });
      expect(await desk.remembered('three')).toBeUndefined();
      expect(await applySheet(await loadSheet(path), desk.review, 'anna', 2)).toMatchObject({
        applied: 0,
        unchanged: 2,
      });
    }),
  );

  test('an invalid line is reported by its number in the file', () =>
    withDesk(async (desk) => {
      const path = join(desk.folder, 'back.csv');
      const cells = fillIn(await sheetOf(desk));
      const text = csv(cells).replace(/confirm(?=,)/, 'confrim');
      writeFileSync(path, `sep=,\r\n${text}`);
      const { refused, applied } = await applySheet(await loadSheet(path), desk.review, 'anna', 1);
      expect(refused).toMatchObject([{ line: 4, code: 'DECISION_UNKNOWN' }]);
      expect(applied).toBe(1);
    }));

  test('a line with broken quotes is reported, and the lines after it count', () =>
    withDesk(async (desk) => {
      const path = join(desk.folder, 'back.csv');
      const [header = [], ...lines] = fillIn(await sheetOf(desk));
      writeFileSync(path, `${csv([header])}an "open mark\r\n${csv(lines)}`);
      const { refused, applied } = await applySheet(await loadSheet(path), desk.review, 'anna', 1);
      expect(refused).toMatchObject([{ line: 2, code: 'LINE_UNREADABLE' }]);
      expect(applied).toBe(2);
    }));

  test.each([
    ['a list of companies', 'name;country\r\nAcme;DE\r\n', 'NOT_A_REVIEW_SHEET', / question, candidate key, decision$/],
    ['two decisions', 'question,decision,candidate,Decision \r\n', 'COLUMN_REPEATED', / decision .* 2 .* 4$/],
  ])('%s is no review sheet', (_, text, code, named) =>
    withDesk(async ({ folder }) => {
      const path = join(folder, 'back.csv');
      writeFileSync(path, text);
      await expect(loadSheet(path)).rejects.toMatchObject({ code, message: expect.stringMatching(named) });
    }),
  );

  test("the user's additional columns are ignored", () =>
    withDesk(async ({ folder }) => {
      const path = join(folder, 'back.csv');
      writeFileSync(path, 'Name;name;question;decision;candidate;Ticker\r\nx;y;q;confirm;1;z\r\n');
      expect(await loadSheet(path)).toMatchObject([{ line: 2, question: 'q', decision: 'confirm', candidate: '1' }]);
    }));

  test('an earlier unsure answer is shown beside the question, and nothing is filled in for the next person', () =>
    withDesk(async (desk) => {
      await desk.ask({ row: 1, key: 'k' });
      const [question] = await openQuestions(desk.review);
      const sheet = {
        line: 2,
        candidate: '',
        decision: 'not_sure',
        correctedNumber: '',
        decidedBy: 'Bea',
        note: 'ask again',
        basis: question?.basis ?? '',
        hasEarlier: true,
      };
      await applySheet([{ ...sheet, told: new Map(), question: question?.id ?? '' }], desk.review, 'anna', 1);
      const path = join(desk.folder, 'again.csv');
      writeFileSync(path, writeSheet(await openQuestions(desk.review)));
      const written = parse(readFileSync(path), { bom: true }) as Cells;
      expect(columnsOf(written, 'earlier')).toEqual(['not sure, Bea: ask again', 'not sure, Bea: ask again']);
      const lines = await loadSheet(path);
      const blank = { decision: '', decidedBy: '', note: '' };
      expect(lines).toMatchObject([blank, blank]);
      const confirmed = lines.slice(0, 1).map((line) => ({ ...line, decision: 'confirm' }));
      expect(await applySheet(confirmed, desk.review, 'anna', 2)).toMatchObject({ applied: 1, refused: [] });
      expect(await desk.remembered('k')).toMatchObject({ decision: 'confirm', decidedBy: 'anna', note: null });
    }));
});
