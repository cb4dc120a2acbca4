import { type CorpusFile, column, csvFile, oneOf } from './file.js';
import { firmsOf, mixed } from './firms.js';
import { foreign } from './foreign-firms.js';
import { courtAndNumber } from './german.js';
import { page } from './page.js';

const { name, country, number, vat, city, id, other } = column;
/** Detected, or asked for: both are right where the bytes alone can be read in more than one way. */
const encodingMayBeAsked = { mentions: ['--encoding'] };

/** Who saved it, on which system. */
export function encodings(): CorpusFile[] {
  const western = () =>
    page(mixed(['FR', 'DE', 'ES', 'SE'], 3), [
      id('Ref'),
      name('Company Name'),
      country('Country'),
      number('Reg. No.', courtAndNumber),
      vat('VAT Number'),
      city('City'),
    ]);
  const german = () =>
    page(firmsOf('DE', 8), [
      id('Kd-Nr.', (index) => String(70_010 + index)),
      name('Firma'),
      country('Land'),
      number('Handelsregisternummer', courtAndNumber),
      vat('USt-IdNr.'),
      city('Ort'),
    ]);
  const french = () =>
    page(firmsOf('FR', 8), [
      id('Code client'),
      name('Raison sociale'),
      country('Pays', () => 'France'),
      number('N° SIREN'),
      city('Ville'),
    ]);
  return [
    csvFile('enc-utf8.csv', western(), { like: 'a script that exports plain UTF-8', confirmed: 12 }),
    csvFile(
      'enc-utf8-bom-excel-de.csv',
      german(),
      { like: 'German Excel, "CSV UTF-8"', confirmed: 8 },
      { encoding: 'utf-8-bom', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-utf16le-excel-unicode-text.txt',
      western(),
      { like: 'Excel, "Unicode Text": tabs in UTF-16', confirmed: 12 },
      { encoding: 'utf-16le', delimiter: '\t', eol: '\r\n' },
    ),
    csvFile(
      'enc-utf16be.csv',
      french(),
      { like: 'an old Mac program, UTF-16 with the bytes the other way round' },
      { encoding: 'utf-16be', delimiter: ';' },
    ),
    csvFile(
      'enc-utf16le-without-bom.csv',
      german(),
      { like: 'a database tool that writes UTF-16 without a mark' },
      { encoding: 'utf-16le-bare', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1252-excel-fr.csv',
      french(),
      { like: 'French Excel, "CSV (séparateur: point-virgule)"', confirmed: 8 },
      { encoding: 'windows-1252', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1252-smart-quotes.csv',
      page(firmsOf('GB', 6), [
        name('Company name'),
        country('Country', () => 'United Kingdom'),
        number('Company number'),
        other('Note', oneOf('“preferred” – see file', 'it’s fine', '€ 1,000', '')),
      ]),
      { like: 'English Excel: curly quotes, dashes and a euro sign in windows-1252', confirmed: 6 },
      { encoding: 'windows-1252', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1250-pl.csv',
      page(firmsOf('PL', 8), [
        name('Nazwa firmy'),
        country('Kraj', () => 'Polska'),
        number('Numer KRS'),
        vat('NIP'),
        city('Miasto'),
      ]),
      { like: 'Polish Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'windows-1250'], confirmed: 8 },
      { encoding: 'windows-1250', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1250-cz.csv',
      page(firmsOf('CZ', 8), [
        name('Název společnosti'),
        country('Země', () => 'Česká republika'),
        number('IČO'),
        vat('DIČ'),
        city('Město'),
      ]),
      { like: 'Czech Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'windows-1250'], confirmed: 8 },
      { encoding: 'windows-1250', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1250-one-word.csv',
      page(
        firmsOf('PL', 6, (firm) => /^[\x20-\x7e]*$/.test(firm.name + firm.city)).map((firm, index) =>
          index === 3 ? { ...firm, name: 'Szkłopol Łódź S.A.' } : firm,
        ),
        [name('Company'), country('Country'), number('Reg no')],
      ),
      {
        like: 'Polish Excel in English, one Polish name',
        mayAsk: encodingMayBeAsked,
        answer: ['--encoding', 'windows-1250'],
      },
      { encoding: 'windows-1250', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1250-hu.csv',
      page(foreign.HU, [
        name('Cégnév'),
        country('Ország', () => 'Magyarország'),
        number('Cégjegyzékszám'),
        vat('Adószám'),
        city('Város'),
      ]),
      { like: 'Hungarian Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'windows-1250'] },
      { encoding: 'windows-1250', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1251-ru.csv',
      page(foreign.RU, [
        name('Наименование'),
        country('Страна', () => 'Россия'),
        number('ОГРН'),
        vat('ИНН'),
        city('Город'),
      ]),
      { like: 'Russian Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'windows-1251'] },
      { encoding: 'windows-1251', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1253-gr.csv',
      page(foreign.GR, [
        name('Επωνυμία'),
        country('Χώρα', () => 'Ελλάδα'),
        number('Αριθμός ΓΕΜΗ'),
        vat('ΑΦΜ'),
        city('Πόλη'),
      ]),
      { like: 'Greek Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'windows-1253'] },
      { encoding: 'windows-1253', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1254-tr.csv',
      page(foreign.TR, [
        name('Şirket Adı'),
        country('Ülke', () => 'Türkiye'),
        number('MERSİS No'),
        vat('Vergi No'),
        city('Şehir'),
      ]),
      { like: 'Turkish Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'windows-1254'] },
      { encoding: 'windows-1254', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-windows-1257-lt.csv',
      page(foreign.LT, [
        name('Įmonės pavadinimas'),
        country('Šalis', () => 'Lietuva'),
        number('Įmonės kodas'),
        vat('PVM mokėtojo kodas'),
        city('Miestas'),
      ]),
      { like: 'Lithuanian Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'windows-1257'] },
      { encoding: 'windows-1257', delimiter: ';', eol: '\r\n' },
    ),
    csvFile(
      'enc-shift-jis-jp.csv',
      page(foreign.JP, [
        name('会社名'),
        country('国', () => '日本'),
        number('法人番号'),
        other('都道府県', ({ city: place }) => place),
      ]),
      {
        like: 'Japanese Excel',
        mayAsk: encodingMayBeAsked,
        answer: ['--encoding', 'shift_jis'],
        reading: (reading) => ({ ...reading, optional: { state: '都道府県', city: '都道府県' } }),
      },
      { encoding: 'shift_jis', eol: '\r\n' },
    ),
    csvFile(
      'enc-gb18030-cn.csv',
      page(firmsOf('CN', 8), [
        name('公司名称'),
        country('国家', () => '中国'),
        number('统一社会信用代码'),
        city('城市'),
      ]),
      { like: 'Chinese Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'gb18030'] },
      { encoding: 'gb18030', eol: '\r\n' },
    ),
    csvFile(
      'enc-euc-kr-kr.csv',
      page(foreign.KR, [name('회사명'), country('국가', () => '대한민국'), number('사업자등록번호'), city('도시')]),
      { like: 'Korean Excel', mayAsk: encodingMayBeAsked, answer: ['--encoding', 'euc-kr'] },
      { encoding: 'euc-kr', eol: '\r\n' },
    ),
    csvFile(
      'enc-macintosh-cr.csv',
      french(),
      {
        like: 'Excel 2011 for Mac: Mac Roman and line ends that are a CR alone',
        mayAsk: encodingMayBeAsked,
        answer: ['--encoding', 'macintosh'],
      },
      { encoding: 'macintosh', delimiter: ';', eol: '\r' },
    ),
  ];
}
