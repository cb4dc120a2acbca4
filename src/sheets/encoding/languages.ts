import { normalizeText } from '../../util/text-limits.js';
import type { SheetEncoding } from '../sheet.js';

/**
 * How often each letter beyond a to z comes among those of a language, in per cent; for other alphabets among all
 * letters. Roughly, as counted in texts: what matters is which letters are usual and which never come.
 */
const LETTERS = {
  german: 'ü36 ä28 ö20 ß14 é2',
  french: 'é56 è11 à12 ê5 ç5 ô3 â2 î2 û1 ù1 ï1 ë1 œ1',
  spanish: 'ó32 í20 á18 é10 ñ14 ú5 ü1',
  portuguese: 'ã20 ç20 é10 á12 ó10 í8 õ6 ê5 â4 ú3 à1 ô1',
  italian: 'à35 è22 ù16 ò17 ì7 é3',
  dutch: 'ë60 é18 ï12 ö6 ü4',
  swedish: 'ä42 ö31 å24 é3',
  danish: 'ø36 å31 æ31 é2',
  icelandic: 'á17 ð20 í14 þ9 ö9 æ9 é7 ó8 ú6 ý2',
  estonian: 'ä36 ü27 õ27 ö9 š1 ž1',
  polish: 'ł27 ó13 ą11 ę12 ś9 ż10 ć6 ń6 ź2',
  czech: 'á18 í22 é10 ě12 š7 č8 ř9 ž8 ý6 ů4 ú2 ň2 ť1 ď1 ó1',
  slovak: 'á24 í14 é12 č11 š9 ž10 ý8 ú7 ľ4 ť4 ô2 ň3 ä1 ď1 ó2 ŕ0.2 ĺ0.2',
  hungarian: 'á29 é27 ö8 ő8 ó9 í5 ü5 ú3 ű2',
  romanian: 'ă36 î15 ţ14 ş16 â14',
  croatian: 'š30 č30 ć16 ž18 đ6',
  turkish: 'ı26 ş16 ü16 ğ10 ç10 ö8 i̇4 â1',
  lithuanian: 'ė20 š18 ų17 ž14 ū8 į8 č6 ą5 ę4',
  latvian: 'ā35 ī15 ē14 š10 ū6 ņ6 ļ6 ž4 č2 ķ3 ģ2',
  russian:
    'о11 е8.5 а8 и7.4 н6.7 т6.3 с5.5 р4.7 в4.5 л4.3 к3.5 м3.2 д3 п2.8 у2.6 я2 ы1.9 ь1.7 г1.7 з1.6 б1.6 ч1.4 й1.2 х1 ж0.9 ш0.7 ю0.6 ц0.5 щ0.4 э0.3 ф0.5 ъ0.1 ё0.1',
  ukrainian:
    'о9 а8 н6.5 и6 і6 в5.5 т5.5 р5 е5 с4.5 к4 л3.6 у3.3 д3.2 м3 п2.8 я2.2 ь1.9 з2.2 ї0.7 г1.6 б1.6 ч1.4 х1.2 й1 ц0.8 ш0.7 ж0.8 ю0.8 є0.6 щ0.5 ф0.5 ґ0.1',
  bulgarian:
    'а12 и9 о8.7 е8.5 н7 т6.8 р5.5 с5.2 в4.6 л4 д3.5 к3.4 п3 м2.4 з2.2 я1.7 г1.6 ъ1.5 у1.5 б1.4 ч1.4 й0.8 ж0.7 щ0.6 ш0.6 х0.8 ц0.6 ф0.4 ю0.2 ь0.2',
  greek:
    'α11 ο9 ι8.5 ε8 τ7.5 σ5 ν6 η4.5 υ4 ρ4.5 π4 κ4.2 μ3.3 λ3.2 ς4 ω2 γ1.8 δ1.8 χ1.2 θ1.2 φ0.9 β0.7 ξ0.5 ζ0.4 ψ0.2 ό1.5 ί1.8 ά1.6 έ1.4 ή1.3 ύ0.9 ώ0.7 ϊ0.1 ϋ0.1',
  hebrew:
    'י11 ה10 ו10 ל7 א6 ר6 ב5 ת5 מ5 ש4.5 נ4 ע3.2 ם3 ד2.6 ח2.5 כ2.4 ק2.2 פ2 ן1.8 ס1.6 ט1.5 ג1.5 ז1.3 צ1.2 ך0.6 ף0.3 ץ0.3',
  arabic:
    'ا13 ل12 ي7.5 م6.5 ن6.5 و6 ر5.2 ت4.5 ب4 ع3.6 ة3.5 د3.3 ه3 س3 ف2.8 ق2.5 ك2.3 ح2 أ2 ج1.5 ش1.3 ص1.2 ط1.2 خ1 إ1 ذ0.8 ى0.8 ز0.7 ض0.6 ث0.6 غ0.5 ئ0.4 ء0.4 ظ0.2 آ0.2 ؤ0.2',
  thai: 'า6.5 น6.5 ร6 อ5.5 ก4.8 เ4.3 ง4 ม3.8 ย3.5 ว3.2 ล3.2 ด3 ต2.8 ท2.8 ส2.7 บ2.3 ค2.2 ป2.2 ะ2 ห2 จ1.7 พ1.7 แ1.6 ไ1.3 ใ1.3 ข1.2 ช1.2 โ1 ำ1 ถ0.8 ผ0.7 ธ0.6 ณ0.6 ศ0.6 ษ0.5 ซ0.5 ภ0.5 ญ0.3 ฟ0.3 ฐ0.3 ฉ0.2 ฏ0.1 ฎ0.1 ฮ0.1 ฤ0.1 ๆ0.1 ฯ0.1 \u0e485 \u0e494 \u0e314.5 \u0e353 \u0e343 \u0e4c1.5 \u0e381.3 \u0e371.2 \u0e391 \u0e470.8 \u0e360.6 \u0e4a0.1 \u0e4b0.1',
} as const;

