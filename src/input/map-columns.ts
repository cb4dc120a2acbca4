// Finds the column of every field: from `--map`, the agreement, headers and content.

import { UsageError } from '../domain/errors.js';
import { LEADS } from '../domain/leads.js';
import { hasLegalForm } from '../domain/names/similarity.js';
import { readGermanEntry } from '../domain/numbers/german.js';
import { resolveLocation } from '../domain/places/resolve-location.js';
import { isoTime } from '../util/clock.js';
import { type Message, message } from '../util/message-parts.js';
import { sanitizeText } from '../util/sanitize-text.js';
import { listed } from '../util/words.js';
import { A_FIFTH, COMPARED, FEW, isFilled, MOST, numberFit } from './column-content.js';
import { ColumnNames, readGivenColumns } from './column-names.js';
import {
  type ColumnDecision,
  type Columns,
  decideColumns,
  registerPart,
  type SampledColumns,
  type SettledFields,
  type Unclear,
} from './decide-columns.js';
import { indicesIn } from './field-text.js';
import {
  applyAgreement,
  columnsThatFit,
  IS_BARE,
  nameWithForm,
  needsConfirmation,
  numberParts,
  samplesOf,
  suggestColumns,
  textsOf,
  unreadNotes,
} from './fitting-columns.js';
import { fold } from './header-meaning.js';
import { hasGroupHeadings } from './non-company-lines.js';
import {
  type AgreedColumns,
  type ColumnDoubt,
  type ColumnPiece,
  type ColumnSource,
  type DecidedBy,
  HEADING,
  INPUT_FIELDS,
  type InputField,
  type InputOptions,
  OR,
} from './types.js';

type Source = { readonly source: ColumnSource; readonly decidedBy: DecidedBy };

export interface ColumnMap {
  readonly fields: ReadonlyMap<InputField, Source>;
  readonly without: ReadonlySet<InputField>;
  readonly doubts: readonly ColumnDoubt[];
  readonly country: string | null;
  readonly notes: readonly Message[];
  /** Unused columns whose header claims a field, unless a question covers them. */
  readonly passedOver: readonly { readonly index: number; readonly field: InputField }[];
}

/** `headers`: with their groups. `written`: as in the file, for names. */
type HeadedColumns = Omit<Columns, 'country'> & { readonly written: readonly string[] };

type MapOptions = Pick<InputOptions, 'map' | 'agreed' | 'country' | 'leads'>;

/**
 * Finds the column of each field: from `--map`, else from the list's agreement, else by header and content. An unclear
 * column is a doubt, never a guess. If there is an agreement, an extra column raises no doubt.
 */
