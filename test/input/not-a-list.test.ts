import { expect, test } from 'vitest';
import { ColumnsUnclearError } from '../../src/input/decide-columns.js';
import type { InputOptions } from '../../src/input/types.js';
import { encoderFor } from '../sheets/encoders.js';
import { textRow, workbook } from '../sheets/with-workbook.js';
import { readAll } from './read-all.js';

const refusal = async (content: string | Uint8Array, options: InputOptions = {}): Promise<unknown> =>
  readAll(content, options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );

const README = `# Company

This tool reads a list of companies, one for each line, and buys data.

## Usage

| name | country | what it is |
|---|---|---|
| Acme | GB | a company, as an example |

- Run it with the list, then wait.
- Look at the results, the tables, and the notes.

It needs Node 22, npm, and a key. Nothing else is needed, as far as we know.
Names, numbers and countries are read.
`;

test.each([
  ['a README with a table in it', README],
  [
    'a README that begins with a known header',
    '# Company\n\nWe are a company that makes tools for other people here.\n\n- fast\n- cheap\n',
  ],
  ['a letter', 'Dear Sir or Madam,\n\nPlease find the list of companies enclosed, as agreed.\n\nYours,\nJane Doe\n'],
  ['a letter of short lines', 'Sehr geehrte Frau Koch\n\nanbei die Liste\nAlder GmbH in Bonn\nBeech AG in Köln\n'],
  ['a letter to a company', 'Firma\nAlder GmbH\nHauptstr. 5\n53111 Bonn\n\nWir danken.\nMit freundlichen Grüßen\n'],
  ['keys and values', 'Name: Acme Ltd\nCountry: GB\n\nName: Beta GmbH\nCountry: DE\n'],
  ['a poem', 'roses are red\nviolets are blue\nsugar is sweet\n'],
  ['a log', '2026-11-17T10:00:00Z INFO started, name=foo\n2026-11-17T10:00:01Z WARN not found: Acme GmbH\n'],
  ['code', 'import { a } from "./a.js";\n\nexport function f(name, country) {\n  return [name, country, 1];\n}\n'],
  ['JSON', '[\n  {"name": "Acme", "country": "DE"}\n]\n'],
  ['JSON lines', '{"name": "Acme", "country": "DE"}\n{"name": "Beta", "country": "DE"}\n'],
  ['a piece of HTML', '<div class="x"><table><tr><td>name</td></tr></table></div>\n'],
])('a text is refused with its first line: %s', async (_, content) => {
  const [first = ''] = content.split('\n', 1);
  expect(await refusal(content)).toMatchObject({
    code: 'NOT_A_LIST',
    exit: 2,
    message: expect.stringContaining(JSON.stringify(first).slice(0, 12)),
  });
});

test.each([
  ['of text', 'Company name,Acme Ltd,Beta GmbH\nRegistration number,00445790,HRB 1\nCountry,GB,DE\nCity,Leeds,Bonn\n'],
  ['of German names', 'Firma;Acme Ltd;Beta GmbH\nLand;GB;DE\nHRB;00445790;HRB 1\nUmsatz;1;2\n'],
])('a transposed list is refused, with its field names: %s', async (_, content) => {
  expect(await refusal(content)).toMatchObject({ code: 'TRANSPOSED_LIST', exit: 2 });
  expect(await refusal(content, { headerLine: 0 })).toMatchObject({ code: 'TRANSPOSED_LIST' });
});

test.each([
  ['of codes', 'Acme Ltd,Beta GmbH,Cedar SARL\nGB,DE,FR\n00445790,HRB 317,552100554\n'],
  ['of names', 'Acme;Beta;Cedar\n00445790;HRB 317;552100554\nUnited Kingdom;Germany;France\nLeeds;Köln;Paris\n'],
  ['beside an empty column', ';Acme Ltd;Beta GmbH\n;GB;DE\n;00445790;HRB 317\n'],
])('a transposed list without field names is refused, with its countries: %s', async (_, content) => {
  expect(await refusal(content)).toMatchObject({ code: 'TRANSPOSED_LIST', exit: 2 });
});