export type Language = keyof typeof LETTERS;

const WESTERN = [
  'german',
  'french',
  'spanish',
  'portuguese',
  'italian',
  'dutch',
  'swedish',
  'danish',
  'icelandic',
  'estonian',
] as const;
const CENTRAL = ['polish', 'czech', 'slovak', 'hungarian', 'romanian', 'croatian', 'german'] as const;
const CYRILLIC = ['russian', 'ukrainian', 'bulgarian'] as const;

/** Which languages are written in an encoding of one byte a character. */
export const LANGUAGES_OF = {
  'windows-1252': WESTERN,
  'windows-1250': CENTRAL,
  'iso-8859-2': CENTRAL,
  'windows-1251': CYRILLIC,
  'koi8-r': CYRILLIC,
  'x-mac-cyrillic': CYRILLIC,
  'windows-1253': ['greek'],
  'windows-1254': ['turkish', 'german', 'french'],
  'windows-1257': ['lithuanian', 'latvian', 'estonian', 'german'],
  cp850: WESTERN,
  cp858: WESTERN,
  cp437: WESTERN,
  cp852: CENTRAL,
  cp866: CYRILLIC,
  cp855: CYRILLIC,
  cp737: ['greek'],
  cp857: ['turkish', 'german', 'french'],
  cp775: ['lithuanian', 'latvian', 'estonian', 'german'],
  'windows-1255': ['hebrew'],
  cp862: ['hebrew'],
  'windows-1256': ['arabic'],
  'iso-8859-6': ['arabic'],
  'windows-874': ['thai'],
  macintosh: WESTERN,
} as const satisfies Partial<Record<SheetEncoding, readonly Language[]>>;

export type SingleByteEncoding = keyof typeof LANGUAGES_OF;

