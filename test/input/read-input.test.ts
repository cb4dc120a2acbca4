/** @module-tag long */
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDitto, isPlaceholder } from '../../src/input/field-text.js';
import type { InputRow } from '../../src/input/types.js';
import { ENCODINGS, encode, HEADER } from '../sheets/with-file.js';
import { readAll } from './read-all.js';

const FIELDS = ['name', 'country', 'registration_number'] as const;
/** These tests give the columns, so that content raises no question. */
const MAP = FIELDS.map((field) => `${field}=${field}`);
type Plain = 'utf-8' | 'utf-16le' | 'utf-16be';
type Cells = readonly [name: string, country: string, registrationNumber: string, note: string];

/** Replaced by invalid bytes. */
const MARK = '\ue000';
const cell = fc
  .oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
    { weight: 3, arbitrary: fc.string({ unit: fc.constantFrom(...' \t\n\u00a0\u200b\u2060",;ab0ü'), maxLength: 6 }) },
    { weight: 1, arbitrary: fc.constant('') },
  )
  // Unreadable text becomes U+FFFD, which looks like a written one. Ditto marks have separate tests.
  .filter((text) => !/[\ufffd\ue000]/.test(text) && !isDitto(text));
const cells: fc.Arbitrary<Cells> = fc.tuple(cell, cell, cell, cell);
/** Windows-1252 cannot write every cell, and accepts every byte. */
const unicode = fc.constantFrom(...ENCODINGS.filter((encoding) => encoding !== 'windows-1252'));

test('rows are numbered from 1 in order, fields are trimmed, values stay as written', async () => {
  const property = fc.asyncProperty(unicode, fc.array(cells, { maxLength: 8 }), async (encoding, body) => {
    // A line with one cell of words may be a footer, which has tests of its own.
    const isFooter = (of: Cells) =>
      of.filter((text) => trimmed(text) !== '').length === 1 && /\p{L}{2}/u.test(of.join());
    fc.pre(body.some(isThere) && !body.some(isFooter));
    const { table, rows } = await readAll(encode(csv(body), encoding), { map: MAP });
    expect(table.encoding).toBe(withoutBom(encoding));
    expect(rows.map(verdict)).toEqual(body.filter(isThere).map((of, index) => ({ row: index + 1, ...judged(of) })));
    expect(rows.map(({ values }) => values)).toEqual(body.filter(isThere));
  });
  await fc.assert(property, { numRuns: 100 });
});

/** Bytes that are invalid in any context. */
const DAMAGE: readonly [what: string, encoding: Plain, bytes: Buffer][] = [
  ['a byte of no character', 'utf-8', Buffer.of(0xff)],
  ['a byte out of place', 'utf-8', Buffer.of(0x80)],
  ['two bytes, cut short', 'utf-8', Buffer.of(0xc3)],
  ['three bytes, cut short', 'utf-8', Buffer.of(0xe2, 0x82)],
  ['four bytes, cut short', 'utf-8', Buffer.of(0xf0, 0x9f, 0x98)],
  ['more bytes than it needs', 'utf-8', Buffer.of(0xc0, 0xaf)],
  ['half of a pair', 'utf-8', Buffer.of(0xed, 0xa0, 0x80)],
  ['beyond the last character', 'utf-8', Buffer.of(0xf4, 0x90, 0x80, 0x80)],
  ['a first half alone', 'utf-16le', Buffer.of(0x00, 0xd8)],
  ['a second half alone', 'utf-16le', Buffer.of(0x00, 0xdc)],
  ['a first half alone', 'utf-16be', Buffer.of(0xd8, 0x00)],
  ['a second half alone', 'utf-16be', Buffer.of(0xdc, 0x00)],
];

test.each(DAMAGE)('%s in %s: only the rows that contain it are BAD_ENCODING', async (_, encoding, bad) => {
  const row = fc.record({ written: cells, damaged: fc.boolean() });
  const property = fc.asyncProperty(fc.boolean(), fc.array(row, { maxLength: 6 }), async (bom, drawn) => {
    const body = drawn.map(({ written, damaged }) => ({ of: damaged ? marked(written) : written, damaged }));
    fc.pre(body.some(({ of }) => isThere(of)));
    const [first = '', ...others] = csv(body.map(({ of }) => of)).split(MARK);
    const rest = others.flatMap((piece) => [bad, encode(piece, encoding)]);
    const bytes = Buffer.concat([encode(first, bom ? `${encoding} with BOM` : encoding), ...rest]);
    const { table, rows } = await readAll(bytes, { encoding, map: MAP });
    const warned = table.warnings.some(({ code, text }) => code === 'BYTES_INVALID' && text.includes(` ${encoding}.`));
    expect(warned).toBe(body.some(({ damaged }) => damaged));
    const expected = body
      .filter(({ of }) => isThere(of))
      .map(({ of, damaged }, index) => ({ row: index + 1, ...judged(of), ...(damaged && { code: 'BAD_ENCODING' }) }));
    expect(rows.map(verdict)).toEqual(expected);
  });
  await fc.assert(property, { numRuns: 12 });
});

test('without a given encoding or a mark it is UTF-8 if a fifth of the special characters fit, otherwise no row is bad', async () => {
  const names = { plain: 'Muller', good: Buffer.from('Müller').toString('latin1'), bad: 'M\xfcller' };
  const kinds = fc.array(fc.constantFrom('plain', 'good', 'bad'), { minLength: 1, maxLength: 12 });
  const property = fc.asyncProperty(kinds, async (drawn) => {
    const lines = drawn.map((kind) => `${names[kind]},DE,1\n`);
    const { table, rows } = await readAll(Buffer.from(HEADER + lines.join(''), 'latin1'));
    const count = (wanted: string) => drawn.filter((kind) => kind === wanted).length;
    const isUtf8 = count('bad') === 0 || count('good') * 4 >= count('bad');
    expect(table.encoding).toBe(isUtf8 ? 'utf-8' : 'windows-1252');
    const codes = drawn.map((kind) => (isUtf8 && kind === 'bad' ? 'BAD_ENCODING' : undefined));
    expect(rows.map(({ problem }) => problem?.code)).toEqual(codes);
  });
  await fc.assert(property, { numRuns: 100 });
});

const marked = ([name, country, number, note]: Cells): Cells => [name, country, number, `x${MARK}x${note}`];

const csv = (body: readonly Cells[]): string =>
  stringify([[...FIELDS, 'note'], ...body], { record_delimiter: '\n', quoted_match: /[\r\n"]/ });

const trimmed = (text: string): string => text.replace(/^[\s\u200b\u2060]+|[\s\u200b\u2060]+$/g, '');

/** A line of blanks is not a row. */
const isThere = (of: Cells): boolean => of.some((text) => trimmed(text) !== '');

/** Fields and problem of a readable row. */
function judged(of: Cells): { fields: object; code: string | undefined } {
  const fields = FIELDS.flatMap((field, index) => {
    const value = trimmed(of[index] ?? '');
    return value === '' || isPlaceholder(value, field) ? [] : [[field, value]];
  });
  const has = (field: string) => fields.some(([name]) => name === field);
  const code =
    !has('name') && !has('registration_number') ? 'NO_IDENTIFIER' : has('country') ? undefined : 'NO_COUNTRY';
  return { fields: Object.fromEntries(fields), code };
}

const verdict = ({ row, fields, problem }: InputRow) => ({ row, fields, code: problem?.code });

const withoutBom = (encoding: Plain | `${Plain} with BOM`): Plain => encoding.replace(' with BOM', '') as Plain;