export function mapColumns(file: HeadedColumns, options: MapOptions): ColumnMap {
  const { agreed, leads = [] } = options;
  const country = countryFor(options);
  const columns: Columns = { ...file, country };
  const names = new ColumnNames(file.written);
  const called = new ColumnNames(file.headers);
  const given = readGivenColumns(options.map ?? [], names, leads);
  const isFollowed = (field: InputField) => !LEADS.some((lead) => lead === field && !leads.includes(lead));
  const { kept, gone, changed } = applyAgreement(
    agreed,
    { ...columns, headers: file.written, names, given },
    (field) => isFollowed(field) && !given.has(field),
  );
  const settled = new Map([...kept, ...given]);
  // Rows that were recognised without a key stay so, even if the numbers in front of them have gaps now.
  const isKeyless = agreed !== undefined && agreed.fields.id === undefined && isSameHeader(file.written, agreed);
  const decision = decideColumns(columns, settledIndices(isKeyless ? new Map([['id', null], ...settled]) : settled));
  const fields = new Map<InputField, Source>();
  for (const [field, source] of settled)
    if (source !== null) fields.set(field, { source, decidedBy: given.has(field) ? 'map' : 'agreed' });
  const isFree = (index: number) => ![...fields.values()].some(({ source }) => indicesIn(source).includes(index));
  for (const [field, { index, decidedBy }] of decision.chosen) fields.set(field, { source: index, decidedBy });
  const withPieces = (source: ColumnSource | undefined) =>
    typeof source === 'number' ? germanPieces(columns, source, isFree) : undefined;
  const pieces = withPieces(decision.chosen.get('registration_number')?.index);
  if (pieces !== undefined) fields.set('registration_number', { source: pieces, decidedBy: 'content' });
  const { index: nameAt, isWeak = false } = decision.chosen.get('name') ?? {};
  const second = nameAt === undefined || isWeak ? undefined : continuedName(file, nameAt, isFree);
  if (nameAt !== undefined && second !== undefined)
    fields.set('name', { source: [nameAt, second], decidedBy: 'content' });
  const oneOf = (indices: readonly number[]): ColumnSource =>
    indices.flatMap((index, at) => [...(at === 0 ? [] : [OR]), withPieces(index) ?? index].flat());
  const several = numberColumns(decision, file.sample);
  const inGaps = several === undefined ? numbersInGaps(decision, file.sample) : undefined;
  if (several !== undefined) fields.set('registration_number', { source: oneOf(several), decidedBy: 'content' });
  const withForm = (field: InputField) => (source: ColumnSource) => {
    const whole = field === 'name' && typeof source === 'number' ? nameWithForm(columns, source, isFree) : undefined;
    return whole === undefined ? [source] : [whole, source];
  };
  const doubtOf = (field: InputField, { code, text }: Message, sources: readonly ColumnSource[]): ColumnDoubt => ({
    field,
    code,
    reason: text,
    choices: [...new Set(sources)].flatMap(withForm(field)).map((found) => {
      const source = (field === 'registration_number' && withPieces(found)) || found;
      const flag = `${field}=${names.sourceInWords(source)}`;
      return { source, header: called.headerOf(source), samples: samplesOf(file.sample, source, field), flag };
    }),
  });
  // Any header counts, because a key with registration numbers may be the renamed column.
  const likely = (field: InputField) =>
    columnsThatFit(field, file.sample, decision.countries, (index) =>
      [...fields].every(([other, { source }]) => other === 'id' || !indicesIn(source).includes(index)),
    );
  const isNew = agreed === undefined;
  const hasRows = (file.sample[0]?.length ?? 0) > 0;
  const notes: Message[] = [];
  const doubts = [...gone].flatMap(([field, was]) => {
    const now = fields.get(field)?.source;
    const told = `${JSON.stringify(sanitizeText(was, 60))}, the ${field} column until now, is missing`;
    const header = now === undefined ? undefined : names.headerOf(now);
    const rivals = decision.unclear.find((unclear) => unclear.field === field)?.columns;
    if (agreed !== undefined && hasRows && (rivals !== undefined || needsConfirmation(field, header, agreed)))
      return [
        doubtOf(field, message('AGREED_COLUMN_GONE', told), [
          ...(rivals ?? (now === undefined ? [] : [now])),
          ...likely(field),
        ]),
      ];
    notes.push(
      header === undefined
        ? message('AGREED_COLUMN_GONE', told)
        : message('AGREED_COLUMN_REPLACED', `${told}: ${JSON.stringify(sanitizeText(header, 60))} is read now`),
    );
    return [];
  });
  for (const [field, { source, why }] of changed) {
    const told = `${JSON.stringify(sanitizeText(names.headerOf(source), 60))}, the ${field} column until now, ${why.text}`;
    const now = fields.get(field)?.source;
    const doubt = doubtOf(field, message(why.code, told), [
      ...(now === undefined ? [] : [now]),
      ...likely(field),
      source,
    ]);
    doubts.push({ ...doubt, isUnlikely: true });
  }
  for (const unclear of withGaps(decision.unclear, inGaps)) {
    if (gone.has(unclear.field) || changed.has(unclear.field)) continue;
    const whichever = unclear.field === 'registration_number' && inGaps !== undefined ? [oneOf(inGaps)] : [];
    const among = unclear.isSure ? unclear.columns.slice(0, 1) : unclear.columns;
    const doubt = doubtOf(unclear.field, reasonOf(unclear, file.headers), [...whichever, ...among]);
    if (isNew) doubts.push(unclear.kind === 'somebody else' ? { ...doubt, isUnlikely: true } : doubt);
    else {
      fields.delete(unclear.field);
      notes.push(message('COLUMN_UNCLEAR', `${doubt.reason}. kybatch uses none of them as ${unclear.field}`));
    }
  }
  const isGrouped =
    isNew &&
    country === null &&
    !settled.has('country') &&
    hasGroupHeadings(file.sample, decision.chosen.get('country')?.index);
  if (isGrouped) {
    fields.delete('country');
    const others = doubts.filter(({ field }) => field !== 'country');
    const reason = message(
      'COUNTRIES_AS_HEADINGS',
      'no row has a country, but headings above groups of rows name countries',
    );
    doubts.splice(0, doubts.length, ...others, doubtOf('country', reason, [[HEADING]]));
  }
  const isUsed = (field: InputField) => fields.has(field) || settled.has(field) || (isGrouped && field === 'country');
  const isSpare = (index: number) =>
    isFree(index) || [...decision.chosen.values()].some((chosen) => chosen.index === index && chosen.isWeak);
  const named = fields.get('name')?.source;
  const rowNames = named === undefined ? undefined : textsOf(file.sample, named, 'name');
  if (isNew)
    for (const { field, columns: found, reason } of suggestColumns(columns, decision, isUsed, isSpare, rowNames)) {
      const doubt = doubtOf(field, reason, found);
      const at = doubts.findIndex((other) => other.field === field);
      const same = doubts[at];
      if (same === undefined) doubts.push(doubt);
      else doubts[at] = { ...same, choices: [...doubt.choices, ...same.choices] };
    }
  const isAsked = (index: number) =>
    doubts.some(({ choices }) => choices.some(({ source }) => indicesIn(source).includes(index)));
  if (isNew)
    for (const { index, field } of decision.refused) {
      const [header, words] = [names.headerOf(index), names.wordsOf(index)].map((one) => sanitizeText(one, 60));
      if (!isAsked(index) && !isUsed(field))
        notes.push({
          ...message(
            'COLUMN_NOT_PLAUSIBLE',
            `column ${JSON.stringify(header)} is not used: its values are no ${field} of the rows' countries.`,
          ),
          flags: `To use it anyway: --map ${field}=${JSON.stringify(words)}`,
        });
    }
  if (isNew)
    notes.push(
      ...unreadNotes(
        columns,
        decision,
        names,
        (field) => isUsed(field) || doubts.some((doubt) => doubt.field === field),
        likely,
      ),
    );
  if (isNew) notes.push(...joinNotes(columns, names, fields, isFree, isAsked));
  if (options.country === undefined && agreed?.country) notes.push(...countryNote(agreed, fields, file.sample));
  if (agreed !== undefined) notes.push(...agreementNote(agreed.at, kept, columns, settledIndices(given)));
  const without = new Set([...settled].flatMap(([field, source]) => (source === null ? [field] : [])));
  const passedOver = decision.passedOver.filter(({ index }) => !isAsked(index));
  return { fields, without, doubts, country, notes, passedOver };
}

