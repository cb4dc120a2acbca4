import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BROKEN_QUOTES, RecordReader } from '../../src/sheets/csv/records.js';
import { long } from '../helpers/long.js';
import { HEADER, readSheet, verdicts } from './with-file.js';

describe('ragged lines', () => {
  test('too few or too many cells make the row invalid, with both counts, and other rows stay valid', async () => {
    const { lines } = await readSheet(`${HEADER}A,DE\nB,DE,1,x\nC,DE,2\n`);
    expect(verdicts(lines)).toEqual(['2:RAGGED', '3:RAGGED', '4:ok']);
    expect(lines[0]?.problem?.message).toMatch(/ 2 .* 3\b/);
    expect(lines[1]?.problem?.message).toMatch(/ 4 .* 3\b/);
    expect(lines.map((line) => line.cells.length)).toEqual([3, 3, 3]);
  });

  test('extra blank cells, as spreadsheets leave them, are ignored', async () => {
    const { lines } = await readSheet(`${HEADER}A,DE,1,,\nB,DE,2, ,""\n`);
    expect(verdicts(lines)).toEqual(['2:ok', '3:ok']);
    expect(lines[0]?.cells).toEqual(['A', 'DE', '1']);
  });

  test('trailing columns without a header may be missing, and are passed on if not', async () => {
    const { sheet, lines } = await readSheet('name,country,,\nA,DE\nB,DE,x,y\nC\n');
    expect(sheet.headers).toEqual(['name', 'country', '', '']);
    expect(verdicts(lines)).toEqual(['2:ok', '3:ok', '4:RAGGED']);
    expect(lines[1]?.cells).toEqual(['B', 'DE', 'x', 'y']);
  });

  test('the mark at the end of a DOS file is not a row', async () => {
    const { lines } = await readSheet(`${HEADER}A,DE,1\r\n\x1a`);
    expect(verdicts(lines)).toEqual(['2:ok']);
  });
});

describe('broken quotes', () => {
  test.each([
    ['a quotation mark inside a plain cell', 'Acme "X" Ltd,DE,1', 'stray_quote'],
    ['a quoted cell with more text', '"Acme "X" Ltd",DE,1', 'bad_close'],
    ['a mark that is never closed', '"Acme,DE,1', 'unterminated'],
    ['a mark that is only closed', 'Acme",DE,1', 'stray_quote'],
    ['a formula with more text', '="Acme"&"X",DE,1', 'bad_close'],
    ['a formula with a text', '=A("x"),DE,1', 'stray_quote'],
    ['a lone mark as the last cell', 'Acme,DE,"', 'unterminated'],
  ] as const)('%s damages only its own row', async (_, line, kind) => {
    const { lines } = await readSheet(`${HEADER}A,DE,01\n${line}\nB,DE,02\n"C, c",DE,03\nD,DE,04\n`);
    expect(verdicts(lines)).toEqual(['2:ok', '3:BROKEN_QUOTES', '4:ok', '5:ok', '6:ok']);
    expect(lines[1]?.problem?.message).toBe(BROKEN_QUOTES[kind]);
    expect(lines[3]?.cells).toEqual(['C, c', 'DE', '03']);
  });

  long('an open mark without a closing one does not swallow the file', async () => {
    const many = Array.from({ length: 30_000 }, (_, index) => `Company ${index},DE,${index}`).join('\n');
    const { lines } = await readSheet(`${HEADER}"Acme,DE,1\n${many}\n`, { maxRecordBytes: 100_000 });
    expect(lines).toHaveLength(30_001);
    expect(lines.filter((line) => line.problem !== undefined).map((line) => line.line)).toEqual([2]);
  });

  test('an open mark on the last line affects only that line', async () => {
    const { lines } = await readSheet(`${HEADER}A,DE,1\n"B,DE,2`);
    expect(verdicts(lines)).toEqual(['2:ok', '3:BROKEN_QUOTES']);
  });

  test('two lost marks on different lines do not pair up over the rows between them', async () => {
    const { lines } = await readSheet(`${HEADER}"A,DE,1\nB,DE,2\nC,DE,3\nD,DE,4"\nE,DE,5\n`);
    expect(verdicts(lines)).toEqual(['2:BROKEN_QUOTES', '3:ok', '4:ok', '5:BROKEN_QUOTES', '6:ok']);
  });

  test('a ragged row with a valid cell of several lines stays one row', async () => {
    const { lines } = await readSheet(`${HEADER}"A\nline two\nline three",DE\nB,DE,2\n`);
    expect(verdicts(lines)).toEqual(['2:RAGGED', '5:ok']);
  });

  test('a row with broken quotes shows its cells as written', async () => {
    const { lines } = await readSheet(`${HEADER}Acme "X",DE,007\n`);
    expect(lines[0]?.cells).toEqual(['Acme "X"', 'DE', '007']);
  });
});

