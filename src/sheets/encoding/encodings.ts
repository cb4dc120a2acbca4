import { UsageError } from '../../domain/errors.js';
import { sanitizeText } from '../../util/sanitize-text.js';
import { SHEET_ENCODINGS, type SheetEncoding } from '../sheet.js';

export interface TextStream {
  decode(bytes: Uint8Array): string;
  end(): string;
}

/** A decoder that keeps split characters between chunks and drops a byte order mark. */
export function decoderFor(encoding: SheetEncoding): TextStream {
  if (encoding === 'windows-1252') return { decode: decodeWindows1252, end: () => '' };
  if (isCodePage(encoding)) return { decode: (bytes) => decodeCodePage(encoding, bytes), end: () => '' };
  const decoder = new TextDecoder(encoding);
  return { decode: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

/** The encoding that the first bytes give away; undefined if they do not. */
export function encodingOfHead(head: Buffer): { encoding: SheetEncoding; marked: boolean } | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return { encoding: 'utf-8', marked: true };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: 'utf-16le', marked: true };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: 'utf-16be', marked: true };
  if (!head.includes(0)) return undefined;
  const encoding = (['utf-16le', 'utf-16be'] as const).find((candidate) => readsAsText(head, candidate));
  return encoding && { encoding, marked: false };
}

/** A header is mostly Latin letters, whatever the rows are: read in the wrong byte order it is none. */
function readsAsText(head: Buffer, encoding: SheetEncoding): boolean {
  const text = new TextDecoder(encoding).decode(head.subarray(0, head.length & ~1));
  const [firstLine = ''] = text.trimStart().split(/[\r\n]/, 1);
  if (firstLine === '' || firstLine.includes('\0')) return false;
  let latin = 0;
  for (let index = 0; index < firstLine.length; index++) if (firstLine.charCodeAt(index) < 0x250) latin++;
  return latin / firstLine.length >= 0.7;
}

// Not TextDecoder: Node 20 and some later releases decode windows-1252 as ISO 8859-1, losing the euro sign and curly quotes.
function decodeWindows1252(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(C1, (character) => WINDOWS_1252_C1[character.charCodeAt(0) - 0x80] ?? character);
}

const C1 = /[\u0080-\u009f]/g;
const WINDOWS_1252_C1 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';

/** The code pages of DOS, their characters from 0x80 on: TextDecoder knows 866 alone, and exchanges three controls in it. */
const HIGH_HALVES = {
  cp437:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp737:
    'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψ░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀ωάέήϊίόύϋώΆΈΉΊΌΎΏ±≥≤ΪΫ÷≈°∙·√ⁿ²■\u00a0',
  cp775:
    'ĆüéāäģåćłēŖŗīŹÄÅÉæÆōöĢ¢ŚśÖÜø£Ø×¤ĀĪóŻżź”¦©®¬½¼Ł«»░▒▓│┤ĄČĘĖ╣║╗╝ĮŠ┐└┴┬├─┼ŲŪ╚╔╩╦╠═╬Žąčęėįšųūž┘┌█▄▌▐▀ÓßŌŃõÕµńĶķĻļņĒŅ’\u00ad±“¾¶§÷„°∙·¹³²■\u00a0',
  cp850:
    'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  cp852:
    'ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u00ad˝˛ˇ˘§÷¸°¨˙űŘř■\u00a0',
  cp855:
    'ђЂѓЃёЁєЄѕЅіІїЇјЈљЉњЊћЋќЌўЎџЏюЮъЪаАбБцЦдДеЕфФгГ«»░▒▓│┤хХиИ╣║╗╝йЙ┐└┴┬├─┼кК╚╔╩╦╠═╬¤лЛмМнНоОп┘┌█▄Пя▀ЯрРсСтТуУжЖвВьЬ№\u00adыЫзЗшШэЭщЩчЧ§■\u00a0',
  cp857:
    'ÇüéâäàåçêëèïîıÄÅÉæÆôöòûùİÖÜø£ØŞşáíóúñÑĞğ¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ºªÊËÈ\ufffdÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµ\ufffd×ÚÛÙìÿ¯´\u00ad±\ufffd¾¶§÷¸°¨·¹³²■\u00a0',
  cp862:
    'אבגדהוזחטיךכלםמןנסעףפץצקרשת¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  cp866:
    'АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀рстуфхцчшщъыьэюяЁёЄєЇїЎў°∙·√№¤■\u00a0',
} as const;

