import { isWrittenDate } from '../domain/numbers/number-text.js';
import { trimCell } from '../sheets/sheet.js';
import { normalizeText } from '../util/text-limits.js';
import type { InputField } from './types.js';

/**
 * Whether a cell says that there is nothing: `n/a`, `-`, `#N/A`, `unbekannt`. Only whole cells count, so "None Ltd" and "TBC
 * Bank" are companies. A company that is really called `TBC` and nothing more is found by its number: searching for the
 * word would find, and pay for, whoever else has it.
 */
export function isPlaceholder(text: string, field: InputField): boolean {
  const told = TOLD_BY[field];
  if (told === undefined || text === '') return false;
  if (UNFILLED.test(text) || (field === 'name' && isOtherThing(text))) return true;
  if (text.length > LONGEST) return false;
  if (/[1-8]/.test(text) && !ONE_DIGIT.test(text)) return false;
  const folded = fold(text);
  if ((SIGNS.test(folded) && !FLAG.test(folded)) || SHEET_ERROR.test(folded) || ABBREVIATIONS.has(folded)) return true;
  if (told === 'abbreviations') return false;
  if (NO_NUMBER.test(folded.replace(/[./-]/g, ''))) return true;
  if (told === 'long words' && folded.length < LONG && folded !== 'none' && /^[a-z]*$/.test(folded)) return false;
  // Whether a row means Namibia is told by its numbers, if by anything (`validateRow`).
  if (field === 'country' && folded === 'na') return false;
  if ((field === 'name' || told === 'any words') && (NO_COMPANY.has(folded) || BRACKETED.test(text))) return true;
  return WORDS.has(folded) || /^x{3,}$/.test(folded) || (told === 'any words' && isNoNumber(folded));
}

/**
 * What counts in a field. In an analyst's own key or a ticker a word may be a code (`NA` and `NAN` are tickers), and short ones
 * are places (Brak) and states (`NA` is Naples). Leads are not here: their form tells (`leadsIn`).
 */
const TOLD_BY: Readonly<Partial<Record<InputField, 'abbreviations' | 'long words' | 'words' | 'any words'>>> = {
  name: 'words',
  registration_number: 'any words',
  vat_number: 'any words',
  country: 'words',
  city: 'long words',
  state: 'long words',
  ticker: 'abbreviations',
  id: 'abbreviations',
};

