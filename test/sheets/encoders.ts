import { decodeCodePage, isCodePage } from '../../src/sheets/encoding/encodings.js';

/** Writes text in an encoding that Node only reads, by inverting its decoder. */
export function encoderFor(encoding: string): (text: string) => Buffer {
  const bytes = tableOf(encoding);
  return (text) =>
    Buffer.from(
      [...text].flatMap((character) => {
        const code = character.codePointAt(0) ?? 0;
        if (code < 0x80) return [code];
        const found = bytes.get(character);
        if (found === undefined) throw new Error(`${character} cannot be written in ${encoding}`);
        return found;
      }),
    );
}

const tables = new Map<string, Map<string, number[]>>();

function tableOf(encoding: string): Map<string, number[]> {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = new Map<string, number[]>();
  const page = isCodePage(encoding) ? encoding : undefined;
  const decoder = new TextDecoder(page === undefined ? encoding : 'utf-8');
  const decode = (bytes: Uint8Array) => (page === undefined ? decoder.decode(bytes) : decodeCodePage(page, bytes));
  const take = (sequence: number[]) => {
    const text = decode(Uint8Array.from(sequence));
    if ([...text].length === 1 && text !== '\ufffd' && !table.has(text)) table.set(text, sequence);
  };
  for (let byte = 0x80; byte < 0x100; byte++) take([byte]);
  if (!/^(windows|iso|koi8|mac|x-mac|cp)/.test(encoding)) {
    for (let lead = 0x81; lead < 0xff; lead++) for (let trail = 0x40; trail < 0xff; trail++) take([lead, trail]);
  }
  // Node reads windows-1252 as ISO 8859-1, so the differences are corrected.
  if (encoding === 'windows-1252') {
    const high = { '€': 0x80, '„': 0x84, Š: 0x8a, Œ: 0x8c, Ž: 0x8e, '“': 0x93, '”': 0x94, '–': 0x96, š: 0x9a, œ: 0x9c };
    for (const [character, byte] of Object.entries(high)) table.set(character, [byte]);
  }
  tables.set(encoding, table);
  return table;
}