describe('over-long records', () => {
  const lengthy = 'x'.repeat(2000);
  test.each([
    ['plain', `${lengthy},DE,1`, 1],
    ['quoted', `"${lengthy}",DE,1`, 1],
    ['over several lines', `"${'note\n'.repeat(400)}",DE,1`, 401],
    ['with a broken quote at its beginning', `"A"b${lengthy},DE,1`, 1],
    ['with a broken quote at its end', `A${lengthy}"b,DE,1`, 1],
    ['one of multi-byte characters', `${'é'.repeat(600)},DE,1`, 1],
    ['multi-byte characters over several lines', `"${'éé\n'.repeat(280)}",DE,1`, 281],
  ])('%s: one invalid row, and the rows after it keep their lines', async (_, record, height) => {
    const { lines } = await readSheet(`${HEADER}A,DE,1\n${record}\r\nB,DE,2\n`, { maxRecordBytes: 1000 });
    expect(verdicts(lines)).toEqual(['2:ok', '3:OVER_LONG', `${3 + height}:ok`]);
  });

  long('beyond the default of 1 MiB, over many chunks', async () => {
    const { lines } = await readSheet(
      `${HEADER}"${'x\n'.repeat(1_500_000)}",DE,1\nB,DE,2\n${'y'.repeat(3_000_000)}\nC,DE,3`,
    );
    expect(verdicts(lines)).toEqual(['2:OVER_LONG', '1500003:ok', '1500004:OVER_LONG', '1500005:ok']);
  });

  test('a cell over 10,000 characters', async () => {
    const { lines } = await readSheet(`${HEADER}${'x'.repeat(10_001)},DE,1\n${'x'.repeat(10_000)},DE,1\n`);
    expect(verdicts(lines)).toEqual(['2:CELL_TOO_LONG', '3:ok']);
    expect(lines[0]?.problem?.message).toMatch(/"name" .*\b10001\b/);
  });
});

describe('blank lines, NUL and bad bytes', () => {
  test('blank lines and lines of delimiters are left out, but count as lines', async () => {
    const { lines } = await readSheet(`\n,,\n${HEADER}\nA,DE,1\n,,\n  \n"","",\nB,DE,2\n\n`);
    expect(verdicts(lines)).toEqual(['5:ok', '9:ok']);
  });

  test('a NUL makes its row invalid', async () => {
    const { lines } = await readSheet(`${HEADER}A\0B,DE,1\nC,DE,2\n`);
    expect(verdicts(lines)).toEqual(['2:NUL_CHARACTER', '3:ok']);
  });

  test('one damaged byte in UTF-8 does not turn the file into windows-1252', async () => {
    const bytes = Buffer.concat([
      Buffer.from(`${HEADER}Müller,DE,1\nBöhm,DE,2\nF`),
      Buffer.of(0xfc),
      Buffer.from('r,DE,3\n'),
    ]);
    const { sheet, lines } = await readSheet(bytes);
    expect(sheet.encoding).toBe('utf-8');
    expect(verdicts(lines)).toEqual(['2:ok', '3:ok', '4:BAD_ENCODING']);
    expect(sheet.warnings).toEqual([{ code: 'BYTES_INVALID', text: expect.stringContaining('utf-8') }]);
  });

  test('half a character at the end of UTF-16', async () => {
    const { lines } = await readSheet(
      Buffer.concat([Buffer.from(`\ufeff${HEADER}A,DE,1\nB,DE,2`, 'utf16le'), Buffer.of(0x41)]),
    );
    expect(verdicts(lines)).toEqual(['2:ok', '3:BAD_ENCODING']);
  });
});

long('records do not depend on the cuts between chunks', () => {
  const piece = fc.constantFrom('a', ',', '"', '""', '\n', '\r\n', '\r', 'a,b,c\n', '"x\ny"', 'é');
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 40 }),
      fc.boolean(),
      fc.constantFrom(12, 1000),
      fc.integer({ min: 1, max: 7 }),
      (pieces, bareCr, maxRecordBytes, size) => {
        const text = pieces.join('');
        const shape = { delimiter: ',', bareCr, minCells: 3, maxCells: 3, maxRecordBytes };
        const whole = new RecordReader(shape).push(text, true);
        const reader = new RecordReader(shape);
        const cut = [];
        for (let at = 0; at < text.length; at += size) cut.push(...reader.push(text.slice(at, at + size)));
        cut.push(...reader.push('', true));
        expect(cut).toEqual(whole);
        const lines = whole.map((record) => record.line);
        expect(lines).toEqual([...new Set(lines)].sort((a, b) => a - b));
      },
    ),
    { numRuns: 3000 },
  );
});

test('cells beyond the last header are kept', async () => {
  const { lines } = await readSheet('name,country\nA,B,DE\nC,DE,\nD\n');
  expect(lines.map(({ line, cells, surplus }) => [line, cells, surplus])).toEqual([
    [2, ['A', 'B'], ['DE']],
    [3, ['C', 'DE'], undefined],
    [4, ['D', ''], undefined],
  ]);
});
