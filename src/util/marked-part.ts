import { readFileSync, writeFileSync } from 'node:fs';

/** The two lines of a file between which a script writes. */
export interface Marks {
  readonly start: string;
  readonly end: string;
}

/** The text between the marks, trimmed. */
export function readMarked(text: string, marks: Marks): string {
  return text.slice(...between(text, marks)).trim();
}

/** Replaces the text between the marks of a file. */
export function writeMarked(path: URL, marks: Marks, part: string): void {
  const text = readFileSync(path, 'utf8');
  const [from, to] = between(text, marks);
  writeFileSync(path, `${text.slice(0, from)}\n\n${part.trim()}\n\n${text.slice(to)}`);
}

function between(text: string, { start, end }: Marks): [number, number] {
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the marks are lost: ${start} … ${end}`);
  return [from + start.length, to];
}
