import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decoderFor } from '../../src/sheets/encoding/encodings.js';
import { guessEncoding, NonUtf8Sample } from '../../src/sheets/encoding/guess-encoding.js';
import { encoderFor } from './encoders.js';
import { LISTS } from './lists.js';
import { readSheet } from './with-file.js';

/** Bytes as another program writes them. */
test.each([
  ['cp437', 'Großgärtnerei Piñata', '47726fe1678472746e65726569205069a4617461'],
  ['cp737', 'Αθήνα', '809fe3a498'],
  ['cp775', 'Šiaulių pramonė', 'be6961756c69d6207072616d6f6ed3'],
  ['cp850', 'Getränke Straße Øl', '47657472846e6b652053747261e165209d6c'],
  ['cp852', 'Łódź Říčany Győr', '9da264ab20fca19f616e792047798b72'],
  ['cp855', 'Москва', 'd3d6e3c6eba0'],
  ['cp857', 'İstanbul Ağaç Şişe', '987374616e62756c2041a76187209e699f65'],
  ['cp858', 'Öl für 5 €', '996c20668172203520d5'],
  ['cp866', 'Череповец', '97a5e0a5afaea2a5e6'],
])('%s reads %s', async (encoding, word, hex) => {
  const bytes = Buffer.concat([Buffer.from('name\n'), Buffer.from(hex, 'hex'), Buffer.from('\n')]);
  const { sheet, lines } = await readSheet(bytes, { encoding });
  expect([lines[0]?.cells, sheet.warnings]).toEqual([[word], []]);
});

test.each([
  ['dos', 'cp850'],
  ['ibm850', 'cp850'],
  ['OEM-852', 'cp852'],
  ['437', 'cp437'],
  ['IBM866', 'cp866'],
])('--encoding %s', async (given, encoding) => {
  expect((await readSheet('name\nA\n', { encoding: given })).sheet.encoding).toBe(encoding);
});

const SAVED_BY_DOS = [
  ['German', 'cp850'],
  ['French', 'cp850'],
  ['Spanish', 'cp850'],
  ['Nordic', 'cp850'],
  ['Polish', 'cp852'],
  ['Czech', 'cp852'],
  ['Hungarian', 'cp852'],
  ['Russian', 'cp866'],
  ['Greek', 'cp737'],
  ['Turkish', 'cp857'],
  ['Lithuanian', 'cp775'],
] as const;

describe.each(SAVED_BY_DOS)('%s in %s', { tags: 'long' }, (language, encoding) => {
  const encode = encoderFor(encoding);
  const names = LISTS.find((list) => list.language === language)?.names ?? [];

  test('is detected', async () => {
    const { sheet, lines } = await readSheet(encode(`name;city\n${names.join('\n')}\n`));
    expect([sheet.encoding, lines.map(({ cells }) => cells.join(';'))]).toEqual([encoding, names]);
  });

  test('one to 200 rows of its words are read correctly, or asked about', () => {
    const words = fc.constantFrom(...names.flatMap((name) => name.split(/[ ;]/)));
    const rows = fc.array(fc.tuple(words, words, words), { minLength: 1, maxLength: 200, size: 'max' });
    const property = fc.property(rows, (drawn) => {
      const text = drawn.map(([one, two, city]) => `${one} ${two};${city}`).join('\n');
      const { encoding: seen, rival, unreadable } = found(encode(text));
      if (rival === undefined && unreadable === undefined) expect(decoderFor(seen).decode(encode(text))).toBe(text);
    });
    // Detection is not certain: of all random short lists, one in some thousands reads as words of another language.
    fc.assert(property, { numRuns: 10, seed: 1 });
  });
});

test('a few words are not enough to distinguish an old Mac file from a DOS file', () => {
  const text = 'Château Pétrus;Libourne\nCrèmerie Lefèvre;Évreux\nÇa ira;Alès';
  for (const encoding of ['macintosh', 'cp850']) {
    const { encoding: seen, rival } = found(encoderFor(encoding)(text));
    expect([seen, rival?.encoding]).toContain(encoding);
  }
});

test('text without words in any encoding is refused before anything is bought', async () => {
  const bytes = Buffer.from('name\nGro\xf7\xdfinger\nL\xf7\xdcftung\nStra\xf7\xb1e\n', 'latin1');
  await expect(readSheet(bytes)).rejects.toMatchObject({
    code: 'UNKNOWN_ENCODING',
    hint: expect.stringMatching(/--encoding/),
  });
});

function found(bytes: Buffer) {
  const odd = new NonUtf8Sample();
  odd.update(bytes);
  odd.end();
  return guessEncoding(odd);
}
