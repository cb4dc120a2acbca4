import { type CorpusFile, column, csvFile } from './file.js';
import { type Firm, firmsOf, withVat } from './firms.js';
import { foreign } from './foreign-firms.js';
import { courtAndNumber } from './german.js';
import { type Column, page } from './page.js';

const { name, country, number, vat, city, id } = column;

interface Words {
  readonly name: string;
  readonly country: string;
  /** The country's own name for itself. */
  readonly here: string;
  readonly number?: string;
  readonly vat?: string;
  readonly city?: string;
  readonly id?: string;
}

/** Lists with headers in the language of their country, saved as UTF-8 by some system or other. */
export function languages(): CorpusFile[] {
  const own = (code: string): Firm[] => firmsOf(code, 6, withVat);
  return [
    list(
      'de',
      own('DE'),
      {
        id: 'Kundennummer',
        name: 'Unternehmensname',
        country: 'Staat',
        here: 'Deutschland',
        number: 'Registernummer',
        vat: 'Umsatzsteuer-ID',
        city: 'Sitz',
      },
      true,
    ),
    list(
      'de-at',
      own('AT'),
      {
        name: 'Firmenwortlaut',
        country: 'Land',
        here: 'Österreich',
        number: 'Firmenbuchnummer',
        vat: 'UID',
        city: 'Ort',
      },
      true,
    ),
    list('de-ch', own('CH'), { name: 'Firma', country: 'Land', here: 'Schweiz', number: 'UID', city: 'Sitz' }, true),
    list(
      'fr',
      own('FR'),
      {
        id: 'N° fournisseur',
        name: 'Dénomination sociale',
        country: 'Pays',
        here: 'France',
        number: 'SIREN',
        vat: 'N° TVA intracommunautaire',
        city: 'Ville',
      },
      true,
    ),
    list(
      'es',
      own('ES'),
      {
        id: 'Código de cliente',
        name: 'Razón social',
        country: 'País',
        here: 'España',
        number: 'NIF',
        city: 'Población',
      },
      true,
    ),
    list('it', own('IT'), {
      name: 'Ragione sociale',
      country: 'Nazione',
      here: 'Italia',
      vat: 'Partita IVA',
      city: 'Comune',
    }),
    list(
      'pt',
      own('PT'),
      { name: 'Denominação social', country: 'País', here: 'Portugal', number: 'NIPC', city: 'Localidade' },
      true,
    ),
    list(
      'pt-br',
      own('BR'),
      { name: 'Razão social', country: 'País', here: 'Brasil', number: 'CNPJ', city: 'Município' },
      true,
    ),
    list(
      'nl',
      own('NL'),
      {
        id: 'Debiteurnummer',
        name: 'Bedrijfsnaam',
        country: 'Land',
        here: 'Nederland',
        number: 'KvK-nummer',
        vat: 'BTW-nummer',
        city: 'Plaats',
      },
      true,
    ),
    list(
      'pl',
      own('PL'),
      { name: 'Nazwa podmiotu', country: 'Kraj', here: 'Polska', number: 'Nr KRS', vat: 'NIP', city: 'Miejscowość' },
      true,
    ),
    list(
      'cs',
      own('CZ'),
      { name: 'Obchodní firma', country: 'Stát', here: 'Česko', number: 'IČ', vat: 'DIČ', city: 'Město' },
      true,
    ),
    list('sk', foreign.SK, {
      name: 'Obchodné meno',
      country: 'Krajina',
      here: 'Slovensko',
      number: 'IČO',
      vat: 'IČ DPH',
      city: 'Mesto',
    }),
    list('hu', foreign.HU, {
      name: 'Cégnév',
      country: 'Ország',
      here: 'Magyarország',
      number: 'Cégjegyzékszám',
      vat: 'Közösségi adószám',
      city: 'Székhely',
    }),
    list('ro', foreign.RO, {
      name: 'Denumire firmă',
      country: 'Țara',
      here: 'România',
      number: 'Nr. Reg. Com.',
      vat: 'CUI',
      city: 'Oraș',
    }),
    list('ru', foreign.RU, {
      name: 'Наименование организации',
      country: 'Страна',
      here: 'Россия',
      number: 'ОГРН',
      vat: 'ИНН',
      city: 'Город',
    }),
    list('uk', foreign.UA, {
      name: 'Назва компанії',
      country: 'Країна',
      here: 'Україна',
      number: 'Код ЄДРПОУ',
      city: 'Місто',
    }),
    list('tr', foreign.TR, {
      name: 'Ticaret Unvanı',
      country: 'Ülke',
      here: 'Türkiye',
      number: 'Mersis Numarası',
      vat: 'Vergi Numarası',
      city: 'Şehir',
    }),
    list('el', foreign.GR, {
      name: 'ΕΠΩΝΥΜΙΑ',
      country: 'ΧΩΡΑ',
      here: 'Ελλάδα',
      number: 'ΑΡ. ΓΕΜΗ',
      vat: 'Α.Φ.Μ.',
      city: 'ΠΟΛΗ',
    }),
    list('bg', foreign.BG, {
      name: 'Наименование на фирмата',
      country: 'Държава',
      here: 'България',
      number: 'ЕИК',
      vat: 'ДДС номер',
      city: 'Град',
    }),
    list('hr', foreign.HR, {
      name: 'Naziv tvrtke',
      country: 'Država',
      here: 'Hrvatska',
      number: 'MBS',
      vat: 'OIB',
      city: 'Grad',
    }),
    list('lt', foreign.LT, {
      name: 'Pavadinimas',
      country: 'Šalis',
      here: 'Lietuva',
      number: 'Juridinio asmens kodas',
      vat: 'PVM kodas',
      city: 'Miestas',
    }),
    list('lv', foreign.LV, {
      name: 'Uzņēmuma nosaukums',
      country: 'Valsts',
      here: 'Latvija',
      number: 'Reģistrācijas numurs',
      vat: 'PVN numurs',
      city: 'Pilsēta',
    }),
    list('et', foreign.EE, {
      name: 'Ettevõtte nimi',
      country: 'Riik',
      here: 'Eesti',
      number: 'Registrikood',
      vat: 'KMKR number',
      city: 'Linn',
    }),
    list(
      'fi',
      own('FI'),
      {
        name: 'Yrityksen nimi',
        country: 'Maa',
        here: 'Suomi',
        number: 'Y-tunnus',
        vat: 'ALV-numero',
        city: 'Kaupunki',
      },
      true,
    ),
    list(
      'sv',
      own('SE'),
      {
        id: 'Kundnr',
        name: 'Företagsnamn',
        country: 'Land',
        here: 'Sverige',
        number: 'Organisationsnummer',
        vat: 'Momsreg.nr',
        city: 'Ort',
      },
      true,
    ),
    list('da', own('DK'), { name: 'Virksomhed', country: 'Land', here: 'Danmark', number: 'CVR', city: 'By' }, true),
    list(
      'no',
      own('NO'),
      { name: 'Selskapsnavn', country: 'Land', here: 'Norge', number: 'Org.nr.', city: 'Poststed' },
      true,
    ),
    list('ja', foreign.JP, { id: '取引先コード', name: '取引先名', country: '国名', here: '日本', number: '法人番号' }),
    list('zh', firmsOf('CN', 6), {
      id: '供应商编号',
      name: '企业名称',
      country: '国家',
      here: '中国',
      number: '统一社会信用代码',
      city: '城市',
    }),
    list('ko', foreign.KR, { name: '상호', country: '국가', here: '한국', number: '사업자등록번호', city: '도시' }),
    list(
      'he',
      own('IL'),
      { name: 'שם החברה', country: 'מדינה', here: 'ישראל', number: 'מספר חברה', city: 'עיר' },
      true,
    ),
  ];
}

function list(language: string, firms: readonly Firm[], words: Words, known = false): CorpusFile {
  const columns: (Column | undefined)[] = [
    words.id === undefined ? undefined : id(words.id),
    name(words.name),
    country(words.country, () => words.here),
    words.number === undefined ? undefined : number(words.number, courtAndNumber),
    words.vat === undefined ? undefined : vat(words.vat),
    words.city === undefined ? undefined : city(words.city),
  ];
  const present = columns.filter((column) => column !== undefined);
  const semicolons = language !== 'ja' && language !== 'zh' && language !== 'ko';
  return csvFile(
    `lang-${language}.csv`,
    page(firms, present),
    {
      like: `headers in the language of its country (${language})`,
      // What is not understood may be asked about; read as something else it may not be.
      mayAsk: { mentions: ['--map'] },
      answer: present.flatMap(({ field, header }) => ['--map', `${field}=${header}`]),
      ...(known ? { confirmed: firms.length } : {}),
    },
    semicolons ? { delimiter: ';', eol: '\r\n', encoding: 'utf-8-bom' } : { encoding: 'utf-8-bom' },
  );
}
