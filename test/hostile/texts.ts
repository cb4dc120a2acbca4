/** Pieces that patterns of this project repeat: separators, groups, repeated characters. */
const PIECES = [
  '0',
  '1',
  'a',
  'A',
  'ä',
  ' ',
  '\t',
  '\n',
  '\u00a0',
  '\u200b',
  '-',
  '.',
  ',',
  '/',
  '|',
  ';',
  ':',
  '_',
  '=',
  '#',
  '?',
  '*',
  '+',
  '@',
  '"',
  "'",
  '(',
  ')',
  '[',
  ']',
  '{',
  '<',
  '&',
  '%',
  '°',
  '²',
  '…',
  '\0',
  '\ufffd',
  '\u0301',
  '\u0301\u0323',
  '有',
  '株式会社',
  '()',
  '(0)',
  '[0',
  '0.',
  '.0',
  '0,0',
  '000.',
  '0 ',
  ' 0',
  'a ',
  'ab ',
  'a.',
  'A-',
  'a@',
  'a@a.',
  'a.-.-.',
  '- ',
  ' - ',
  'DE ',
  'DE/',
  'GB (',
  'HRB ',
  'HRB 1 ',
  'H R',
  'NR. ',
  'NO-',
  'gmbh ',
  'gmbh & co kg ',
  'x ltd (',
  ', 12345',
  '(12345)',
  'as of ',
  '1:00 ',
  'T0:00',
  '2019-',
  '01.01.',
  'linkedin./',
  'http://',
  '=A1',
  '{{',
  'x?',
  '";',
  '[$-',
  '\\',
  'Aaa 0:00:00',
] as const;

/** Beginnings and ends that make a pattern try every way before it fails. */
const AROUND = [
  ['', ''],
  ['', '\u0000'],
  ['0', 'x!'],
  ['HRB 1', '(0'],
  ['Acme Ltd, ', ')'],
] as const;

/** Texts of about this length, each named by its repeated piece. Each is made on demand. */
export function* hostileTexts(length: number): Generator<{ readonly name: string; readonly text: () => string }> {
  for (const piece of PIECES)
    for (const [before, after] of AROUND) {
      const times = Math.ceil(length / piece.length);
      const repeated = () => piece.repeat(times).slice(0, length - before.length - after.length);
      yield { name: JSON.stringify([before, piece, after]), text: () => `${before}${repeated()}${after}` };
    }
  // Nested brackets: each pair can be removed only after the inner one.
  yield { name: 'nested', text: () => '('.repeat(length / 2) + ')'.repeat(length / 2) };
  yield { name: 'halves', text: () => `${'\t'.repeat(length / 2)}0${'\t'.repeat(length / 2 - 3)}(0` };
  yield {
    name: 'words',
    text: () =>
      Array.from({ length: length / 4 }, (_, i) => (i % 900) + 100)
        .join(' ')
        .slice(0, length),
  };
  yield {
    name: 'letters',
    text: () => Array.from({ length: length / 3 }, (_, i) => `${letter(i)}${letter(Math.floor(i / 26))}`).join(' '),
  };
}

const letter = (index: number): string => String.fromCharCode(97 + (index % 26));
