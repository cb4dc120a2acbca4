/** Of a terminal, in characters. */
export interface Screen {
  readonly rows: number;
  readonly columns: number;
}

/** How many of `most` can be shown, at least one, so that all of the text that shows them is on the screen at once. */
export function fitScreen(most: number, { rows, columns }: Screen, textOf: (shown: number) => string): number {
  let shown = most;
  while (shown > 1 && linesOn({ columns }, textOf(shown)) > rows) shown -= 1;
  return shown;
}

/** As the terminal breaks them. */
export function linesOn({ columns }: Pick<Screen, 'columns'>, text: string): number {
  const width = Math.max(1, columns);
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / width)), 0);
}

/** Han, kana, Hangul and full forms take two columns. */
const widthOf = (line: string): number => [...line].length + (line.match(WIDE)?.length ?? 0);

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\u{1f300}-\u{1faff}]/gu;