const isSameHeader = (headers: readonly string[], { columns }: AgreedColumns): boolean =>
  headers.length === columns.length && headers.every((header, index) => header === columns[index]);

/** Fields that need further columns. They are joined only if the user says so. */
function joinNotes(
  columns: Columns,
  names: ColumnNames,
  fields: ReadonlyMap<InputField, Source>,
  isFree: (index: number) => boolean,
  isAsked: (index: number) => boolean,
): readonly Message[] {
  const parts = { registration_number: numberParts, name: nameWithForm };
  return (['registration_number', 'name'] as const).flatMap((field) => {
    const { source, decidedBy } = fields.get(field) ?? {};
    if (typeof source !== 'number' || decidedBy === 'map' || isAsked(source)) return [];
    const whole = parts[field](columns, source, isFree);
    if (whole === undefined) return [];
    const others = whole.filter((index) => index !== source).map((index) => JSON.stringify(names.headerOf(index)));
    const flag = `${field}=${names.sourceInWords(whole)}`;
    const text = sanitizeText(`${others.join(' and ')} may belong to the ${field}.`, 300);
    const flags = sanitizeText(`To join the columns: --map ${JSON.stringify(flag)}`, 300);
    return [{ ...message('COLUMNS_MAY_BE_JOINED', text), flags }];
  });
}

/**
 * The column that continues a name: SAP cuts names at 35 characters and keeps the rest in `NAME2`. A `Name 2` may hold
 * branches and addressees instead, so it counts only if most names that it continues lack their legal form.
 */
function continuedName(
  { written, sample }: HeadedColumns,
  first: number,
  isFree: (index: number) => boolean,
): number | undefined {
  const header = written[first]?.trim() ?? '';
  const stem = fold(header).replace(/(?<!\d)0?1$/, '');
  const at = written.findIndex((other) => [`${stem}2`, `${stem}02`].includes(fold(other)));
  const more = (sample[at] ?? []).flatMap((cell, row) => (/\p{L}/u.test(cell) ? [sample[first]?.[row] ?? ''] : []));
  if (stem === '' || at < 0 || !isFree(at) || more.length === 0) return undefined;
  const areCut = /^(?:.*_)?NAME(?:_?ORG)?_?1$/i.test(header) || more.filter(hasLegalForm).length * 2 < more.length;
  return areCut ? at : undefined;
}

