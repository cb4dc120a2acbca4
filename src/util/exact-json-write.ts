import { ExactNumber } from './exact-json.js';

/** Writes what parseExact reads, digit for digit. Like the parser it does not recurse. */
export function stringifyExact(value: unknown, indent = 0): string {
  const parts: string[] = [];
  const stack: Frame[] = [];
  let current: unknown = value;
  for (;;) {
    const opened = writeValue(current, parts);
    if (opened !== undefined) stack.push(opened);
    let next = stack.at(-1);
    while (next !== undefined && next.at === next.size) {
      stack.pop();
      if (next.size > 0) parts.push(lineBreak(stack.length, indent));
      parts.push(next.close);
      next = stack.at(-1);
    }
    if (next === undefined) return parts.join('');
    if (next.at > 0) parts.push(',');
    parts.push(lineBreak(stack.length, indent));
    current = step(next, parts, indent);
  }
}

interface Frame {
  readonly close: ']' | '}';
  readonly size: number;
  readonly items: readonly unknown[] | readonly (readonly [string, unknown])[];
  at: number;
}

function writeValue(value: unknown, parts: string[]): Frame | undefined {
  if (value instanceof ExactNumber) {
    parts.push(value.text);
  } else if (Array.isArray(value)) {
    parts.push('[');
    return { close: ']', size: value.length, items: value, at: 0 };
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    parts.push('{');
    return { close: '}', size: members.length, items: members, at: 0 };
  } else {
    parts.push(JSON.stringify(value) ?? 'null');
  }
  return undefined;
}

function step(frame: Frame, parts: string[], indent: number): unknown {
  const item = frame.items[frame.at++];
  if (frame.close === ']') return item;
  const [key, value] = item as readonly [string, unknown];
  parts.push(JSON.stringify(key), indent > 0 ? ': ' : ':');
  return value;
}

const lineBreak = (depth: number, indent: number) => (indent > 0 ? `\n${' '.repeat(depth * indent)}` : '');
