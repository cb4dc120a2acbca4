// Letters and other clues of the languages that an encoding is used for.

import { z } from 'zod';
import { normalizeText } from '../../util/text-limits.js';
import { barredWords, dataFile } from '../../util/yaml.js';
import { SHEET_ENCODINGS, type SheetEncoding } from '../sheet.js';

const encoding = z.enum(SHEET_ENCODINGS);

const languageData = dataFile(
  'sheets/languages',
  z
    .strictObject({
      letters: z.record(
        z.string(),
        z.string().transform((text) => new Map(text.trim().split(/\s+/).map(letterAndCost))),
      ),
      groups: z.record(z.string(), barredWords(z)),
      single_byte: z.partialRecord(encoding, z.strictObject({ prior: z.number(), languages: barredWords(z) })),
      clues: z.array(
        z.strictObject({
          encoding,
          countries: barredWords(z).transform(cells),
          forms: barredWords(z).transform(words).optional(),
          headers: barredWords(z).transform(words).optional(),
        }),
      ),
      of_dos: z.partialRecord(encoding, barredWords(z).pipe(z.array(encoding))),
      usual: z.partialRecord(encoding, z.strictObject({ characters: z.string(), kana: z.literal(true).optional() })),
    })
    .transform(({ groups, single_byte, usual, ...rest }) => ({
      ...rest,
      /** In the order of the file: of two that are as likely the first is meant. */
      singleByte: Object.entries(single_byte).map(([name, { prior, languages }]) => ({
        encoding: encoding.parse(name),
        prior,
        languages: languages.flatMap((language) => groups[language] ?? [language]),
      })),
      multibyte: Object.entries(usual).map(([name, { characters, kana }]) => ({
        encoding: encoding.parse(name),
        characters: new Set([...characters, ...(kana ? KANA : [])]),
      })),
    }))
    .refine(
      ({ letters, singleByte }) =>
        singleByte.every(({ languages }) => languages.every((one) => Object.hasOwn(letters, one))),
      'a language without letters',
    ),
);

function letterAndCost(entry: string): readonly [string, number] {
  const [, letter = '', share = ''] = /^(\D+)([\d.]+)$/.exec(entry) ?? [];
  return [normalizeText(letter, 'NFC'), Math.log(Number(share) / 100)];
}

const KANA = Array.from({ length: 0x30ff - 0x3041 }, (_, index) => String.fromCodePoint(0x3041 + index));

/** The encodings of one byte a character, with the languages that are written in them. */
export const singleByteEncodings = () => languageData().singleByte;

/** The encodings of two bytes a character, with characters that are usual in them. */
export const multibyteEncodings = () => languageData().multibyte;

/** The logarithm of a letter's frequency. A letter that the language lacks occurs only in foreign names. */
export function letterCost(language: string, letter: string): number {
  return languageData().letters[language]?.get(letter) ?? FOREIGN;
}

const FOREIGN = Math.log(0.0005);

/** The weight of one country or legal form beside such a name, and of all of them together. */
const CLUE = 1.5;
const CLUES_AT_MOST = 9;

/** If all countries or the headers agree, an encoding is ten thousand times as likely. */
const AGREED = Math.log(10_000);

/**
 * Evidence for each encoding apart from letters, as a logarithm. `lines` are not ASCII. `head` is the file's beginning.
 * Countries come before the language of the headers, because a German may list Polish companies. If the two differ,
 * neither decides.
 */
export function evidenceIn(lines: readonly Buffer[], head: Buffer): ReadonlyMap<SheetEncoding, number> {
  const texts = lines.map((line) => line.toString('latin1'));
  const { clues, of_dos: ofDos } = languageData();
  const counts = clues.map(({ encoding, countries, forms }) => ({
    encoding,
    lines: texts.filter((text) => countries.test(text) || forms?.test(text) === true).length,
  }));
  const byCountry = clues.filter(({ countries }) => texts.some((text) => countries.test(text)));
  const byHeader = clues.filter(({ headers }) => headersIn(head, headers) >= 2);
  const said = new Set([...byCountry, ...byHeader].map(({ encoding }) => encoding));
  const [agreed] = said.size === 1 ? said : [];
  return new Map(
    counts.flatMap(({ encoding, lines: count }) => {
      const evidence = Math.min(CLUES_AT_MOST, CLUE * count) + (encoding === agreed ? AGREED : 0);
      return [encoding, ...(ofDos[encoding] ?? [])].map((each) => [each, evidence] as const);
    }),
  );
}

/** How many different headers of a language the first lines have. */
function headersIn(head: Buffer, headers: RegExp | undefined): number {
  if (headers === undefined) return 0;
  const lines = head
    .toString('latin1')
    .toLowerCase()
    .split(/[\r\n]+/, HEADER_LINES);
  return Math.max(...lines.map((line) => new Set(line.match(new RegExp(headers, 'gi')) ?? []).size));
}

const HEADER_LINES = 10;

function cells(codes: readonly string[]): RegExp {
  return new RegExp(`(?:^|[,;\\t|"])(?:${codes.join('|')})(?=$|[,;\\t|"\\r])`, 'i');
}

function words(alternatives: readonly string[]): RegExp {
  return new RegExp(`(?<![\\w.\u0080-\u00ff])(?:${alternatives.join('|')})(?![\\w\u0080-\u00ff])`, 'i');
}