/** As given. An empty text means none, and overrides the agreement. */
function countryFor({ country, agreed }: MapOptions): string | null {
  if (country === undefined) return agreed?.country ?? null;
  if (country.trim() === '') return null;
  const place = resolveLocation(country);
  if (!place.ok)
    throw new UsageError(
      'COUNTRY_INVALID',
      `--country: ${sanitizeText(place.reason, 200)}`,
      'Write an ISO code or a name: DE, Germany.',
    );
  return place.location;
}

/** Only if a sampled row has no country. */
function countryNote(
  { country, at }: Pick<AgreedColumns, 'country' | 'at'>,
  fields: ReadonlyMap<InputField, Source>,
  sample: SampledColumns,
): readonly Message[] {
  const source = fields.get('country')?.source;
  const isUsed =
    source === undefined
      ? (sample[0] ?? []).length > 0
      : textsOf(sample, source, 'country').some((cell) => cell === '');
  return isUsed ? [message('AGREED_COUNTRY', `rows without a country get ${country}, as chosen on ${dayOf(at)}`)] : [];
}

const dayOf = (at: number): string => isoTime(at)?.slice(0, 10) ?? 'some day';

const settledIndices = (sources: ReadonlyMap<InputField, ColumnSource | null>): SettledFields =>
  new Map([...sources].map(([field, source]) => [field, source === null ? [] : indicesIn(source)]));

/** Columns with numbers in rows where the chosen one is empty are added to the question. */
function withGaps(unclear: readonly Unclear[], inGaps: readonly number[] | undefined): readonly Unclear[] {
  if (inGaps === undefined) return unclear;
  const known = unclear.find(({ field }) => field === 'registration_number');
  const asked: Unclear = {
    field: 'registration_number',
    kind: known?.kind ?? 'several',
    columns: [...new Set([...(known?.columns ?? []), ...inGaps])],
  };
  return [...unclear.filter((one) => one !== known), asked];
}

function reasonOf({ field, kind, columns }: Unclear, headers: readonly string[]): Message {
  const [first = '', second = ''] = columns.map((index) => headers[index]?.trim() ?? '');
  if (kind === 'swapped')
    return message(
      'COLUMNS_SWAPPED',
      `the columns ${JSON.stringify(second)} and ${JSON.stringify(first)} seem to be swapped. Which one is the ${field} is unclear`,
    );
  if (kind === 'somebody else')
    return message(
      'COLUMN_OF_OTHER_COMPANY',
      `no header is clearly the company's ${field}. ${columns.length === 1 ? `${JSON.stringify(first)} seems` : 'These seem'} to describe another company`,
    );
  if (kind === 'contradiction')
    return message('CONTENT_CONTRADICTS_HEADER', `column ${JSON.stringify(first)} has values that are no ${field}`);
  if (first.toLowerCase() === second.toLowerCase())
    return message(
      'HEADER_REPEATED',
      `the header ${JSON.stringify(first)} appears twice, in columns ${columns.map((index) => index + 1).join(' and ')}. Both could be the ${field}`,
    );
  return message('SEVERAL_COLUMNS', `${columns.length === 2 ? 'two' : columns.length} columns could be the ${field}`);
}

/** Only if the agreement changed the result. */
function agreementNote(
  at: number,
  kept: ReadonlyMap<InputField, ColumnSource | null>,
  columns: Columns,
  given: SettledFields,
): readonly Message[] {
  const anew = decideColumns(columns, given);
  const others = INPUT_FIELDS.filter((field) => {
    const source = kept.get(field);
    if (source === undefined) return false;
    const now = anew.chosen.get(field)?.index;
    return source === null || now === undefined
      ? source !== null || now !== undefined
      : !indicesIn(source).includes(now);
  });
  if (others.length === 0 && anew.unclear.length === 0) return [];
  const what = others.length === 0 ? 'columns are' : `${listed(others)} ${others.length === 1 ? 'is' : 'are'}`;
  return [message('AGREED_COLUMNS', `${what} read from the same columns as on ${dayOf(at)}. --map changes that`)];
}