/** The logarithm of how often a letter comes; a letter that the language does not have comes in foreign names alone. */
export function letterCost(language: Language, letter: string): number {
  return TABLES[language].get(letter) ?? FOREIGN;
}

const FOREIGN = Math.log(0.0005);

const TABLES = Object.fromEntries(
  Object.entries(LETTERS).map(([language, list]) => [
    language,
    new Map(
      list.split(' ').map((entry) => {
        const [, letter = '', share = ''] = /^(\D+)([\d.]+)$/.exec(entry) ?? [];
        return [normalizeText(letter, 'NFC'), Math.log(Number(share) / 100)];
      }),
    ),
  ]),
) as unknown as Readonly<Record<Language, ReadonlyMap<string, number>>>;

interface Clues {
  readonly encoding: SingleByteEncoding;
  /** Codes and names of countries: one stands alone in its cell. A dot is a letter beyond a to z. */
  readonly countries: RegExp;
  /** Legal forms, as words. */
  readonly forms?: RegExp;
  /** Headers of the languages that are written in it. */
  readonly headers?: RegExp;
}

/** What plain letters tell of where a company with other letters in its name is from. */
const CLUES: readonly Clues[] = [
  {
    encoding: 'windows-1250',
    countries: cells(
      'PL|CZ|SK|HU|RO|HR|SI|POL|CZE|HUN|ROU|polska|poland|polen|pologne|czech republic|czechia|tschechien|.esk. republika|.esko|slovakia|slowakei|slovensko|hungary|ungarn|magyarorsz.g|romania|rum.nien|rom.nia|croatia|kroatien|hrvatska|slovenia|slowenien|slovenija',
    ),
    forms: words('sp\\. ?z ?o\\. ?o|s\\.r\\.o|spol\\.|kft|zrt|nyrt|d\\.o\\.o'),
    headers: words(
      'nazwa|kraj|miasto|miejscowo.{2}|regon|nip|krs|ulica|n.zev|obchodn. jm.no|zem.|m.sto|ulice|i.o|di.|c.gn.v|orsz.g|v.ros|ad.sz.m|denumire|localitate|jude.|cui|naziv|dr.ava|oib|mjesto',
    ),
  },
  {
    encoding: 'windows-1251',
    countries: cells('RU|BG|UA|BY|RS|MK|KZ|RUS|UKR|BGR|russia|russland|bulgaria|bulgarien|ukraine|belarus|serbia'),
    forms: words('OOO|ZAO|PAO|EOOD|OOD'),
  },
  { encoding: 'windows-1255', countries: cells('IL|ISR|israel') },
  { encoding: 'windows-1256', countries: cells('AE|SA|EG|JO|KW|QA|BH|OM|LB|IQ|MA|DZ|TN|LY|ARE|SAU|EGY') },
  { encoding: 'windows-874', countries: cells('TH|THA|thailand') },
  { encoding: 'windows-1253', countries: cells('GR|CY|GRC|greece|griechenland|cyprus|zypern') },
  {
    encoding: 'windows-1254',
    countries: cells('TR|TUR|turkey|t.rkei|t.rkiye'),
    forms: words('tic|san\\. ve|ltd\\. \\S?ti'),
    headers: words('unvan.?|.lke|.ehir|vergi no|vergi numaras.'),
  },
  {
    encoding: 'windows-1257',
    countries: cells('LT|LV|EE|LTU|LVA|EST|lithuania|litauen|lietuva|latvia|lettland|latvija|estonia|estland|eesti'),
    forms: words('uab|sia'),
    headers: words('pavadinimas|.mon.|.alis|miestas|nosaukums|valsts|pils.ta|ettev.te'),
  },
  {
    encoding: 'windows-1252',
    countries: cells(
      'FR|ES|PT|IT|DK|NO|SE|FI|BR|MX|BE|CH|IS|NL|LU|ITA|FRA|ESP|PRT|italia|italy|italien|italie|france|frankreich|francia|spain|spanien|espa.a|espagne|spagna|portugal|portogallo|denmark|danmark|d.nemark|norway|norge|norwegen|sweden|sverige|schweden|finland|suomi|finnland|brazil|brasil|brasilien|mexico|m.xico|belgium|belgien|belgique|belgi.|switzerland|schweiz|suisse|svizzera|iceland|island|netherlands|nederland|niederlande|luxembourg|luxemburg',
    ),
    forms: words('sarl|s\\.p\\.a|s\\.l|ltda|aps|gmbh|s\\.a\\.r\\.l|oy'),
    headers: words(
      'ragione sociale|denominazione|partita iva|p\\. ?iva|codice fiscale|comune|citt.|provincia|paese|nazione|indirizzo|raison sociale|soci.t.|pays|ville|siren|siret|code postal|raz.n social|empresa|pa.s|ciudad|direcci.n|poblaci.n|nif|cif|cidade|morada|nipc|cnpj|virksomhed|organisationsnummer|organisasjonsnummer|f.retag|yritys|y-tunnus|bedrijfsnaam|kvk|plaats',
    ),
  },
];

