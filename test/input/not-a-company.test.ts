import { describe, expect, test } from 'vitest';
import { readAll } from './read-all.js';

const HEADER = 'id,name,country,reg no,amount,note';
const ROW = '1,Acme Ltd,GB,11247631,100,';

const read = async (...lines: readonly string[]) => {
  const { table, rows } = await readAll([HEADER, ...lines, ''].join('\n'));
  return { rows: rows.map(({ row, line }) => `${row}:${line}`), leftOut: table.remarks().leftOut };
};

describe('a line that is not a company is left out like a blank one, and reported', { tags: 'long' }, () => {
  test.each([
    ['the header again', 'id,name,country,reg no,amount,note', 'repeated header'],
    ['the header in other case and with spaces', 'ID, Name ,COUNTRY,Reg No,Amount,Note', 'repeated header'],
    ['a total in the first column', 'Total,,,,200,', 'totals'],
    ['a total with nothing beside it', 'Total,,,,,', 'totals'],
    ['a total in the name column', ',Summe,,,"1.234,50 €",', 'totals'],
    ['a total with its count', 'Grand total 25,,,,,', 'totals'],
    ['Total: 25', 'Total: 25,,,,,', 'totals'],
    ['a total in French', 'Total général,,,,200,', 'totals'],
    ['a total in Japanese', ',合計,,,200,', 'totals'],
    ['a total in Russian', 'Итого,,,,200,', 'totals'],
    ['a sum without anything beside it', 'Zwischensumme,,,,,', 'totals'],
    ['a sum, short of cells', 'Gesamtsumme:', 'totals'],
    ['with a country, in the name column', ',Total,GB,,11,', 'totals'],
    ['with a country, in the first column', 'Total,,GB,,11,', 'totals'],
    ['with a country and its count', ',Total: 8,GB,,,', 'totals'],
    ['a count in every column', 'Count,2,GB,2,2,', 'totals'],
    ['a subtotal of a country', ',Subtotal UK,GB,,80,', 'totals'],
    ['a subtotal of a country that no cell names', ',Subtotal UK,,,500,', 'totals'],
    ['a subtotal of such a country without a figure', ',Subtotal U.S.A.,,,,', 'totals'],
    ['a total of a country that no cell names', ',Total UK,,,500,', 'totals'],
    ['such a total in the first column', 'Total Vereinigtes Königreich,,,,500,', 'totals'],
    ['in Italian, with a country', ',Totale complessivo,GB,,80,', 'totals'],
    ['a report with its date and a country', ',Report generated 2026-11-01,GB,,,', 'footer'],
    ['an average', 'Average,,,,5.5,', 'totals'],
    ['an average with a country', 'Average,,GB,,5.5,', 'totals'],
    ['the end of a report', '*** end of report ***,,,,,', 'footer'],
    ['the end of a report, short of cells', '*** End of Report ***', 'footer'],
    ['a page', 'Page 2 of 3,,,,,', 'footer'],
    ['eine Seite', 'Seite 2 von 3', 'footer'],
    ['a stamp', ',Confidential,,,,', 'footer'],
    ['a source', 'Source: Bureau van Dijk,,,,,', 'footer'],
    ['a count of rows', '(25 rows),,,,,', 'footer'],
    ['a date', 'Stand: 31.12.2025,,,,,', 'footer'],
    ['a sum with its unit', ',Gesamt (6 Lieferanten),,,15000,', 'totals'],
    ['a sum with its unit and nothing beside it', ',Total (25 suppliers),,,,', 'totals'],
    ['a sum with its unit and a country', ',Gesamt (6 Lieferanten),DE,,15000,', 'totals'],
    ['with a count as the name', 'RAZEM,53,,,,', 'totals'],
    ['with a count in the column of numbers', ',TOTALE,,12,,', 'totals'],
    ['with a count in the column of countries', ',Total,5,,,', 'totals'],
    ['its unit, in Italian', ',Totale fornitori,,,,', 'totals'],
    ['its unit, in French', ',Total des fournisseurs,,,,', 'totals'],
    ['its unit, in Polish, with the count as the name', 'Razem dostawcy,53,,,,', 'totals'],
    ['a sum of some of them', ',Summe A-Lieferanten,,,4000,', 'totals'],
    ['a sum of some of them without its amount', ',Zwischensumme Inland,,,,', 'totals'],
    ['the sign of an average', ',Ø,,,2500,', 'totals'],
    ['the sign of an average alone', ',Ø,,,,', 'totals'],
    ['a checker’s name', ',"geprüft: Meier, 15.11.2026",,,,', 'footer'],
    ['a checker’s name in English', ',Checked by: Smith,,,,', 'footer'],
    ['a state in words', ',Stand: Ende 2025,,,,', 'footer'],
    ['a day with its word', ',Datum: 15.11.2026,,,,', 'footer'],
    ['a footnote', ',* vorläufig,,,,', 'footer'],
    ['a footnote without a space', ',*vorläufig,,,,', 'footer'],
    ['lines drawn', '-----,-----,-----,-----,-----,-----', 'ruling'],
    ['a line drawn', '==========', 'ruling'],
  ])('%s', async (_, line, kind) => {
    const { rows, leftOut } = await read(ROW, line, ROW.replace('1', '2'));
    expect(rows).toEqual(['1:2', '2:4']);
    expect(leftOut).toMatchObject([{ line: 3, kind }]);
  });
});

