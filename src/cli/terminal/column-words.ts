import type { DecidedBy, ReadColumn } from '../../app/how-to-read.js';
import type { PlanView } from '../../app/plan.js';
import { outsideText } from '../../util/outside-text.js';

const WIDTH = 80;

/** Which column is read as what, with some of its cells; and what is carried through only. */
export function columnsInWords({ columns: { read, country, all } }: PlanView): readonly string[] {
  const taken = new Set(read.flatMap(({ source }) => source));
  const carried = all.filter((_, index) => !taken.has(index)).map((name) => outsideText(name, 40));
  const lines = read.map(({ field, header, decidedBy, samples }) => [field, header, HOW[decidedBy], samples] as const);
  return [
    'Columns',
    ...columnTable(lines).trimEnd().split('\n'),
    ...(country === null ? [] : [`  country of rows that name none: ${country}`]),
    ...(carried.length === 0 ? [] : [cut(`  carried through only: ${carried.join(', ')}`, WIDTH)]),
  ];
}

const HOW: Readonly<Record<DecidedBy, string>> = {
  header: 'header',
  content: 'header, content',
  pipeline: 'pipeline file',
  map: '--map',
  answer: 'as answered',
  agreed: 'as agreed before',
};

/** Cells below one another, the samples as far as there is room for them. */
export function columnTable(lines: readonly (readonly [...string[], readonly string[]])[]): string {
  const rows = lines.map((line) => ({
    words: line.slice(0, -1).map((word) => cut(outsideText(String(word)), 28)),
    samples: (line.at(-1) as readonly string[]).map((sample) => cut(outsideText(sample), 30)).join(', '),
  }));
  const widths = (rows[0]?.words ?? []).map((_, index) =>
    Math.max(...rows.map(({ words }) => widthOf(words[index] ?? ''))),
  );
  return rows
    .map(({ words, samples }) => {
      const padded = words.map((word, index) => word + ' '.repeat((widths[index] ?? 0) - widthOf(word)));
      return `${cut(`  ${[...padded, samples].join('  ')}`, WIDTH).trimEnd()}\n`;
    })
    .join('');
}

/** Characters of East Asia are as wide as two. */
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;
const widthOf = (text: string): number => [...text].reduce((sum, letter) => sum + (WIDE.test(letter) ? 2 : 1), 0);

function cut(text: string, atMost: number): string {
  if (widthOf(text) <= atMost) return text;
  let kept = '';
  let width = 1;
  for (const letter of text) {
    width += widthOf(letter);
    if (width > atMost) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

export const columnsToJson = ({ columns: { read } }: PlanView) =>
  read.map(({ field, header, source, decidedBy, samples }: ReadColumn) => ({
    field,
    header: outsideText(header),
    column:
      typeof source === 'number' ? source + 1 : source.map((piece) => (typeof piece === 'number' ? piece + 1 : piece)),
    decided_by: decidedBy,
    samples: samples.map((sample) => outsideText(sample, 100)),
  }));
