import type { SingleByteEncoding } from './languages.js';

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
