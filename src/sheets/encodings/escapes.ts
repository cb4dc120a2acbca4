/** ESC $ B, ESC $ @, ESC ( J: the escape sequences with which Japanese mail and mainframes change to another alphabet. */
const ESCAPES = ['\x1b$B', '\x1b$@', '\x1b(J', '\x1b(I'].map((sequence) => Buffer.from(sequence, 'latin1'));

export const ESCAPE = 0x1b;

/** Whether the bytes hold escape sequences of ISO-2022-JP. It is plain ASCII otherwise, so nothing else gives it away. */
export function hasJapaneseEscapes(bytes: Buffer): boolean {
  return bytes.includes(ESCAPE) && ESCAPES.some((sequence) => bytes.includes(sequence));
}
