import { hasLegalForm } from '../domain/names/similarity.js';
import { resolveLocation } from '../domain/places/resolve-location.js';
import { isBlank, type NumberedLine, trimCell } from '../sheets/sheet.js';
import { LONGEST_LINE } from '../util/text-limits.js';
import { indicesIn } from './field-text.js';
import { IDENTIFIERS, type InputField, type InputTable, type LeftOutKind } from './types.js';

/**
 * What reports put between and behind their rows. Only what cannot be a company is left out, like a blank line: without a row
 * number, and said. Whatever is doubtful stays a row: it is then invalid at worst, and told.
 */
export function nonCompanyLineDetector(
  headers: readonly string[],
  mapping: InputTable['mapping'],
): (line: NumberedLine) => LeftOutKind | undefined {
  const fields = new Set(Object.values(mapping).flatMap(indicesIn));
  const identifiers = new Set(IDENTIFIERS.flatMap((field) => indicesIn(mapping[field] ?? [])));
  return ({ cells: written, problem, surplus }) => {
    // A line that ends after "Total" is short of cells. Any other damage leaves nothing to be sure of.
    if (surplus !== undefined || (problem !== undefined && problem.code !== 'RAGGED')) return undefined;
    const isLong = written.some((cell) => cell.length > LONGEST_LINE);
    const cells = isLong ? written.map((cell) => cell.slice(0, LONGEST_LINE)) : written;
    if (isRepeatedHeader(cells, headers)) return 'repeated header';
    if (saysTwoThings(cells, fields)) return ofCountry(cells, mapping, fields);
    const filled = cells.flatMap((cell, index) => (isBlank(cell) ? [] : [{ text: trimCell(cell), index }]));
    const [first, ...others] = filled;
    if (first === undefined) return undefined;
    if (filled.every(({ text }) => RULING.test(text))) return 'ruling';
    if (others.length === 0 && (FOOTERS.some((form) => form.test(first.text)) || isNote(first.text))) return 'footer';
    const mayBeName = others.length === 0 && identifiers.has(first.index);
    // `Total UK` beside a figure is a sum where a row would name its country: elsewhere it may be the company.
    const isTotal =
      (mayBeName ? TOTAL_ALONE : TOTAL).test(first.text) ||
      isSumOf(first.text) ||
      isSubtotalOf(first.text) ||
      (others.length > 0 && mapping.country !== undefined && isTotalOf(first.text));
    const areFigures = others.every(({ text, index }) => !fields.has(index) && FIGURE.test(text));
    return isTotal && areFigures ? 'totals' : undefined;
  };
}

/** Where the country is filled down to the last line, it stands beside what is no company, too. */
function ofCountry(
  cells: readonly string[],
  mapping: InputTable['mapping'],
  fields: ReadonlySet<number>,
): LeftOutKind | undefined {
  if (isTotalOfCountry(cells, mapping, fields)) return 'totals';
  const own = indicesIn(mapping.country ?? []);
  const [first, second] = cells.flatMap((cell, index) =>
    isBlank(cell) || own.includes(index) ? [] : [trimCell(cell)],
  );
  return first !== undefined && second === undefined && DATED.test(first) ? 'footer' : undefined;
}

/**
 * A sum that has a country beside it, as every line of its list: in place of the analyst's own key, or as a name where the line
 * lacks the key that the others have. Whatever else stands there is a figure; a count may stand in every column.
 */
