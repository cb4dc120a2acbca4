/** An integer of a request beyond 2^53, kept as its digits. */
export class WireInteger {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    return this.text;
  }
}

const mark = '\u0000int:';

/** JSON.parse that keeps the digits of long integers, because IDs may be longer than a double holds. */
export function parseBody(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
    token.startsWith('"') ? token : `"\\u0000int:${token}"`,
  );
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? new WireInteger(value.slice(mark.length)) : value,
  );
}

/** Parameters as JSON with sorted names: equal requests have equal texts. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value instanceof WireInteger) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const name of Object.keys(members).sort()) {
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonical(members[name])}`;
  }
  return `{${text}}`;
}