/** What DOS saved the same languages in. */
const OF_DOS: Readonly<Partial<Record<SingleByteEncoding, readonly SingleByteEncoding[]>>> = {
  'windows-1250': ['cp852'],
  'windows-1251': ['cp866', 'cp855'],
  'windows-1252': ['cp850', 'cp858', 'cp437'],
  'windows-1253': ['cp737'],
  'windows-1254': ['cp857'],
  'windows-1255': ['cp862'],
  'windows-1257': ['cp775'],
};

/** How much a country or a legal form beside such a name adds, and how much all of them together do at most. */
const CLUE = 1.5;
const CLUES_AT_MOST = 9;

/** What all countries, or the headers, say alone: with it an encoding is ten thousand times as likely. */
const AGREED = Math.log(10_000);

/**
 * What speaks for each encoding beside the letters, as a logarithm. `lines`: those that are not ASCII. `head`: the file's beginning.
 * Countries come before the language of the headers: a German may list Polish companies. If the two differ, neither decides.
 */
export function evidenceIn(lines: readonly Buffer[], head: Buffer): ReadonlyMap<SingleByteEncoding, number> {
  const texts = lines.map((line) => line.toString('latin1'));
  const counts = CLUES.map(({ encoding, countries, forms }) => ({
    encoding,
    lines: texts.filter((text) => countries.test(text) || forms?.test(text) === true).length,
  }));
  const byCountry = CLUES.filter(({ countries }) => texts.some((text) => countries.test(text)));
  const byHeader = CLUES.filter(({ headers }) => headersIn(head, headers) >= 2);
  const said = new Set([...byCountry, ...byHeader].map(({ encoding }) => encoding));
  const [agreed] = said.size === 1 ? said : [];
  return new Map(
    counts.flatMap(({ encoding, lines: count }) => {
      const evidence = Math.min(CLUES_AT_MOST, CLUE * count) + (encoding === agreed ? AGREED : 0);
      return [encoding, ...(OF_DOS[encoding] ?? [])].map((each) => [each, evidence] as const);
    }),
  );
}

/** How many different headers of a language there are in a file's first lines. */
function headersIn(head: Buffer, headers: RegExp | undefined): number {
  if (headers === undefined) return 0;
  const lines = head
    .toString('latin1')
    .toLowerCase()
    .split(/[\r\n]+/, HEADER_LINES);
  return Math.max(...lines.map((line) => new Set(line.match(new RegExp(headers, 'gi')) ?? []).size));
}

const HEADER_LINES = 10;

function cells(codes: string): RegExp {
  return new RegExp(`(?:^|[,;\\t|"])(?:${codes})(?=$|[,;\\t|"\\r])`, 'i');
}

function words(alternatives: string): RegExp {
  return new RegExp(`(?<![\\w.\u0080-\u00ff])(?:${alternatives})(?![\\w\u0080-\u00ff])`, 'i');
}