function isTotalOfCountry(
  cells: readonly string[],
  mapping: InputTable['mapping'],
  fields: ReadonlySet<number>,
): boolean {
  const textIn = (field: InputField) =>
    indicesIn(mapping[field] ?? [])
      .map((index) => trimCell(cells[index] ?? ''))
      .join('');
  const [key, name] = [textIn('id'), textIn('name')];
  const isKey = TOTAL.test(key) && (name === '' || COUNTED.test(name));
  const isSubtotal = isSubtotalOf(name);
  const isName = key === '' && (TOTAL.test(name) || isSubtotal);
  if (!isKey && !isName) return false;
  const own = new Set((['id', 'name', 'country'] as const).flatMap((field) => indicesIn(mapping[field] ?? [])));
  const others = cells.flatMap((cell, index) => (isBlank(cell) || own.has(index) ? [] : [{ cell, index }]));
  const mayCount = isKey && name !== '';
  const areFigures = others.every(({ cell, index }) =>
    fields.has(index) ? mayCount && COUNTED.test(trimCell(cell)) : FIGURE.test(trimCell(cell)),
  );
  if (isKey || !areFigures) return areFigures;
  return (
    isSubtotal || /[\d:=]/.test(name) || (others.length > 0 && (mapping.id !== undefined || TOTAL_ALONE.test(name)))
  );
}

/** "Subtotal UK". "Total UK" is a company where a country stands beside it. */
const isSubtotalOf = (text: string): boolean => isCountry(SUBTOTAL_OF.exec(text)?.[1]);

/** "Total UK". "Total SE" is a company, not Sweden's sum. */
const isTotalOf = (text: string): boolean => isCountry(TOTAL_OF.exec(text)?.[1]) && !hasLegalForm(text);

const isCountry = (text: string | undefined): boolean => text !== undefined && resolveLocation(text).ok;

/** "Summe A-Lieferanten". "Total Quality Logistics" is a company, and so is whatever has a legal form. */
const isSumOf = (text: string): boolean => SUM_OF.test(text) && !hasLegalForm(text);

const SUM_OF =
  /^(?:summe|zwischensumme|teilsumme|gesamtsumme|gesamt|insgesamt|grand total|sous-total)(?:\s*[:(]|\s)\s*\S/iu;

/** "geprüft: Meier", "* vorläufig": what somebody wrote below the list. */
const isNote = (text: string): boolean => NOTES.some((form) => form.test(text)) && !hasLegalForm(text);

const NOTES: readonly RegExp[] = [
  /^(?:geprüft|geprueft|freigegeben|genehmigt|erstellt|bearbeitet|bearbeiter|stand|datum|hinweise?|anmerkung(?:en)?|bemerkung(?:en)?|legende|checked|reviewed|approved|prepared|date|as of|notes?|remarks?|legend|vérifié|remarques?)(?: (?:by|von|durch|am|on|par|le))?\s*:\s*\S/iu,
  // A name that is marked so begins with a capital, right behind the mark.
  /^\*+\)?(?:\s+\S|\p{Ll})/u,
];

const SUBTOTAL_OF =
  /^(?:sub-?total|sub total|zwischensumme|sous-total|subtotale|subtotaal|小計|小计|소계)[\s:-]+(\S.*)$/iu;

/** Two fields that hold more than dashes: nearly every line, and the end of the matter. */
function saysTwoThings(cells: readonly string[], fields: ReadonlySet<number>): boolean {
  let said = 0;
  for (const index of fields) {
    const text = trimCell(cells[index] ?? '');
    if (text !== '' && !RULING.test(text) && ++said === 2) return true;
  }
  return false;
}

/** One cell that equals its header may be a company of that name; a whole line of them is the header once more. */
function isRepeatedHeader(cells: readonly string[], headers: readonly string[]): boolean {
  let equal = 0;
  for (const [index, header] of headers.entries()) {
    const [ours, theirs] = [trimCell(cells[index] ?? ''), trimCell(header)];
    if (ours.toLowerCase() !== theirs.toLowerCase()) return false;
    if (ours !== '') equal += 1;
  }
  return equal >= 2;
}

/** `-----`, `=====`: drawn under a header or above a sum. */
const RULING = /^(?:[-–—]{3,}|[=_*~.]{3,}|[+|][-+|=]{3,})$/;

