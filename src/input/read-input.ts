// Opens a list of companies.

import { UsageError } from '../domain/errors.js';
import { LEADS } from '../domain/leads.js';
import { openSheet } from '../sheets/open-sheet.js';
import { MOST_COLUMNS, type Sheet } from '../sheets/sheet.js';
import { type Message, message } from '../util/message-parts.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { LONGEST_LINE } from '../util/text-limits.js';
import { isFilled } from './column-content.js';
import { ColumnNames, headersInWords } from './column-names.js';
import { ColumnsUnclearError, type SampledColumns } from './decide-columns.js';
import { indicesIn, isHeadings } from './field-text.js';
import { fittingFields, samplesOf } from './fitting-columns.js';
import { headerLookup, recogniser, unreadLeads, withGroups } from './header-meaning.js';
import { type ColumnMap, mapColumns } from './map-columns.js';
import { countriesAbove, nonCompanyLineDetector } from './non-company-lines.js';
import { noUsableColumn, refuseNonList, refuseWithoutHeader, sampleLines } from './not-a-list.js';
import { rowsIn } from './read-rows.js';
import {
  type AskColumns,
  type ColumnAgreement,
  type ColumnMapping,
  IDENTIFIERS,
  INPUT_FIELDS,
  type InputField,
  type InputOptions,
  type InputTable,
  type ReadColumn,
} from './types.js';

/**
 * Opens an analyst's file: finds the columns, and refuses a file that is not a list of companies. Damaged rows do not
 * refuse the file: `rows()` returns each as invalid, with its line.
 */
export async function readInput(path: string, options: InputOptions = {}): Promise<InputTable> {
  const lookup = headerLookup(options.synonyms, options.leads);
  const recognises = recogniser(lookup);
  refuseLongFlags(options.map ?? []);
  const opened = await openSheet(path, recognises, options);
  refuseManyColumns(opened);
  const sheet = withShortHeaders(opened);
  const sampled = await sampleLines(sheet);
  const { columns: sample, isEmpty } = sampled;
  const firstLine = async () => {
    const bare = await openSheet(path, recognises, { ...options, headerLine: 0 });
    for await (const { cells } of bare.lines())
      return cells.slice(0, cells.findLastIndex(isFilled) + 1).join(bare.delimiter ?? ' ');
    return '';
  };
  // If the user gave columns, the file is read as given.
  if ((options.map ?? []).length === 0) await refuseNonList(sheet, sampled, lookup, firstLine);
  await refuseWithoutHeader(sheet, sample, lookup, { path, recognises, options });
  const headers = withGroups(sheet.headers, sheet.groups, lookup);
  const mapped = mapColumns({ headers, written: sheet.headers, lookup, sample }, options);
  const { fields, without } = await askAboutColumns(sheet.path, mapped, options.askColumns);
  const taken = new Set([...fields.values()].flatMap(({ source }) => indicesIn(source)));
  const unread = unreadLeads(headers, taken, options);
  const warnings = [...sheet.warnings, ...columnNotes(mapped, { fields, without }, headers, options)];
  const columns = uniqueNames(opened.headers, warnings);
  if ([...IDENTIFIERS, ...LEADS].every((field) => !fields.has(field)))
    throw await noUsableColumn(sheet, columns, sampled, unread, firstLine);
  const { country } = mapped;
  if (!fields.has('country') && country === null)
    warnings.push({
      ...message('NO_COUNTRY_COLUMN', 'the list has no country column.'),
      flags: 'To give all rows a country: --country CC',
    });
  warnings.push(...unfilledMerges(sheet, fields));
  if (isEmpty) warnings.push(message('HEADER_WITHOUT_ROWS', 'the list has a header but no row'));
  const { sha256, encoding, delimiter, headerLine } = sheet;
  const mapping: ColumnMapping = Object.fromEntries(
    INPUT_FIELDS.flatMap((field) => {
      const found = fields.get(field);
      return found === undefined ? [] : [[field, found.source]];
    }),
  );
  return {
    path: sheet.path,
    sha256,
    encoding,
    delimiter,
    columns,
    mapping,
    read: readColumns(fields, mapping, sheet.headers, sample),
    country,
    agreement: {
      ...agreementOf({ fields, without, country }, sheet.headers),
      fitting: fittingFields(fields, sample, country),
    },
    headerLine,
    sheet: sheet.sheet,
    warnings,
    ...rowsIn(sheet, mapping, unread, country),
  };
}

