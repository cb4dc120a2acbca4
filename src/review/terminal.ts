/** One key at a time. The end of the keys ends the listener. An empty key stands for keys that came too soon. */
export interface Keys extends AsyncIterable<string, undefined> {
  /** Drops all keys pressed so far, and those that follow them without a pause. */
  drop(): Promise<void>;
}

export const CTRL_C = '\u0003';

/**
 * Reads a line of text key by key. Enter ends it. Escape and a closed terminal keep `before`, its initial value.
 * Undefined: Ctrl-C.
 */
export async function readText(
  keys: AsyncIterator<string>,
  print: (text: string) => void,
  before: string,
  prompt = 'note',
): Promise<string | undefined> {
  print(`\n  ${prompt}: ${before}`);
  let text = before;
  for (;;) {
    const { value: key, done } = await keys.next();
    if (done === true || key === '\u001b') return before;
    if (key === '\r' || key === '\n') return text.trim();
    if (key === CTRL_C) return undefined;
    if (key === '\u007f' || key === '\b') {
      if (text !== '') print('\b \b');
      text = [...text].slice(0, -1).join('');
    } else if (!/^\p{Cc}/u.test(key)) {
      text += key;
      print(key);
    }
  }
}

/**
 * The meaning of typed digits among `count` candidates: one of them, none, or incomplete, because a higher number
 * begins with the same digits. With up to nine candidates one key is enough.
 */
export function typedNumber(digits: string, count: number): number | 'nobody' | 'not_yet' {
  const number = Number(digits);
  if (number < 1 || number > count) return 'nobody';
  return number * 10 <= count ? 'not_yet' : number;
}

export interface Screen {
  readonly rows: number;
  readonly columns: number;
}

/** How many of `most` fit on the screen at once, at least one. */
export function fitScreen(most: number, { rows, columns }: Screen, textOf: (shown: number) => string): number {
  let shown = most;
  while (shown > 1 && linesOn({ columns }, textOf(shown)) > rows) shown -= 1;
  return shown;
}

/** Counted as the terminal wraps them. */
export function linesOn({ columns }: Pick<Screen, 'columns'>, text: string): number {
  const width = Math.max(1, columns);
  return text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / width)), 0);
}

/** Han, kana, Hangul and full-width forms take two columns. */
const widthOf = (line: string): number => [...line].length + (line.match(WIDE)?.length ?? 0);

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\u{1f300}-\u{1faff}]/gu;
