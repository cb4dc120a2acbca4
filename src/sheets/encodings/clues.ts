import type { SingleByteEncoding } from './languages.js';

/** Legal forms and country codes in plain letters that tell where a company with other letters in its name is from. */
const CLUES: readonly (readonly [SingleByteEncoding, RegExp])[] = [
  [
    'windows-1250',
    clue('PL|CZ|SK|HU|RO|HR|SI|POL|CZE|HUN|ROU', 'sp\\. ?z ?o\\. ?o|s\\.r\\.o|spol\\.|kft|zrt|nyrt|d\\.o\\.o'),
  ],
  ['windows-1251', clue('RU|BG|UA|BY|RS|MK|KZ|RUS|UKR|BGR', 'OOO|ZAO|PAO|EOOD|OOD')],
  ['windows-1255', clue('IL|ISR', '')],
  ['windows-1256', clue('AE|SA|EG|JO|KW|QA|BH|OM|LB|IQ|MA|DZ|TN|LY|ARE|SAU|EGY', '')],
  ['windows-874', clue('TH|THA', '')],
  ['windows-1253', clue('GR|CY|GRC', '')],
  ['windows-1254', clue('TR|TUR', 'tic|san\\. ve|ltd\\. \\S?ti')],
  ['windows-1257', clue('LT|LV|EE|LTU|LVA|EST', 'uab|sia')],
  [
    'windows-1252',
    clue('FR|ES|PT|IT|DK|NO|SE|FI|BR|MX|BE|CH|IS', 'sarl|s\\.p\\.a|s\\.l|ltda|aps|gmbh|s\\.a\\.r\\.l|oy'),
  ],
];

/** What DOS saved the same languages in. */
const OF_DOS: Readonly<Partial<Record<SingleByteEncoding, readonly SingleByteEncoding[]>>> = {
  'windows-1250': ['cp852'],
  'windows-1251': ['cp866', 'cp855'],
  'windows-1252': ['cp850', 'cp858', 'cp437'],
  'windows-1253': ['cp737'],
  'windows-1254': ['cp857'],
  'windows-1255': ['cp862'],
  'windows-1257': ['cp775'],
};

/** Of each encoding, how many of these lines speak for it. */
export function cluesIn(lines: readonly Buffer[]): ReadonlyMap<SingleByteEncoding, number> {
  const texts = lines.map((line) => line.toString('latin1'));
  const counts = CLUES.map(
    ([encoding, pattern]) => [encoding, texts.filter((text) => pattern.test(text)).length] as const,
  );
  return new Map(
    counts.flatMap(([encoding, count]) => [encoding, ...(OF_DOS[encoding] ?? [])].map((each) => [each, count])),
  );
}

/** A code stands alone in its cell; a form is a word. */
function clue(codes: string, forms: string): RegExp {
  const cell = `(?:^|[,;\\t|"])(?:${codes})(?=$|[,;\\t|"\\r])`;
  return new RegExp(forms === '' ? cell : `${cell}|(?<![\\w.])(?:${forms})(?![\\w])`, 'i');
}
