import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decoderFor } from '../../src/sheets/encoding/encodings.js';
import { guessEncoding, NonUtf8Sample } from '../../src/sheets/encoding/guess-encoding.js';
import { SHEET_ENCODINGS } from '../../src/sheets/sheet.js';
import { long } from '../helpers/long.js';
import { encoderFor } from './encoders.js';
import { LISTS } from './lists.js';
import { readSheet } from './with-file.js';

const HEADER = 'name;city;number\n';
const guessed = (encoding: string) => ({
  code: 'ENCODING_GUESSED',
  text: expect.stringMatching(new RegExp(` ${encoding}(?:, such as ".+".* --encoding NAME)?$`)),
});
const csv = (names: readonly string[]) => HEADER + names.map((name, index) => `${name};${index}\n`).join('');

describe.each(LISTS)('$language in $encoding', { tags: 'long' }, ({ encoding, names }) => {
  const encode = encoderFor(encoding);

  test('is detected', async () => {
    const text = csv(names);
    const { sheet, lines } = await readSheet(encode(text), {}, ['name', 'city', 'number']);
    const cells = lines.map((line) => line.cells.join(';'));
    expect([sheet.encoding, cells]).toEqual([encoding, names.map((name, index) => `${name};${index}`)]);
    expect(sheet.warnings).toEqual([guessed(encoding)]);
  });

  test('a few lines of it are read correctly, or asked about', () => {
    const few = fc.shuffledSubarray([...names], { minLength: 1, maxLength: 6 });
    const property = fc.property(few, (drawn) => {
      const text = drawn.join('\n');
      const odd = new NonUtf8Sample();
      odd.update(encode(text));
      odd.end();
      const { encoding: seen, rival } = guessEncoding(odd);
      // Another encoding that gives this text is also right.
      if (rival === undefined) expect(decoderFor(seen).decode(encode(text))).toBe(text);
    });
    // Detection is not certain: of all random short lists, one in some thousands reads as words of another language.
    fc.assert(property, { numRuns: 20, seed: 1 });
  });
});

test('an ambiguous text is asked about, with both readings and the flags to paste', async () => {
  const bytes = encoderFor('windows-1250')(csv(['Plzeň']));
  await expect(readSheet(bytes)).rejects.toMatchObject({
    code: 'UNKNOWN_ENCODING',
    message: expect.stringMatching(/"Plze.".*"Plze."/),
    hint: expect.stringMatching(/--encoding windows-125\d .*--encoding windows-125\d/),
  });
  const { lines } = await readSheet(bytes, { encoding: 'cp1250' });
  expect(lines[0]?.cells[0]).toBe('Plzeň');
});

test.each([
  ['UTF8', 'utf-8'],
  ['cp1250', 'windows-1250'],
  ['1251', 'windows-1251'],
  ['Win-1253', 'windows-1253'],
  ['ISO-8859-9', 'windows-1254'],
  ['SJIS', 'shift_jis'],
  ['gbk', 'gb18030'],
  ['GB2312', 'gb18030'],
  ['ks_c_5601-1987', 'euc-kr'],
  ['Big5', 'big5'],
  ['mac', 'macintosh'],
])('--encoding %s', async (given, encoding) => {
  expect((await readSheet('name\nA\n', { encoding: given })).sheet.encoding).toBe(encoding);
});

test('two bytes that form a UTF-8 character by chance do not mean two encodings', async () => {
  const names = ['Tecnologística;Lisboa', 'Agroquímica;Braga', 'Íñiganza Automecánica;Porto'];
  const { sheet, lines } = await readSheet(encoderFor('cp850')(csv(names)), {}, ['name', 'city', 'number']);
  expect(sheet.encoding).toBe('cp850');
  expect(lines.map(({ cells }) => cells.slice(0, 2).join(';'))).toEqual(names);
});

test('an unknown encoding is refused with the list', async () => {
  await expect(readSheet('name\n', { encoding: 'ebcdic' })).rejects.toMatchObject({
    code: 'ENCODING_NOT_FOUND',
    hint: expect.stringContaining(SHEET_ENCODINGS.join(', ')),
  });
});

test('Japanese in seven bits is detected by its escape sequences', async () => {
  const [company, city] = ['\x1b$B3t<02q<R\x1b(B', '\x1b$BEl5~\x1b(B'];
  const bytes = Buffer.from(`${company},city\n${company} A,${city}\n`, 'latin1');
  const { sheet, lines } = await readSheet(bytes);
  expect([sheet.encoding, sheet.headers, lines[0]?.cells]).toEqual([
    'iso-2022-jp',
    ['株式会社', 'city'],
    ['株式会社 A', '東京'],
  ]);
  expect(sheet.warnings).toEqual([guessed('iso-2022-jp')]);
  const named = await readSheet(bytes, { encoding: 'jis' });
  expect(named.lines[0]?.cells).toEqual(['株式会社 A', '東京']);
});

test('lines that do not fit the detected or given encoding are invalid', async () => {
  const japanese = LISTS.find(({ encoding }) => encoding === 'shift_jis')?.names ?? [];
  const bytes = Buffer.concat([encoderFor('shift_jis')(csv(japanese)), Buffer.from('\x81\x20;\x85\xff;1\n', 'latin1')]);
  const { lines } = await readSheet(bytes);
  expect(lines.map(({ problem }) => problem?.code).filter(Boolean)).toEqual(['BAD_ENCODING']);
  const named = await readSheet(bytes, { encoding: 'shift_jis' });
  expect(named.sheet.warnings).toEqual([{ code: 'BYTES_INVALID', text: expect.stringContaining('shift_jis') }]);
});

long('characters split between chunks stay intact', async () => {
  const names = LISTS.find(({ encoding }) => encoding === 'gb18030')?.names ?? [];
  const many = Array.from({ length: 30_000 }, (_, index) => `${index}${names[index % names.length]}`);
  const { lines } = await readSheet(encoderFor('gb18030')(csv(many)), { encoding: 'gb18030' });
  expect(lines.map(({ cells }) => `${cells[0]};${cells[1]}`)).toEqual(many);
});

test('in a file that is partly UTF-8, the other rows are invalid', async () => {
  const utf8 = Buffer.from(csv(Array.from({ length: 4 }, (_, row) => `Müller ${row};Köln`)));
  const ansi = Array.from({ length: 6 }, (_, row) => `Großmann ${row};Düren;${row}\n`).join('');
  const bytes = Buffer.concat([utf8, Buffer.from(ansi, 'latin1')]);
  const { sheet, lines } = await readSheet(bytes, {}, ['name', 'city', 'number']);
  expect(sheet.encoding).toBe('utf-8');
  expect(lines.map(({ problem }) => problem?.code)).toEqual([
    ...Array(4).fill(undefined),
    ...Array(6).fill('BAD_ENCODING'),
  ]);
});
