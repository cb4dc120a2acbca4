import { isAscii, isUtf8 } from 'node:buffer';
import type { SheetEncoding } from '../sheet.js';
import { decoderFor } from './encodings.js';
import { evidenceIn, type SingleByteEncoding } from './languages.js';
import { hasSignWithin, likelihood, SINGLE_BYTE } from './single-byte.js';

export interface Detected {
  readonly encoding: SheetEncoding;
  /** Another one that may be meant as well, and reads something differently. */
  readonly rival?: { readonly encoding: SheetEncoding; readonly readings: readonly [string, string] };
  /** A word that even this one, the likeliest of all, reads with signs between its letters, as most others. */
  readonly unreadable?: string;
}

/** The right one has as many usual characters; a wrong one next to none. */
const GOOD_FIT = 0.2;
const CLEARLY_BETTER = 2;

/** A hundred times as likely. */
const SURE = Math.log(100);

/** What old Macs saved is rare, and much of it looks like words in what DOS saved, and the other way round. */
const SURE_OF_MACINTOSH = 3 * SURE;

/** A file may have damaged words; in the right encoding few have signs between their letters. */
const MOST_WITH_SIGNS = 0.25;

/** Words of the right encoding are likelier than this, letter by letter. */
const UNLIKELY_LETTER = -5.5;

/** The encoding of lines that are not UTF-8; with a rival if the evidence is not strong. `head`: the file's beginning. */
export function guessEncoding(odd: NonUtf8Sample, head: Buffer = Buffer.alloc(0)): Detected {
  const fits = MULTIBYTE.map((encoding) => ({ encoding, fit: fitOf(encoding, odd.lines) })).sort(
    (a, b) => b.fit - a.fit,
  );
  const [best, next] = fits;
  if (best !== undefined && best.fit >= GOOD_FIT) {
    if (next === undefined || best.fit >= next.fit * CLEARLY_BETTER) return { encoding: best.encoding };
    return withRival(best.encoding, next.encoding, odd);
  }
  return detectSingleByte(odd, head);
}

function detectSingleByte(odd: NonUtf8Sample, head: Buffer): Detected {
  const words = wordsIn(odd.lines);
  const evidence = evidenceIn(odd.lines, head);
  const ranked = SINGLE_BYTE.map((encoding) => {
    const read = words.map((word) => decodeAll(word, encoding));
    return { encoding, likely: likelihood(encoding, read, evidence.get(encoding) ?? 0) };
  }).sort((a, b) => b.likely - a.likely);
  const [best] = ranked;
  if (best === undefined) return { encoding: 'windows-1252' };
  const read = words.map((word) => decodeAll(word, best.encoding));
  const withSigns = read.filter(hasSignWithin);
  if (withSigns.length > read.length * MOST_WITH_SIGNS)
    return { encoding: best.encoding, unreadable: withSigns[0] ?? '' };
  const others = ranked.filter(({ encoding }) => readsDifferently(best.encoding, encoding, odd.seen));
  const letters = words.reduce((sum, word) => sum + word.filter((byte) => byte >= 0x80).length, 0);
  const isUnlikely = best.likely < UNLIKELY_LETTER * Math.max(1, letters);
  const doubt = others.find(
    (other) => isUnlikely || best.likely - other.likely < sureOf(best.encoding, other.encoding),
  );
  return doubt === undefined ? { encoding: best.encoding } : withRival(best.encoding, doubt.encoding, odd);
}

function sureOf(best: SingleByteEncoding, other: SingleByteEncoding): number {
  const isRare = best === 'macintosh' || (best.startsWith('cp') && other === 'macintosh');
  return isRare ? SURE_OF_MACINTOSH : SURE;
}

const MOST_WORDS = 2_000;

/** The words with a byte above 127, each once: a word that comes often says no more than once. */
function wordsIn(lines: readonly Buffer[]): readonly Buffer[] {
  const words = new Set<string>();
  for (const line of lines) {
    for (const word of line.toString('latin1').match(/[^\s,;|"()/\\[\]<>:=]*[\u0080-\u00ff][^\s,;|"()/\\[\]<>:=]*/g) ??
      [])
      words.add(word);
    if (words.size >= MOST_WORDS) break;
  }
  return [...words].map((word) => Buffer.from(word, 'latin1'));
}

function readsDifferently(one: SingleByteEncoding, other: SingleByteEncoding, seen: Uint8Array): boolean {
  const bytes = Buffer.from([...seen.keys()].filter((byte) => seen[byte] === 1));
  return decodeAll(bytes, one) !== decodeAll(bytes, other);
}

