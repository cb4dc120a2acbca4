import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/domain/errors.js';
import { WorkbookBudget } from '../../src/sheets/xlsx/zip-parts.js';
import { long } from '../helpers/long.js';
import { readWorkbook, type TestBook, textRow } from './with-workbook.js';

const HEADER = textRow('name', 'country');
const TABLE = `${HEADER}${textRow('A', 'DE')}`;
const repeated = (piece: string, count: number) => piece.repeat(count);
/** Longer than any tag, comment or cell of a workbook. */
const MUCH = 2_000_000;

const RICH = `<si><r><t>${repeated('a', 30_000)}</t></r></si>`;
const SLOW = '<c t="s"><v>0</v></c>';
const SHARED = `<row>${repeated('<c r="A1" t="s"><v>0</v></c>', 10)}</row>`;
const DENSE = 'ARCHIVE_TOO_DENSE';

const refusal = async (book: TestBook): Promise<unknown> => {
  try {
    await readWorkbook(book);
  } catch (error) {
    return error;
  }
  return undefined;
};

describe('X-6 a workbook made to take long is refused', () => {
  test.each<[string, TestBook]>([
    ['elements that are nested without end', { data: `${TABLE}${repeated('<a>', 200)}` }],
    ['a long attribute', { data: `${TABLE}<row a="${repeated('>', MUCH)}"/>` }],
    ['attributes without end', { data: `${TABLE}<row ${repeated('a=">" ', MUCH / 5)}/>` }],
    ['a long comment', { data: `${TABLE}<!--${repeated('>', MUCH)}-->` }],
    ['a long piece of plain characters', { data: `${TABLE}<![CDATA[${repeated('>', MUCH)}]]>` }],
    ['a long cell', { data: `${TABLE}<row><c t="str"><v>${repeated('>', MUCH)}</v></c></row>` }],
    ['a long text without any tag', { data: `${TABLE}${repeated('x', MUCH)}` }],
    ['a long shared text', { data: TABLE, strings: `<si><t>${repeated('<r/>x', MUCH / 1.8)}</t></si>` }],
    ['a long number format', { data: TABLE, styles: `<numFmt numFmtId="200" formatCode="${repeated('0', MUCH)}"/>` }],
  ])('%s', async (_, book) => {
    expect(await refusal(book)).toBeInstanceOf(UsageError);
  });

  test.each(['<row r="99999999999">', '<row r="1e300">', '<row r="1048577">', '<row r="1048576"/><row>'])(
    'a row beyond the last row of a spreadsheet: %s',
    async (row) => {
      const data = `${TABLE}${row}${textRow('B', 'DE').slice(5)}`;
      expect(await refusal({ data })).toMatchObject({ code: 'WORKBOOK_TOO_LARGE' });
    },
  );

  test('one part as several sheets', async () => {
    const sheet = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet';
    const relation = (id: string) => `<Relationship Id="${id}" Type="${sheet}" Target="worksheets/sheet1.xml"/>`;
    const parts = {
      'xl/_rels/workbook.xml.rels': `<Relationships>${relation('rId1')}${relation('rId2')}</Relationships>`,
    };
    const sheets = ['One', 'Two'].map((name) => ({ name, data: TABLE }));
    expect(await refusal({ sheets, parts })).toBeInstanceOf(UsageError);
  });

  long.each<[string, TestBook]>([
    ['cells that leave millions of places empty', { data: repeated('<row><c r="XFD1"><v>1</v></c></row>', 2_000) }],
    ['more rows than a spreadsheet holds', { data: `${TABLE}${repeated('<row/>', 1_048_576)}` }],
    ['empty shared texts by the million', { data: TABLE, strings: repeated('<si/>', 1_000_001) }],
  ])('%s', async (_, book) => {
    expect(await refusal(book)).toBeInstanceOf(UsageError);
  });

  test('a workbook that takes too long for its size, by the clock', async () => {
    let now = 0;
    await expect(readWorkbook({ data: TABLE }, { now: () => (now += 60_000) })).rejects.toBeInstanceOf(UsageError);
    expect((await readWorkbook({ data: TABLE }, { now: () => (now += 1) })).lines).toHaveLength(1);
  });
});

describe('X-6 all parts of a workbook share one limit', () => {
  test('of bytes: no more than 500 times the file', () => {
    const budget = new WorkbookBudget('list.xlsx', 1e6);
    for (let part = 0; part < 5; part++) budget.takeBytes(100e6);
    expect(() => budget.takeBytes(1)).toThrow(UsageError);
  });

  test.each<[string, TestBook, string]>([
    ['a shared text', { strings: `<si><t>${repeated('a', 30_000)}</t></si>`, data: repeated(SHARED, 300) }, DENSE],
    [
      'a shared text in a form read slowly',
      { strings: RICH, data: repeated(`<row>${repeated(SLOW, 10)}</row>`, 300) },
      DENSE,
    ],
    ['one row of shared texts', { strings: RICH, data: `<row>${repeated(SLOW, 200)}</row>` }, 'WORKBOOK_TOO_LARGE'],
  ])('of text, counted for each cell: %s', async (_, book, code) => {
    expect(await refusal({ ...book, data: `${TABLE}${book.data}` })).toMatchObject({ code });
  });

  test('of elements: more for a larger file', () => {
    const [small, large] = [1e6, 100e6].map((bytes) => new WorkbookBudget('list.xlsx', bytes));
    expect(() => small?.takeElements(50e6)).toThrow(UsageError);
    expect(() => large?.takeElements(500e6)).not.toThrow();
  });
});

test('a number format longer than Excel accepts is ignored', async () => {
  const styles = `<numFmts><numFmt numFmtId="200" formatCode="${repeated('0', 1_000)}"/></numFmts><cellXfs><xf numFmtId="200"/></cellXfs>`;
  const { lines } = await readWorkbook({ data: `${TABLE}<row><c s="0"><v>5</v></c></row>`, styles });
  expect(lines[1]?.cells[0]).toBe('5');
});