test.each([
  [
    'with a header',
    'NAME                COUNTRY  REGNO\nAlder GmbH          DE       HRB 317\nBeech Ltd           GB       00445790\n',
  ],
  ['without one', 'Alder GmbH          DE       HRB 317\nBeech Limited       GB       00445790\n'],
])('a file of fixed width is refused: %s', async (_, content) => {
  expect(await refusal(content)).toMatchObject({ code: 'FIXED_WIDTH_LIST', exit: 2 });
});

test('a transposed workbook is refused', async () => {
  const data = textRow('Name', 'Acme Ltd', 'Beta GmbH') + textRow('Country', 'GB', 'DE') + textRow('VAT', 'GB1', 'DE2');
  expect(await refusal(await workbook({ data }))).toMatchObject({ code: 'TRANSPOSED_LIST' });
});

test.each([
  ['with two rows', 'Acme Ltd,GB,00445790\nBeta Ltd,GB,00445791\n'],
  ['of names without a legal form', 'Danone,FR\nSiemens,DE\nPhilips,NL\n'],
])('the suggestion for a list without a header works: %s', async (_, content) => {
  const error = await refusal(content);
  if (!(error instanceof ColumnsUnclearError)) throw new Error('it was read', { cause: error });
  const { rows } = await readAll(content, { headerLine: 0, map: error.ways[0] });
  expect(rows).toHaveLength(content.trim().split('\n').length);
});

test('a single line can be read as a company', async () => {
  const content = 'Acme Ltd,GB,00445790\n';
  expect(await refusal(content)).toMatchObject({ hint: expect.stringContaining('--header-line 0') });
  expect(await refusal(content, { headerLine: 0 })).toBeInstanceOf(ColumnsUnclearError);
});

test('a list without any usable column shows its columns, with and without a header', async () => {
  const rows = '12,2024-01-01,30\n13,2024-01-02,31\n14,2024-01-03,32\n';
  for (const options of [{}, { headerLine: 0 }]) {
    expect(await refusal(rows, options)).toMatchObject({ code: 'NO_USABLE_COLUMN', exit: 2 });
    expect(await refusal(rows, options)).not.toMatchObject({ hint: expect.stringContaining('--header-line N') });
  }
  expect(await refusal(`Amount,Date,Pieces\n${rows}`)).toMatchObject({
    code: 'NO_USABLE_COLUMN',
    message: expect.stringMatching(/"Amount".*2024-01-01/),
  });
});

test.each([
  ['Italian headers', 'windows-1252', 'Ragione sociale;Comune;Partita IVA\nBianchi e Figli;Forlì;00800010407\n'],
  ['Italy as the country', 'windows-1252', 'Name;City;Country\nAlfa;Forlì;Italy\nBeta;Roma;Italy\n'],
  ['Czech headers', 'windows-1250', 'Název;Město;IČO\nAlfa;Plzeň;25596641\n'],
  ['the Czech Republic as the country', 'windows-1250', 'Name;City;Country\nAlfa;Plzeň;Czech Republic\n'],
  ['Polish headers', 'windows-1250', 'Nazwa;Miasto;KRS\nAlfa;Poznań;0000519203\n'],
  ['Dutch headers', 'windows-1252', 'Bedrijfsnaam;Plaats;KvK\nOriënt;Geïllustreerd;24018564\n'],
] as const)('headers and countries decide between code pages: %s', async (_, encoding, text) => {
  const { table, rows } = await readAll(encoderFor(encoding)(text));
  expect(table.encoding).toBe(encoding);
  expect(rows[0]?.values.join(';')).toBe(text.split('\n')[1]);
});

test('headers in one language beside another country are asked about', async () => {
  const bytes = encoderFor('windows-1250')('Ragione sociale;Comune;Paese\nAlfa;Plzeň;CZ\nBeta;Roma;IT\n');
  expect(await refusal(bytes)).toMatchObject({ code: 'UNKNOWN_ENCODING' });
});
