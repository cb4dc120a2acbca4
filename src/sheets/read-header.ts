import { UsageError } from '../domain/errors.js';
import { parseCells } from './parse-cells.js';
import { cursorAt, type Dialect, lineEnd, scanRecord } from './scan-record.js';
import type { RecogniseHeader } from './sheet.js';

export interface Header extends Dialect {
  readonly headers: readonly string[];
  /** The physical line on which the header starts. */
  readonly line: number;
}

const DELIMITERS = [',', ';', '\t', '|'];
const SEP_LINE = /^"?sep=([^\r\n"a-z0-9]?)"?[,;\t| ]*(?=[\r\n]|$)/i;

/**
 * Finds the header in the file's beginning: the first line that is neither blank nor a `sep=` line.
 * The delimiter is the one that gives the headers most meanings, then the one that makes most cells.
 */
export function readHeader(
  path: string,
  head: { readonly text: string; readonly final: boolean },
  recognises: RecogniseHeader,
  wanted: string | undefined,
): Header {
  const { text, final } = head;
  const bareCr = endsInBareCr(text);
  const place = findHeader(text, bareCr, final);
  if (place === undefined) throw new UsageError(`${path} is empty`);
  const delimiters = wanted ?? place.sep;
  const candidates = (delimiters === undefined ? DELIMITERS : [delimiters]).flatMap((delimiter) => {
    const headers = headersAt(text, place.start, { delimiter, bareCr }, final);
    if (headers === undefined) return [];
    const known = new Set(headers.map((header) => recognises(header)).filter((meaning) => meaning !== undefined));
    return [{ delimiter, headers, known: known.size }];
  });
  const best = candidates.sort((a, b) => b.known - a.known || b.headers.length - a.headers.length)[0];
  if (best === undefined) {
    throw new UsageError(
      `${path}, line ${place.line}: the header cannot be read: its quotation marks do not match, or it is too long`,
      'The first line must name the columns.',
    );
  }
  return { delimiter: best.delimiter, bareCr, headers: best.headers, line: place.line };
}

function findHeader(
  text: string,
  bareCr: boolean,
  final: boolean,
): { start: number; line: number; sep: string | undefined } | undefined {
  const sepLine = SEP_LINE.exec(text);
  let start = 0;
  let line = 1;
  for (;;) {
    if (start >= text.length) return undefined;
    const ending = lineEnd(text, start, { delimiter: ',', bareCr }, final);
    const content = text.slice(start, ending?.end);
    const isSepLine = line === 1 && sepLine !== null;
    if (!isSepLine && /[^\s,;|"]/.test(content)) return { start, line, sep: sepLine?.[1] || undefined };
    if (ending === undefined) return undefined;
    start = ending.next;
    line++;
  }
}

function headersAt(text: string, start: number, dialect: Dialect, final: boolean): string[] | undefined {
  const cursor = cursorAt(start);
  if (scanRecord(text, cursor, dialect, final) !== 'record') return undefined;
  return parseCells([text.slice(start, cursor.end)], dialect.delimiter)[0];
}

/** Whether the first line ending outside quotation marks is a lone CR, as old Macintosh programs write it. */
function endsInBareCr(text: string): boolean {
  let quoted = false;
  for (let position = 0; position < text.length; position++) {
    const character = text[position];
    if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '\n') return false;
    else if (character === '\r') return text[position + 1] !== '\n';
  }
  return false;
}
