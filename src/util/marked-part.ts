import { readFileSync, writeFileSync } from 'node:fs';

/** The two lines of a file between which a script writes. */
export interface Marks {
  readonly start: string;
  readonly end: string;
}

/** Replaces the text between the marks of a file. */
export const writeMarked = (path: URL, marks: Marks, part: string): void =>
  writeFileSync(path, replaceMarked(readFileSync(path, 'utf8'), marks, part));

export function replaceMarked(text: string, { start, end }: Marks, part: string): string {
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the marks are lost: ${start} … ${end}`);
  return `${text.slice(0, from + start.length)}\n\n${part.trim()}\n\n${text.slice(to)}`;
}