describe('a line that could be a company stays a row', () => {
  test.each([
    ['a company called Total', ',Total,FR,542051180,200,'],
    ['a company called Total without its country', ',Total,,542051180,200,'],
    ['its name alone', ',Total,,,,'],
    ['its name and country', ',Total,FR,,,'],
    ['a company called Total with a key', '7,Total,FR,,200,'],
    ['a company beside a total', 'Total,Acme Ltd,GB,,200,'],
    ['a company called Total UK', ',Total UK,GB,,80,'],
    ['a company called Total UK with nothing beside it', ',Total UK,,,,'],
    ['a company called Total with its form, which is a country', ',Total SE,,,80,'],
    ['a company called Subtotal', ',Subtotal Software,GB,,80,'],
    ['a company called Razem', ',Razem,PL,,,'],
    ['a company called Count', ',Count,GB,,,'],
    ['a number beside a total and its country', 'Total,,GB,11247631,200,'],
    ['a remark beside it', ',Total,FR,,200,oil'],
    ['a company with Total in its name', ',Total Quality Logistics,,,200,'],
    ['a total with a word beside it', 'Total,,,,200,see below'],
    ['a company called Gesamt with its form', ',Gesamt Logistik GmbH,,,200,'],
    ['a company called Summe with a number', ',Summe Handel,,11247631,200,'],
    ['a company called Summe with a key', '7,Summe Handel,,,200,'],
    ['a company called Summe with a country', ',Summe Handel,DE,,200,'],
    ['a company called Gesamtverband', ',Gesamtverband Textil,,,,'],
    ['a company called Gesamt-Verband', ',Gesamt-Verband Textil,,,,'],
    ['a company called Ø with a number', ',Ø,DK,11247631,,'],
    ['a company with a star before it', ',*Acme,,,,'],
    ['a company with a star and its form', ',* Acme Ltd,,,,'],
    ['a company called Note', ',Note Design Studio,,,,'],
    ['a company without letters', ',1&1,,,,'],
    ['a number in the number column', 'Total,,,25,200,'],
    ['a company called Confidential', ',Confidential,GB,,,'],
    ['a company of that name with more', ',Confidential Records Ltd,,,,'],
    ['Page 2 Publishing', ',Page 2 Publishing,,,,'],
    ['a name that equals its header', ',name,GB,,,'],
    ['cells that say nothing', '-,-,-,-,-,-'],
    ['more cells than headers', 'Total,,,,200,,300'],
    ['a broken line', '"Total,,,,,'],
  ])('%s', async (_, line) => {
    const { rows, leftOut } = await read(ROW, line);
    expect(rows).toEqual(['1:2', '2:3']);
    expect(leftOut).toEqual([]);
  });
});

test('totals below country headings are left out, but without any country Total UK may be a company', async () => {
  const rows = ['United Kingdom;;', 'Acme Ltd;11247631;100', 'Subtotal UK;;100', 'Total UK;;100'];
  const content = (...lines: readonly string[]) => ['Supplier;Company No;Spend', ...lines, ''].join('\n');
  const { table } = await readAll(content(...rows), { map: ['country=^'] });
  expect(table.remarks().leftOut.filter(({ kind }) => kind === 'totals')).toMatchObject([{ line: 4 }, { line: 5 }]);
  const { rows: bare } = await readAll(content(...rows.slice(1)), { country: 'GB' });
  expect(bare.map(({ fields }) => fields.name)).toEqual(['Acme Ltd', 'Total UK']);
});

