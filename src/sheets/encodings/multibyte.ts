import type { SheetEncoding } from '../sheet.js';

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

export type MultibyteEncoding = keyof typeof USUAL;

export const MULTIBYTE = Object.keys(USUAL) as readonly MultibyteEncoding[];

/** How well the lines read in an encoding of two bytes a character: the share of usual characters, 0 if they do not. */
export function fitOf(encoding: MultibyteEncoding, lines: readonly Buffer[]): number {
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