/**
 * Some rules take more than linear time, so they get only the beginning of a header. One character too many is
 * kept, because an over-long header has no meaning. The tables show the header in full.
 */
const withShortHeaders = (sheet: Sheet): Sheet => {
  const shortened = (text: string) => text.slice(0, LONGEST_LINE + 1);
  return { ...sheet, headers: sheet.headers.map(shortened), groups: sheet.groups.map(shortened) };
};

function refuseManyColumns({ path, headers }: Sheet): void {
  if (headers.length > MOST_COLUMNS)
    throw new UsageError(
      'TOO_MANY_COLUMNS',
      `${path} has ${headers.length} columns. At most ${MOST_COLUMNS} are allowed`,
      'Keep the columns that identify the companies, and your own ID.',
    );
}

/** One flag may have several headers: `CRN | SIREN | KvK`. */
const LONGEST_FLAG = 5 * LONGEST_LINE;

function refuseLongFlags(flags: readonly string[]): void {
  const long = flags.find((flag) => flag.length > LONGEST_FLAG);
  if (long !== undefined)
    throw new UsageError(
      'FLAG_TOO_LONG',
      `--map ${sanitizeText(long, 40)}… has more than ${LONGEST_FLAG} characters`,
      'Name the column by its position: --map name=#3.',
    );
}

function readColumns(
  fields: ColumnMap['fields'],
  mapping: ColumnMapping,
  headers: readonly string[],
  sample: SampledColumns,
): readonly ReadColumn[] {
  const names = new ColumnNames(headers);
  const ofCompanies = companiesIn(sample, mapping, headers);
  return INPUT_FIELDS.flatMap((field) => {
    const found = fields.get(field);
    if (found === undefined) return [];
    const samples = samplesOf(isHeadings(found.source) ? sample : ofCompanies, found.source, field);
    return [{ field, ...found, header: names.headerOf(found.source), samples }];
  });
}

/** The sampled rows without headings, totals and rows that name no company. */
function companiesIn(sample: SampledColumns, mapping: ColumnMapping, headers: readonly string[]): SampledColumns {
  const isLeftOut = nonCompanyLineDetector(headers, mapping);
  const naming = [...IDENTIFIERS, ...LEADS].flatMap((field) => indicesIn(mapping[field] ?? []));
  const headings = isHeadings(mapping.country) ? countriesAbove(sample).headings : [];
  const isCompany = (sample[0] ?? []).map((_, row) => {
    const cells = sample.map((column) => column[row] ?? '');
    const names = naming.some((index) => isFilled(cells[index] ?? ''));
    return names && !headings.includes(row) && isLeftOut({ line: row, cells }) === undefined;
  });
  return sample.map((column) => column.filter((_, row) => isCompany[row]));
}

function agreementOf(
  { fields, without, country }: Pick<ColumnMap, 'fields' | 'without' | 'country'>,
  headers: readonly string[],
): ColumnAgreement {
  const names = new ColumnNames(headers);
  const named = [...fields].map(([field, { source }]) => {
    const pieces = typeof source === 'number' ? [source] : source;
    return [field, pieces.map((piece) => names.wordsOf(piece))] as const;
  });
  return { fields: Object.fromEntries([...named, ...[...without].map((field) => [field, []] as const)]), country };
}

function unfilledMerges({ merged = [], headers }: Sheet, fields: ColumnMap['fields']): readonly Message[] {
  const filled = (['name', 'country', 'state', 'city'] as const).flatMap((field) =>
    indicesIn(fields.get(field)?.source ?? []),
  );
  const others = [...new Set(merged.map(({ column }) => column))].filter((column) => !filled.includes(column));
  if (others.length === 0) return [];
  const names = headersInWords(others.map((column) => headers[column]?.trim() || `#${column + 1}`));
  return [
    message(
      'MERGED_CELLS',
      `merged cells in ${names} count in their first row only. Split them in Excel and fill them down`,
    ),
  ];
}