test('a figure in a column of places is beside a total, and a place beside a company', async () => {
  const { table } = await readAll(
    'Nr;Naam;Plaats;Land\n1;Acme BV;Goes;NL\n;Totaal;25;\n;Totaal;26;NL\n;Totaal;Goes;NL\n',
  );
  expect(table.remarks().leftOut).toMatchObject([
    { line: 3, kind: 'totals' },
    { line: 4, kind: 'totals' },
  ]);
});

test('a list of names alone keeps possible names', async () => {
  // The header's word is not a name, but stays a row and is reported.
  const { table, rows } = await readAll('name\nname\nTotal\nSum\nPage 1 of 2\n');
  expect(rows.map(({ fields }) => fields.name)).toEqual([undefined, 'Total', 'Sum']);
  expect(table.remarks().leftOut).toEqual([{ line: 5, kind: 'footer', text: 'Page 1 of 2' }]);
});

test.each(['RAZEM,53,,', 'Summe,5,,', 'TOTALE,12,,', 'Totale fornitori,120,,'])(
  'a total with its count as the name, beside a column of no field: %s',
  async (line) => {
    const { table, rows } = await readAll(`Lp,Name,Country,Reg no\n1,Acme Ltd,GB,11247631\n${line}\n`);
    expect(rows.map(({ fields }) => fields.name)).toEqual(['Acme Ltd']);
    expect(table.remarks().leftOut).toMatchObject([{ line: 3, kind: 'totals' }]);
  },
);

test('if no line has a key, a company called Total stays a row, and a total with its count does not', async () => {
  const { rows } = await readAll('name,country,spend\nAcme Ltd,GB,5\nTotal,FR,200\nTotal: 8,FR,\nGrand total,GB,205\n');
  expect(rows.map(({ fields }) => fields.name)).toEqual(['Acme Ltd', 'Total']);
});

test('lines are counted beyond those that are shown', async () => {
  const { table, rows } = await readAll(`${HEADER}\n${ROW}\n${'Total,,,,1,\n'.repeat(30)}`);
  expect(rows).toHaveLength(1);
  expect(table.remarks()).toMatchObject({ leftOutLines: 30 });
  expect(table.remarks().leftOut).toHaveLength(20);
});

describe('remarks below the list', () => {
  const list = (...below: readonly string[]) =>
    ['No,Name,Country,Reg no', 'S-1,Acme Limited,GB,01000037', 'S-2,Beta Limited,GB,01000074', ...below].join('\n');
  const read = async (content: string) => {
    const { rows, table } = await readAll(`${content}\n`);
    const left = table.remarks().leftOut.map(({ line, kind }) => `${line} ${kind}`);
    return { rows: rows.length, left };
  };

  test.each([
    ['beside the names', ['Questions to Mr Miller,,,', '(*) balances of 30/09/2026'], ['4 footer', '5 footer']],
    [
      'among the names, with a colon or a mark',
      [',Made up by: J. Miller,,', ',(1) without leasing,,'],
      ['4 footer', '5 footer'],
    ],
    [
      'also around other lines that are no companies',
      ['Please mind the gap,,,', 'Total,,,', 'See page two,,,'],
      ['4 footer', '5 totals', '6 footer'],
    ],
  ])('are left out and reported: %s', async (_, below, left) => {
    expect(await read(list(...below))).toEqual({ rows: 2, left });
  });

  test.each([
    ['a name without more', ',Gamma Holding,,'],
    ['a legal form', ',Gamma: Delta Limited,,'],
    ['a key', 'S-3 12,,,'],
  ])('never leave out %s', async (_, last) => {
    expect(await read(list(last))).toEqual({ rows: 3, left: [] });
  });

  test('a row below makes it a row', async () => {
    const content = list('Questions to Mr Miller,,,', 'S-4,Gamma Limited,GB,01000111');
    expect(await read(content)).toEqual({ rows: 4, left: [] });
  });

  test('a list of one column has no remarks', async () => {
    expect((await read('Name\nAcme Limited\nBeta: Berlin office')).rows).toBe(2);
  });
});
