import type { DecidedBy, ReadColumn } from '../../app/how-to-read.js';
import type { PlanView } from '../../app/plan.js';
import { outsideText } from '../../util/outside-text.js';

/** What fits on any terminal: a narrower one wraps. */
export const NARROWEST = 80;

/** Which column is read as what, with some of its cells; and what is carried through only. `width`: of the terminal. */
export function columnsInWords({ columns: { read, country, all } }: PlanView, width: number): readonly string[] {
  const taken = new Set(read.flatMap(({ source }) => source));
  const carried = all.filter((_, index) => !taken.has(index)).map((name) => outsideText(name, 40));
  const lines = read.map(({ field, header, decidedBy, samples }) => [field, header, HOW[decidedBy], samples] as const);
  return [
    'Columns',
    ...columnTable(lines, width).trimEnd().split('\n'),
    ...(country === null ? [] : [`  country of rows that name none: ${country}`]),
    ...(carried.length === 0 ? [] : [cut(`  carried through only: ${carried.join(', ')}`, roomIn(width))]),
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

/**
 * Cells below one another, and behind them as many samples as there is room for, none of them cut: where there is none for
 * the first, they have a line of their own.
 */
export function columnTable(lines: readonly (readonly [...string[], readonly string[]])[], width: number): string {
  const wide = roomIn(width);
  const rows = lines.map((line) => ({
    words: line.slice(0, -1).map((word) => cut(outsideText(String(word)), Math.floor(wide * 0.35))),
    samples: (line.at(-1) as readonly string[]).map((sample) => outsideText(sample)),
  }));
  const widths = (rows[0]?.words ?? []).map((_, index) =>
    Math.max(...rows.map(({ words }) => widthOf(words[index] ?? ''))),
  );
  return rows
    .map(({ words, samples }) => {
      const padded = words.map((word, index) => word + ' '.repeat((widths[index] ?? 0) - widthOf(word)));
      const start = `  ${padded.join('  ')}`;
      const beside = asManyAsFit(samples, wide - widthOf(start) - 2);
      if (beside !== '' || samples.length === 0) return `${`${start}  ${beside}`.trimEnd()}\n`;
      const below = asManyAsFit(samples, wide - 6) || cut(samples[0] ?? '', wide - 6);
      return `${start.trimEnd()}\n      ${below}\n`;
    })
    .join('');
}

const roomIn = (width: number): number => Math.max(width, NARROWEST);

/** Whole samples, the first ones; empty where not even one fits. */
function asManyAsFit(samples: readonly string[], room: number): string {
  const shown = samples.map((_, index) => samples.slice(0, index + 1).join(', '));
  return shown.findLast((text) => widthOf(text) <= room) ?? '';
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