/**
 * A German number needs its section and its court, which lists often put in separate columns. Returns the pieces of the
 * number. Undefined if the number column is complete, or if no other column belongs to it.
 */
function germanPieces(
  { headers, lookup, sample }: Pick<Columns, 'headers' | 'lookup' | 'sample'>,
  number: number,
  isFree: (index: number) => boolean,
): readonly ColumnPiece[] | undefined {
  const cells = (sample[number] ?? []).filter(isFilled);
  const entries = cells.filter((cell) => {
    const entry = readGermanEntry(cell);
    return entry !== undefined && entry.court === undefined;
  }).length;
  const bare = cells.filter((cell) => IS_BARE.test(cell)).length;
  const partAt = (part: 'court' | 'section') =>
    headers.findIndex((_, index) => isFree(index) && registerPart({ headers, lookup, sample }, index) === part);
  const court = partAt('court');
  const section = bare > entries ? (sectionIn(headers[number] ?? '') ?? partAt('section')) : -1;
  if (court === -1 && section === -1) return undefined;
  // Numbers of other registers, or with their court, need no other column.
  if (entries === 0 && section === -1) return undefined;
  return [...(court === -1 ? [] : [court]), ...(section === -1 ? [] : [section]), number];
}

/** A column with the header HRB has numbers of that section. */
const sectionIn = (header: string): string | undefined => {
  const [, section] = /^(hr[ab])(?:nr|no|nummer|number)?$/.exec(fold(header)) ?? [];
  return section?.toUpperCase();
};

/**
 * The columns that together have the registration number, one for each country (`CRN`, `SIREN`, `KvK`). Each has such a
 * header and numbers of its rows' registers. A row that fills two has one number in both (`SIREN`, `SIRET`). Undefined if
 * there is only one column.
 */
function numberColumns(
  { chosen, passedOver, countries, unclear }: ColumnDecision,
  sample: SampledColumns,
): readonly number[] | undefined {
  const first = chosen.get('registration_number')?.index;
  if (first === undefined || unclear.some(({ field }) => field === 'registration_number')) return undefined;
  const cellsOf = (index: number) => sample[index] ?? [];
  const holdsNumbers = (index: number) => {
    const { fit, nearly, judged } = numberFit('registration_number', cellsOf(index), countries);
    return judged > 0 && fit + nearly >= judged * MOST;
  };
  const fillsGap = (index: number) =>
    cellsOf(index).some((cell, row) => isFilled(cell) && !isFilled(cellsOf(first)[row] ?? ''));
  const others = passedOver
    .filter(({ field, index }) => field === 'registration_number' && holdsNumbers(index) && fillsGap(index))
    .map(({ index }) => index);
  if (others.length === 0 || !holdsNumbers(first)) return undefined;
  const all = [first, ...others].sort((a, b) => a - b);
  const numbersIn = (row: number, country: string | null) =>
    new Set(
      all
        .map((index) => cellsOf(index)[row] ?? '')
        .filter(isFilled)
        .map((cell) => COMPARED.registration_number(cell, country)),
    );
  // A row without a country is invalid anyway.
  const located = countries.flatMap((country, row) => (country === null ? [] : [numbersIn(row, country)]));
  const told = located.length > 0 ? located : countries.map((_, row) => numbersIn(row, null));
  return told.every(({ size }) => size < 2) ? all : undefined;
}

/**
 * Other number columns if a row fills two, so that it is unclear whether they belong together. They have fitting
 * headers and numbers in rows where the chosen column is empty. Undefined if too few rows do.
 */
function numbersInGaps(
  { chosen, passedOver, countries }: Pick<ColumnDecision, 'chosen' | 'passedOver' | 'countries'>,
  sample: SampledColumns,
): readonly number[] | undefined {
  const first = chosen.get('registration_number')?.index;
  if (first === undefined) return undefined;
  const own = sample[first] ?? [];
  const rows = own.length;
  const others = passedOver.flatMap(({ field, index }) => {
    if (field !== 'registration_number') return [];
    const inGaps = (sample[index] ?? []).map((cell, row) => (isFilled(own[row] ?? '') ? '' : cell));
    const { fit, nearly, judged } = numberFit('registration_number', inGaps, countries);
    const numbers = fit + nearly;
    const isTold = numbers >= FEW || numbers >= rows * A_FIFTH;
    return numbers > 0 && isTold && numbers >= judged * MOST ? [index] : [];
  });
  return others.length === 0 ? undefined : [first, ...others].sort((a, b) => a - b);
}
