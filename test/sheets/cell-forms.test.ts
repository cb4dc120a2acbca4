import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noCell, scanCell } from '../../src/sheets/xlsx/worksheet.js';
import { long } from '../helpers/long.js';
import { readWorkbook, stylesOf } from './with-workbook.js';

const STRINGS = ['Müller &amp; Co', '', ' ', 'x_x0041_', 'Łódź', 'a\r\nb'];
const STYLES = stylesOf(0, 14, '00000', 22, 20);

const stored = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('007', '+5', '1.50', '0.30000000000000004', '1.2E+20', '45000.25', '0.5', '60', ' 5 '),
);
/** Attributes after the place, and the content. Undefined: no content. */
const content = fc.oneof(
  fc.record({ type: fc.constantFrom('', ' t="n"'), inside: stored.map((value) => `<v>${value}</v>`) }),
  fc.record({
    type: fc.constant(' t="s"'),
    inside: fc.nat(STRINGS.length - 1).map((index) => `<v>${index}</v>`),
  }),
  fc.record({
    type: fc.constant(' t="inlineStr"'),
    inside: fc.constantFrom('A', 'A &lt; B', '_x0041_', '', ' ').map((text) => `<is><t>${text}</t></is>`),
  }),
  fc.record({ type: fc.constantFrom('', ' t="str"'), inside: fc.constantFrom('<f>A1</f>', '<f>A1</f><v>9</v>') }),
  fc.record({ type: fc.constant(''), inside: fc.constant(undefined) }),
);
const cells = fc.uniqueArray(fc.record({ column: fc.nat(5), style: fc.nat(5), content }), {
  selector: ({ column }) => column,
  maxLength: 6,
});
const table = fc.array(fc.record({ cells, hidden: fc.boolean() }), { minLength: 1, maxLength: 6 });

/** `blank` is a space that programs do not write: it sends a cell to the XML walker instead of the fast path. */
function rowsOf(rows: readonly (typeof table extends fc.Arbitrary<readonly (infer R)[]> ? R : never)[], blank: string) {
  return rows.map((row, index) => {
    const written = row.cells
      .toSorted((a, b) => a.column - b.column)
      .map(({ column, style, content: { type, inside } }) => {
        const head = `<c r="${'ABCDEF'[column]}${index + 2}"${style === 5 ? '' : ` s="${style}"`}${type}${blank}`;
        return inside === undefined ? `${head}/>` : `${head}>${inside}</c>`;
      });
    return `<row r="${index + 2}"${row.hidden ? ' hidden="1"' : ''}>${written.join('')}</row>`;
  });
}

long('a cell has equal text and warnings by the fast path and by the XML walker', async () => {
  const header = '<row r="1"><c r="A1" t="inlineStr"><is><t>name</t></is></c></row>';
  const strings = STRINGS.map((text) => `<si><t>${text}</t></si>`).join('');
  const read = async (rows: readonly string[]) => {
    const { sheet, lines } = await readWorkbook({ data: header + rows.join(''), strings, styles: STYLES });
    return { headers: sheet.headers, warnings: sheet.warnings, lines };
  };
  await fc.assert(
    fc.asyncProperty(table, async (rows) => {
      expect(await read(rowsOf(rows, ''))).toEqual(await read(rowsOf(rows, ' ')));
    }),
    { numRuns: 60 },
  );
});

test.each([
  ['<c r="AB12" s="3" t="s"><v>17</v></c>', { column: 27, style: 3, type: 'shared' }],
  ['<c r="A1"><v>-1.5</v></c>', { column: 0, style: 0, type: 'number' }],
  ['<c r="XFD1" t="n"><v>1</v></c>', { column: 16_383, style: 0, type: 'number' }],
  ['<c r="B2" t="inlineStr"><is><t>A</t></is></c>', { column: 1, style: 0, type: 'inline' }],
  ['<c r="B2" s="7"/>', { column: 1, style: 7, type: 'none' }],
] as const)('fast path: %s', (xml, found) => {
  const cell = noCell();
  expect(scanCell(`${xml}<c`, 0, cell)).toBe(xml.length);
  expect(cell).toMatchObject(found);
});

test.each([
  '<c><v>1</v></c>',
  '<c r="1"><v>1</v></c>',
  '<c r="XFE1"><v>1</v></c>',
  '<c r="AAAA1"><v>1</v></c>',
  '<c r="A1" t="b"><v>1</v></c>',
  '<c r="A1" t="s" s="1"><v>1</v></c>',
  '<c r="A1"><f>B1</f><v>1</v></c>',
  '<c r="A1"><v></v></c>',
  '<c r="A1"><v>&#49;</v></c>',
  '<c r="A1"><v>1</v><x/></c>',
  '<c r="A1"><v>1</v></c',
  '<col min="1"/>',
])('XML walker: %s', (xml) => expect(scanCell(xml, 0, noCell())).toBe(0));
