/** A piece of a line that may have to be short. */
export interface LinePart {
  readonly text: string;
  /** The same where there is little room. */
  readonly short?: string;
  /** What can be done without goes first: the highest number. */
  readonly rank: number;
}

/**
 * The pieces in their order, in as many columns as there are: in full, else shortened, else without those that can be done
 * without. What is cut off at the end of a line is seldom what matters least.
 */
export function fitLine(parts: readonly LinePart[], columns: number): string {
  const full = join(parts.map(({ text }) => text));
  if (full.length <= columns) return full;
  let left = parts;
  for (;;) {
    const line = join(left.map(({ text, short = text }) => short));
    if (line.length <= columns || left.length <= 1) return line.slice(0, Math.max(0, columns));
    const last = Math.max(...left.map(({ rank }) => rank));
    left = left.filter(({ rank }) => rank !== last);
  }
}

const join = (texts: readonly string[]): string => texts.join(', ');