/** What a program should have filled in: a formula as text, the field of a template. A name may stand in single brackets. */
const UNFILLED =
  /^=[-+]?(?:\$?[A-Z]{1,3}\$?\d{1,7}$|[A-Z][A-Z.]+\(|'?[^'"!]+'?!\$?[A-Z])|^(?:\{\{.*\}\}|\$\{.*\}|<%.*%>|<<.*>>)$/s;

/** A date, an address or a number to ring, where the name belongs. `TRUE` and `FALSE` are what a spreadsheet writes. */
function isOtherThing(text: string): boolean {
  if (text.length > LONGEST_ADDRESS) return false;
  return /^(?:TRUE|FALSE|WAHR|FALSCH)$/.test(text) || ADDRESS.test(text) || isWrittenDate(text.toUpperCase());
}

const ADDRESS = /^(?:https?:\/\/\S+|[^\s@]+@[^\s@]+\.\p{L}{2,}|\+ ?\d[\d ()./-]{6,})$/iu;
const LONGEST_ADDRESS = 300;

const LONGEST = 24;
const LONG = 5;

const FLAG = /[\p{RI}\u{1f3f4}]/u;

/** Nothing but signs: `-`, `--`, `.`, `?`, `…`, `/`, `***`. `##` is what a column too narrow was saved as. */
const SIGNS = /^[\p{P}\p{S}]+$/u;

/** What a spreadsheet writes where a formula fails, in the languages that translate it. */
const SHEET_ERROR =
  /^#[¡¿]?(?:n\/[adv]|nd|nv|i\/t|ref|bezug|rif|verw|odkaz|adr|value|wert|valeur|valor|valore|waarde|varde|verdi|hodnota|ertek|name|nom|nome|nombre|naam|namn|navn|nazwa|nazev|nev|div\/0|deling\/0|dzie|null|nul|nulo|num|zahl|numero|getal|ogiltigt|liczba|spill|uberlauf|propagation|desbordamiento|espandi|overloop|calc|kalk|calcul|error|hiv|arg|getting_data|field|feld|champ|campo|blocked|blockiert|connect|unknown|busy|external|python|timeout)[!?]?$/;

/** With their points and strokes: `nd` is North Dakota. */
const ABBREVIATIONS: ReadonlySet<string> = wordsIn(`
    n/a | n.a. | n.a | n\\a | n/v | n.v. | n/d | n.d. | n.d | n/k | n.k. | n/t | n/s | k.a. | k.a | k/a | o.a. | s/n | s/d | n/c | n.c. | n/r | n.v.t. | n.v.t | b/d | b.d. |
    н/д | н.д. | δ/υ | null | undefined`);

/** Words that say it in any field that takes words. */
const WORDS: ReadonlySet<string> = wordsIn(`
    na | nan | nul | nil | none | unknown | unspecified | not known | not available | not applicable | not specified | not provided | not given | not disclosed | not found | unavailable |
    no data | no info | no information | no name | tbc | tbd | tba | t.b.c. | t.b.d. | t.b.a. | to be confirmed | to be determined | to be defined | to be advised
    unbekannt | unbek. | keine angabe | keine angaben | kein eintrag | keine daten | nicht bekannt | nicht vorhanden | nicht verfügbar | nicht angegeben | nicht zutreffend | liegt nicht vor |
    entfällt | ohne angabe | folgt noch | wird nachgereicht | siehe oben
    inconnu | inconnue | néant | non disponible | non renseigné | non renseignée | non communiqué | non connu | non applicable | sans objet | à compléter | à confirmer
    sin datos | sin dato | sin información | no disponible | no aplica | no consta | no informado | desconocido | desconocida | por confirmar
    non disponibile | non applicabile | non noto | non nota | non indicato | non pervenuto | sconosciuto | sconosciuta | da definire | da confermare
    não disponível | não aplicável | não informado | não consta | desconhecido | sem dados | sem informação
    onbekend | nvt | niet bekend | niet beschikbaar | niet van toepassing
    brak | brak danych | brak informacji | nie dotyczy | nieznany | nieznana | nie podano
    okänd | saknas | uppgift saknas | ej tillgänglig | ukendt | ikke oplyst | ukjent | ikke oppgitt | ikke tilgjengelig | ei tiedossa | ei saatavilla | tuntematon
    neuvedeno | neznámý | neznámo | nezjištěno | nevyplněno | ismeretlen | nincs adat | necunoscut | nepoznato | ni podatka | nezināms | nežinoma
    bilinmiyor | mevcut değil | άγνωστο | άγνωστη | δεν υπάρχει | δεν διατίθεται
    нет | нет данных | неизвестно | не указано | не известно | отсутствует | немає | невідомо | няма | неизвестен
    不明 | なし | 無し | 無 | 該当なし | 未定 | 未登録 | 未設定 | 未記入 | 非公開 | データなし
    无 | 不详 | 不詳 | 未知 | 暂无 | 没有 | 沒有 | 待定 | 未提供 | 不适用 | 待确认 | 待確認
    없음 | 미상 | 해당없음 | 불명 | 미정 | 모름 | 알수없음 | 정보없음`);

/** What stands where a company belongs, in lists of customers and suppliers: nobody, or nobody in particular. */
const NO_COMPANY: ReadonlySet<string> = wordsIn(`
    not registered | exempt | ditto | see above | same as above | as above | do not use | xx | various | various customers | various suppliers |
    as per above | please fill in | please complete | loading... | cash customer | cash sale | cash sales | walk-in customer | walk in customer |
    name | company name | customer name | supplier name | vendor name | account name | row labels | column labels |
    one-time customer | one time customer | one-time vendor | one time vendor | one-time supplier | one time supplier
    keine | dito | s.o. | s. o | privatperson | privatkunde | diverse | diverse kunden | diverse lieferanten | cpd kunde | cpd-kunde | cpd lieferant | cpd-lieferant | barverkauf | barkunde | nicht verwenden | bitte ausfüllen | dto. |
    firmenname | name der firma | zeilenbeschriftungen | raison sociale | nom de l'entreprise | étiquettes de lignes | razón social | nombre de la empresa | etiquetas de fila |
    ragione sociale | etichette di riga | bedrijfsnaam | rijlabels | à remplir | da compilare`);

/** A pivot table's empty cell. Without its brackets it may be a name. */
const BRACKETED = /^[([{<]\s*(?:blank|empty|leer|vide|vacío|vuoto|leeg)\s*[)\]}>]$/iu;

/** Words that companies are called by as well. Where a number belongs they say that there is none. */
const NO_NUMBER_GIVEN: ReadonlySet<string> = wordsIn(`
    no | nothing | missing | pending | dummy | idem | to follow | empty | blank | x | unregistered | sole trader | applied for | no vat | no number | ka | nd | nc
    nein | kein | keiner | ohne | fehlt | folgt | noch offen | offen | nicht eingetragen | in gründung | keine nummer
    non | aucun | aucune | vide | sans | sin número | ninguno | ninguna | pendiente | nessuno | nessuna | assente | nenhum | nenhuma
    geen | ontbreekt | volgt | ingen | mangler | puuttuu | není | nincs | nema | fara | fără | puudub | nav | nėra | yok | belirsiz`);

/** `0`, `00000000`, `11111111`. Other digits begin at eight: shorter ones are numbers that registers have given. */
const NO_NUMBER = /^(?:0+|(\d)\1{7,})$/;
const ONE_DIGIT = /^[^\d]*(\d)(?:[./\s-]*\1){7,}$/;

/** `DE000000000` and `HRB 0`, too. */
const isNoNumber = (folded: string): boolean =>
  NO_NUMBER_GIVEN.has(folded) || NO_NUMBER.test(folded.replace(/[./-]/g, '').replace(/^[a-z]{2,3}(?=\d)/, ''));

/** Width, case, accents and spaces do not count, nor the brackets that people put around such a word. */
function fold(text: string): string {
  const plain = /^[ -~]*$/.test(text) ? text : normalizeText(text, 'NFKD').replace(/\p{M}/gu, '');
  return plain
    .toLowerCase()
    .replace(/\s/g, '')
    .replace(/^[([{<"'*=]+(?=[\p{L}\p{N}#])|(?<=[\p{L}\p{N}.!?])[)\]}>"'*]+$/gu, '');
}

function wordsIn(list: string): ReadonlySet<string> {
  return new Set(
    list
      .split(/[|\n]/)
      .map(fold)
      .filter((word) => word !== ''),
  );
}

/** Whether a cell says "as above": `dto.`, `idem`, `"`, `-"-`, `〃`. Upper case `ID` and `DO` are countries. */
export function isDitto(cell: string): boolean {
  if (cell === '' || cell.length > LONGEST_DITTO) return false;
  const text = trimCell(cell);
  return DITTO_SIGNS.test(text) || (!CODES.has(text) && DITTO_WORDS.test(text));
}

const LONGEST_DITTO = 24;
const CODES: ReadonlySet<string> = new Set(['ID', 'DO', 'Id', 'Do', 'id', 'do']);
const DITTO_SIGNS = /^[-–—]?\s?(?:["“”„″〃々]{1,2}|['’′]{2}|,,)\s?[-–—]?$/u;
const DITTO_WORDS =
  /^[("]?(?:dto|ditto|dito|do|id|idem|ídem|ibid|ibidem|s\. ?o|siehe oben|wie oben|w\. ?o|see above|same as above|same|as above|ci-dessus|voir ci-dessus|come sopra|c\. ?s|como arriba|como acima|zie boven|jak wyżej|j\. ?w|jw|viz výše|samma som ovan|som ovan|同上|같음|上記と同じ)\.?[)"]?$/iu;