type Settled = Pick<ColumnMap, 'fields' | 'without'>;

/** Asks the user about each unclear column in turn. Without a user to ask, the file is refused. */
async function askAboutColumns(
  path: string,
  { fields: decided, without: excluded, doubts }: ColumnMap,
  ask: AskColumns | undefined,
): Promise<Settled> {
  const fields = new Map(decided);
  const without = new Set(excluded);
  if (doubts.length > 0 && ask === undefined) throw new ColumnsUnclearError(path, doubts);
  for (const doubt of doubts) {
    const choice = await ask?.(doubt);
    if (choice === undefined) throw new ColumnsUnclearError(path, doubts);
    if (choice !== null) {
      // The column was used for another field for lack of a better one. The answer replaces that.
      for (const [field, { source }] of fields) if (source === choice.source) fields.delete(field);
      fields.set(doubt.field, { source: choice.source, decidedBy: 'answer' });
    } else {
      fields.delete(doubt.field);
      without.add(doubt.field);
    }
  }
  return { fields, without };
}

function columnNotes(
  { notes, passedOver }: Pick<ColumnMap, 'notes' | 'passedOver'>,
  { fields, without }: Pick<ColumnMap, 'fields' | 'without'>,
  headers: readonly string[],
  { agreed }: Pick<InputOptions, 'agreed'>,
): readonly Message[] {
  const names = new ColumnNames(headers);
  const taken = new Set([...fields.values()].flatMap(({ source }) => indicesIn(source)));
  const carried = passedOver.flatMap(({ index, field }) => {
    const by = fields.get(field)?.source;
    if (by === undefined || taken.has(index)) return [];
    return [
      message(
        'COLUMN_NOT_READ',
        `column "${sanitizeText(headers[index] ?? '', 60)}" is not used, only kept in the results. "${sanitizeText(names.headerOf(by), 60)}" is the ${field}`,
      ),
    ];
  });
  const isNameMissed = agreed === undefined && !fields.has('name') && !without.has('name');
  const alone = isNameMissed ? ALONE.find(([field]) => fields.has(field)) : undefined;
  if (alone === undefined) return [...notes, ...carried];
  const nameless = message('NO_NAME_COLUMN', `no column is the name. Only ${alone[1]} decide.`);
  const flags = taken.size < headers.length ? 'If a column has it: --map name="HEADER"' : undefined;
  return [{ ...nameless, flags }, ...notes, ...carried];
}

/** Fields that find a row without a name. A wrong value is another company, with no sign of the error. */
const ALONE: readonly (readonly [InputField, string])[] = [
  ['registration_number', 'numbers'],
  ['vat_number', 'numbers'],
  ['ticker', 'tickers'],
];

/** The headers as column names, unique without case, because databases do not distinguish `Note` from `note`. */
function uniqueNames(headers: readonly string[], warnings: Message[]): string[] {
  const taken = new Set(headers.map((header) => header.trim().toLowerCase()));
  const seen = new Set<string>();
  /** The next suffix of a repeated name, so that counting does not restart. */
  const next = new Map<string, number>();
  return headers.map((header, index) => {
    const wanted = header.trim() || `column_${index + 1}`;
    if (header.trim() !== '' && !seen.has(wanted.toLowerCase())) {
      seen.add(wanted.toLowerCase());
      return wanted;
    }
    let name = wanted;
    let count = next.get(wanted.toLowerCase()) ?? 2;
    for (; seen.has(name.toLowerCase()) || taken.has(name.toLowerCase()); count++) name = `${wanted}_${count}`;
    next.set(wanted.toLowerCase(), count);
    seen.add(name.toLowerCase());
    if (header.trim() !== '')
      warnings.push(
        message(
          'HEADER_REPEATED',
          `the header "${wanted}" appears again in column ${index + 1}. kybatch calls that column ${name}`,
        ),
      );
    return name;
  });
}