/** Page 850 with the euro sign in the place of a letter that hardly comes. */
const EURO_PAGE = HIGH_HALVES.cp850.replace('ı', '€');

const CODE_PAGES = { ...HIGH_HALVES, cp858: EURO_PAGE } as const;

export type CodePage = keyof typeof CODE_PAGES;

export function isCodePage(encoding: string): encoding is CodePage {
  return Object.hasOwn(CODE_PAGES, encoding);
}

export function decodeCodePage(page: CodePage, bytes: Uint8Array): string {
  const high = CODE_PAGES[page];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return text.replace(HIGH_BYTES, (character) => high[character.charCodeAt(0) - 0x80] ?? character);
}

const HIGH_BYTES = /[\u0080-\u00ff]/g;

/** The encoding a user names, by any of its common names. */
export function encodingNamed(name: string): SheetEncoding {
  const encoding = NAMES.get(folded(name));
  if (encoding !== undefined) return encoding;
  throw new UsageError(
    'ENCODING_NOT_FOUND',
    `unknown encoding: ${sanitizeText(name, 80)}`,
    `Use one of ${SHEET_ENCODINGS.join(', ')}.`,
  );
}

const folded = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Beside an encoding's own name. What Excel calls ANSI is the encoding of Western Windows. */
const ALIASES: Readonly<Partial<Record<SheetEncoding, string>>> = {
  'utf-8': 'utf8bom utf8sig unicode65001 cp65001',
  'utf-16le': 'utf16 unicode ucs2',
  'windows-1250': 'centraleuropean easteuropean',
  'windows-1251': 'cyrillic',
  'windows-1252': 'ansi latin1 iso88591 l1 western',
  'windows-1253': 'greek',
  'windows-1254': 'turkish iso88599 latin5',
  'windows-1255': 'hebrew iso88598',
  'windows-1256': 'arabic',
  'windows-1257': 'baltic',
  'windows-1258': 'vietnamese',
  'windows-874': 'thai tis620 iso885911',
  'iso-8859-2': 'latin2 l2',
  'iso-8859-15': 'latin9',
  'iso-8859-13': 'latin7',
  'koi8-r': 'koi8',
  cp437: 'dosus oemus',
  cp850: 'dos msdos oem doslatin1',
  cp852: 'doslatin2',
  cp862: 'doshebrew',
  cp866: 'doscyrillic',
  macintosh: 'mac macroman xmacroman',
  'x-mac-cyrillic': 'maccyrillic',
  shift_jis: 'sjis cp932 ms932 windows31j mskanji japanese',
  'euc-jp': 'ujis',
  'iso-2022-jp': 'jis',
  gb18030: 'gbk gb2312 cp936 ms936 euccn chinese simplifiedchinese',
  big5: 'cp950 big5hkscs traditionalchinese',
  'euc-kr': 'cp949 ms949 uhc ksc56011987 korean',
};

const NAMES: ReadonlyMap<string, SheetEncoding> = new Map(
  SHEET_ENCODINGS.flatMap((encoding) => {
    const own = folded(encoding);
    const aliases = ALIASES[encoding]?.split(' ') ?? [];
    // `cp1250` and plain `1250` are what programs call a code page of Windows.
    const page = /^windows(\d+)$/.exec(own)?.[1];
    const pages = page === undefined ? [] : [page, `cp${page}`, `win${page}`, `ms${page}`];
    const dosPage = /^cp(\d+)$/.exec(own)?.[1];
    const dosPages = dosPage === undefined ? [] : ['', 'ibm', 'oem', 'dos', 'ms'].map((maker) => maker + dosPage);
    return [own, ...aliases, ...pages, ...dosPages].map((name) => [name, encoding] as const);
  }),
);
