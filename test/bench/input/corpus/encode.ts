/** Text in the encodings that old programs save, by turning the tables of TextDecoder round: nothing here has an encoder for them. */
export type OldEncoding =
  | 'windows-1250'
  | 'windows-1251'
  | 'windows-1252'
  | 'windows-1253'
  | 'windows-1254'
  | 'windows-1257'
  | 'iso-8859-2'
  | 'macintosh'
  | 'shift_jis'
  | 'gb18030'
  | 'euc-kr';

const TWO_BYTES: ReadonlySet<OldEncoding> = new Set(['shift_jis', 'gb18030', 'euc-kr']);
const tables = new Map<OldEncoding, ReadonlyMap<string, readonly number[]>>();

/** Throws for what the encoding does not have: a corpus with question marks in it would prove nothing. */
export function encode(text: string, encoding: OldEncoding): Buffer {
  const table = tableOf(encoding);
  const bytes: number[] = [];
  for (const character of text) {
    const code = table.get(character);
    if (code === undefined) throw new RangeError(`${encoding} has no ${JSON.stringify(character)}`);
    bytes.push(...code);
  }
  return Buffer.from(bytes);
}

function tableOf(encoding: OldEncoding): ReadonlyMap<string, readonly number[]> {
  const known = tables.get(encoding);
  if (known !== undefined) return known;
  const table = new Map<string, readonly number[]>();
  const learn = (...code: number[]) => {
    const text = decodeOne(encoding, code);
    if (text !== undefined && !table.has(text)) table.set(text, code);
  };
  for (let byte = 0; byte < 256; byte++) learn(byte);
  if (TWO_BYTES.has(encoding))
    for (let lead = 0x81; lead < 0xff; lead++) for (let trail = 0x31; trail < 0xff; trail++) learn(lead, trail);
  tables.set(encoding, table);
  return table;
}

/** What these bytes are, if they are one character and no less. */
function decodeOne(encoding: OldEncoding, code: readonly number[]): string | undefined {
  const [first = 0] = code;
  // Node 20 takes windows-1252 for Latin-1: what lies between 0x80 and 0x9f comes from a list of our own.
  if (encoding === 'windows-1252') return first >= 0x80 && first < 0xa0 ? C1[first - 0x80] : String.fromCharCode(first);
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(Uint8Array.from(code));
    return [...text].length === 1 && text !== '\ufffd' ? text : undefined;
  } catch {
    return undefined;
  }
}

const C1 = [...'€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'];

export const utf16 = (text: string, order: 'le' | 'be', mark = true): Buffer => {
  const bytes = Buffer.from(mark ? `\ufeff${text}` : text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
};

export const utf8 = (text: string, mark = false): Buffer => Buffer.from(mark ? `\ufeff${text}` : text, 'utf8');