/** A sum, a count, an amount of money, a share: "1.234,50 €", "25", "12 %", "25 rows". */
const FIGURE =
  /^[(+-]?\s*(?:\p{Sc}|[A-Z]{3})?\s*[(+-]?\d[\d\s.,'’]*\)?\s*(?:\p{Sc}|%|[A-Z]{3}|k|m|mio\.?|rows|items)?$/iu;

/** How many there are, where a field of the company belongs: no register's number is as short. */
const COUNTED = /^\d{1,2}$/;

const SUM =
  'grand totals?|sub-?total|sub total|overall total|total|totals|sum|summe|gesamtsumme|zwischensumme|gesamt|insgesamt|anzahl|count|average|avg\\.?|durchschnitt|mittelwert|moyenne|promedio|total g[eé]n[eé]ral|sous-total|somme|suma|total general|totale|totale generale|totale complessivo|gesamtergebnis|totaal|razem|suma ogółem|ogółem|łącznie|celkem|celkom|összesen|yhteensä|totalt|summa|i alt|sum totalt|genel toplam|toplam|итого|всего|разом|σύνολο|合計|総計|小計|合计|总计|小计|합계|총계|ø|∅|⌀|∑|σ';
/** `: 25`, `(6 Lieferanten)` */
const COUNT = '(?:\\s*[:=]?\\s*(?:[-–]\\s*)?\\d[\\d.,\\s]*|\\s*\\(\\d[^)]*\\)\\s*:?)';

const TOTAL_OF = new RegExp(`^(?:${SUM})[\\s:-]+(\\S.*)$`, 'iu');
/** Beside figures, or where no name is looked for. */
const TOTAL = new RegExp(`^(?:${SUM})\\s*[:=]?(?:${COUNT})?$`, 'iu');
/** With nothing beside it: `Total` was a company's name, and `Sum` and `Suma` are short enough to be. */
const TOTAL_ALONE = new RegExp(
  `^(?:(?:${SUM})${COUNT}|(?!(?:total|totals|totale|sum|summa|suma|somme|gesamt|count|average|avg\\.?|moyenne)\\s*$)(?:${SUM})\\s*:?|(?:${SUM})\\s*[:=])$`,
  'iu',
);

/** "Report generated 2026-11-01" */
const DATED =
  /^(?:(?:report|list|file|data|bericht|liste|datei|rapport|informe)\s+)?(?:generated|printed|created|exported|erstellt|gedruckt|exportiert|généré|imprimé|generado|stampato|stand|as of|date of report)\s*(?:on|at|am|le|el|il|by \S+ on)?\s*:?\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}/iu;

const FOOTERS: readonly RegExp[] = [
  /^[*=<#-]{2}\s*\S.*[*=>#-]{2}$/u,
  /^(?:end of (?:the )?(?:report|file|list|data|export|document)|ende (?:des berichts|der liste|der datei)|fin du (?:rapport|fichier)|fin del (?:informe|archivo)|fine (?:del )?(?:rapporto|elenco))\.?$/iu,
  /^(?:page|seite|página|pagina|strona|sida|side|стр\.?|страница)\s*\d+\s*(?:(?:of|von|de|di|van|z|av|af|из|\/)\s*\d+)?$/iu,
  /^(?:strictly |private (?:and|&) )?confidential(?: information)?(?: [-–] do not distribute)?\.?$|^(?:streng )?vertraulich\.?$|^confidentiel\.?$|^confidencial\.?$|^riservato\.?$/iu,
  /^(?:source|quelle|fuente|fonte|bron|źródło|kilde|källa|источник)\s*:\s*\S/iu,
  /^(?:©|\(c\)|copyright)\s*(?:\d{4}|\S+ \d{4})/iu,
  DATED,
  /^\(?\s*\d[\d.,]*\s*(?:rows?|records?|entries|results?|zeilen|datensätze|einträge|lignes|enregistrements|filas|registros|righe|rijen|wierszy)\s*(?:selected|affected|found|exported|returned)?\s*\)?\.?$/iu,
];