/** Without a word that both read differently there is nothing to choose. */
function withRival(encoding: SheetEncoding, other: SheetEncoding, { lines }: NonUtf8Sample): Detected {
  for (const line of lines) {
    const [mine, theirs] = [encoding, other].map((each) => decodeAll(line, each).split(/[,;\t|"]/));
    const at = mine?.findIndex((cell, index) => cell !== theirs?.[index]) ?? -1;
    if (at >= 0) return { encoding, rival: { encoding: other, readings: [mine?.[at] ?? '', theirs?.[at] ?? ''] } };
  }
  return { encoding };
}

function decodeAll(bytes: Uint8Array, encoding: SheetEncoding): string {
  const decoder = decoderFor(encoding);
  return decoder.decode(bytes) + decoder.end();
}

/**
 * Characters that come in names and addresses of companies again and again. Read in a wrong encoding the same bytes are
 * characters too, but rarely these.
 */
const USUAL = {
  shift_jis: japanese(),
  'euc-jp': japanese(),
  gb18030: new Set(
    '公司有限责任股份集团科技技术发展中国上海北京深圳广州市省区县东西南北新大小华金天海江河山安信达德明成建设工业业贸易商进出口实业投资管理服务信息电子机械制造汽车化学医药生物食品材料能源环保物流网络软件通信文化传媒国际控股厂的名称号地址注册家路街联系人电话统一社会用代码资重庆浙苏杭宁波青岛津武汉长沙福厦门',
  ),
  big5: new Set(
    '公司有限責任股份集團科技技術發展中國臺台灣北新竹市縣區路街號東西南大小華金天海企業工業貿易商實業投資管理服務資訊電子機械製造汽車化學醫藥生物食品材料能源國際控股廠的名稱地址統一編號電話香港高雄中',
  ),
  'euc-kr': new Set(
    '주식회사유한한국대한전자산업기업상사물산건설화학제약제조공업무역통신정보기술시스템에이스엘디씨아이티앤에프케이비오피글로벌코리아서울부산인천대구광주경기남북동구시도로길번호등록사업자명국가지역성현삼엔진테크미디어바의하고을이가는',
  ),
} as const satisfies Partial<Record<SheetEncoding, ReadonlySet<string>>>;

function japanese(): ReadonlySet<string> {
  const kanji = [
    ...'株式会社有限合同日本東京大阪名古屋横浜市区町都道府県工業製作所商事産電機気械製造鉄鋼化学薬品食料建設不動産銀行証券保険通信情報技術研究開発運輸物流自動車部品中小新田川山本村井上藤木水野三菱住友松下国家名称番号法人登録所在地資金業務',
  ];
  const kana = Array.from({ length: 0x30ff - 0x3041 }, (_, index) => String.fromCodePoint(0x3041 + index));
  return new Set([...kanji, ...kana]);
}

type MultibyteEncoding = keyof typeof USUAL;

const MULTIBYTE = Object.keys(USUAL) as readonly MultibyteEncoding[];

/** How well the lines read in an encoding of two bytes a character: the share of usual characters, 0 if they do not. */
function fitOf(encoding: MultibyteEncoding, lines: readonly Buffer[]): number {
  const decoder = new TextDecoder(encoding);
  let characters = 0;
  let usual = 0;
  let wrong = 0;
  for (const line of lines) {
    const text = decoder.decode(line);
    if (NO_TEXT.test(text)) wrong++;
    for (const character of text.match(BEYOND_ASCII) ?? []) {
      characters++;
      if (USUAL[encoding].has(character)) usual++;
    }
  }
  if (characters === 0 || wrong > lines.length * MOST_WRONG) return 0;
  return usual / characters;
}

/** A file may have damaged lines; read in a wrong encoding nearly all are. */
const MOST_WRONG = 0.15;
const BEYOND_ASCII = /[^\p{ASCII}\u0080-\u00ff\s]/gu;

/** What cannot be read, katakana of half width (any byte is one of them), or a character in the middle of a Latin word. */
const NO_TEXT = /[\ufffd\ue000-\uf8ff\uff61-\uff9f]|[a-z][^\p{ASCII}\u0080-\u02ff\s]|[^\p{ASCII}\u0080-\u02ff\s][a-z]/u;

/** Each byte is looked at in so many lines at least, where there are so many; what comes everywhere is not kept more. */
const LINES_OF_EACH_BYTE = 40;
const MOST_LINES = 3_000;
const LONGEST_LINE = 4_096;

/** Gathers lines that are not plain ASCII, as the chunks go by: enough of them to tell what encoding they are in. */
export class NonUtf8Sample {
  readonly lines: Buffer[] = [];
  /** Bytes above 127 that came anywhere, whether or not in a line that was kept. */
  readonly seen = new Uint8Array(256);
  /** Lines that are UTF-8, and more than ASCII. */
  wholeLines = 0;
  readonly #kept = new Uint32Array(256);
  #rest: Buffer = Buffer.alloc(0);

  update(chunk: Buffer): void {
    const text = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (;;) {
      const end = lineBreak(text, start);
      if (end < 0) break;
      this.#take(text.subarray(start, end));
      start = end + 1;
    }
    // Copied: the chunk is not held for the sake of its last line.
    this.#rest = Buffer.from(text.subarray(Math.max(start, text.length - LONGEST_LINE)));
  }

  end(): void {
    this.#take(this.#rest);
    this.#rest = Buffer.alloc(0);
  }

  #take(whole: Buffer): void {
    // A line that is UTF-8, in a file that is not, is wrong in any other encoding: it says nothing.
    if (isUtf8(whole)) {
      if (!isAscii(whole)) this.wholeLines += 1;
      return;
    }
    const line = whole.subarray(0, LONGEST_LINE);
    let isNew = false;
    for (const byte of line) {
      if (byte < 0x80) continue;
      this.seen[byte] = 1;
      if ((this.#kept[byte] ?? 0) < LINES_OF_EACH_BYTE) isNew = true;
    }
    if (!isNew || this.lines.length >= MOST_LINES) return;
    for (const byte of new Set(line)) if (byte >= 0x80) this.#kept[byte] = (this.#kept[byte] ?? 0) + 1;
    this.lines.push(Buffer.from(line));
  }
}

/** Lines end in LF, or in CR alone. */
function lineBreak(text: Buffer, from: number): number {
  const feed = text.indexOf(10, from);
  const limit = feed < 0 ? text.length : feed;
  const back = text.subarray(from, limit).indexOf(13);
  if (back >= 0 && back < limit - from - 1) return from + back;
  return feed;
}
