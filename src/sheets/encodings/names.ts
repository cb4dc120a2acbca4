import { UsageError } from '../../domain/errors.js';
import { outsideText } from '../../util/outside-text.js';
import { SHEET_ENCODINGS, type SheetEncoding } from '../sheet.js';

/** The encoding a user names, by any of its common names. */
export function encodingNamed(name: string): SheetEncoding {
  const encoding = NAMES.get(folded(name));
  if (encoding !== undefined) return encoding;
  throw new UsageError(`unknown encoding: ${outsideText(name, 80)}`, `Use one of ${SHEET_ENCODINGS.join(', ')}.`);
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
