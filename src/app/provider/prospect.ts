// `prospect`: finds companies by filters and writes them as an input file.

import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import pLimit from 'p-limit';
import type { Operation } from '../../api/operation.js';
import { companies } from '../../api/v2/operations/companies.js';
import { nomenclature, prospecting } from '../../api/v2/operations/prospecting.js';
import type { Answer, CallOutcome } from '../../calls/request.js';
import { asOpenError, asWriteError, ExitCode, KybatchError, UsageError } from '../../domain/errors.js';
import { PAGES_AT_MOST } from '../../domain/provider.js';
import { readMarker, SUMMARY } from '../../export/export-folders.js';
import { CsvText } from '../../export/formats/csv.js';
import type { ExportOptions, TableFormat } from '../../export/formats/format.js';
import { checkExport } from '../../export/formats/list.js';
import { writeStandaloneTables } from '../../export/standalone-tables.js';
import {
  type ProfileSeen,
  type Prospect,
  type ProspectRow,
  prospectRow,
  prospectsTable,
  readProspectPage,
} from '../../readers/prospects.js';
import type { RawAnswer } from '../../readers/reader.js';
import { type Cell, column } from '../../readers/table.js';
import { askPages, listNotReturned } from '../../stages/pages.js';
import type { StageOutcome } from '../../stages/stage.js';
import { writeAtomically } from '../../util/files.js';
import { version } from '../../util/packages.js';
import { type AppEnvironment, dataDirOf, pathIn, processEnvironment } from '../environment.js';
import { fileTarget } from '../output-paths.js';
import { tablesFolder } from '../run/export.js';
import { otherProviderNotes } from '../run/guards.js';
import { DeclinedError, wholeNumber } from '../run/spending.js';
import {
  type AskTerms,
  type DirectCalls,
  endOfAllCalls,
  noAnswerError,
  type StopSignals,
  termsOf,
  withDirectCalls,
} from './direct-calls.js';
import { type ResolvedFilters, readFilters, resolveFilters, type WrittenFilters } from './prospect-filters.js';
import { checkOperations, type ProviderOptions, withLedgerAndProvider } from './provider.js';

export interface ProspectView extends Omit<Collected, 'prospects'> {
  readonly proposal: ProspectProposal;
  readonly prospects: number;
  readonly profiles: Readonly<Record<string, number>>;
  readonly withNumber: number;
  /** The first failure that may pass. Null: none. */
  readonly failure: KybatchError | null;
  readonly answers: { readonly owned: number; readonly sent: number };
  /** The written files. Null if no company was found. */
  readonly written: { readonly input: string; readonly tables: string } | null;
}

/** Always sent, because the default is not published: the calls can then be counted in advance. */
const PER_PAGE = 25;
const PER_PAGE_AT_MOST = 1000;

/** Companies that fit the filters, as an input file for `run` and as tables. Stored answers are reused. */
export async function prospect(options: ProspectOptions, environment = processEnvironment()): Promise<ProspectView> {
  const { profiles = true } = options;
  const pages = wholeNumber('--pages', options.pages, 1, PAGES_AT_MOST) ?? PAGES_AT_MOST;
  const perPage = wholeNumber('--per-page', options.perPage, 1, PER_PAGE_AT_MOST) ?? PER_PAGE;
  const written = readFilters(options.filters, environment);
  mustAgree(options);
  const operations = [nomenclature.nomenclature, prospecting.prospecting];
  checkOperations(profiles ? [...operations, companies.companyProfile] : operations, options, environment);
  const target = await prospectTarget(options, environment);
  const bounds = { pages, perPage, profilesAtMost: profiles ? pages * perPage : 0 };
  return await withLedgerAndProvider('write', options, environment, async (provider, workplace) => {
    const only = { v1: '', v2: provider.names.v2, mcp: '' };
    for (const note of await otherProviderNotes(only, workplace.ledger)) environment.onNote?.(note);
    return await withDirectCalls(provider, options, workplace, (door) =>
      search({ written, bounds, target }, options, door, environment),
    );
  });
}

interface Search {
  readonly written: WrittenFilters;
  readonly bounds: Pick<ProspectProposal, 'pages' | 'perPage' | 'profilesAtMost'>;
  readonly target: ProspectTarget;
}

async function search(
  { written, bounds, target }: Search,
  options: ProspectOptions,
  door: DirectCalls,
  environment: AppEnvironment,
): Promise<ProspectView> {
  const proposal = { ...(await resolveFilters(written, options.filters, door.ask)), ...bounds };
  if (options.agree !== undefined && !(await options.agree(proposal))) throw new DeclinedError();
  // Vocabularies are reused for a year, even with `--rebuy`.
  const terms = termsOf(options);
  const asked = { filters: proposal.filters, per_page: proposal.perPage };
  const { prospects, ...collected } = await collectProspects(asked, proposal.pages, door, terms, options);
  const none: Profiles = { seen: new Map(), failure: null };
  const { seen, failure } = proposal.profilesAtMost === 0 ? none : await askProfiles(prospects, door, terms);
  const { includeContacts = false } = options;
  const shown = { isPart: collected.isPart, includeContacts };
  const rows = prospects.map((one, index) => prospectRow(one, index + 1, seen.get(one.id) ?? 'not_asked', shown));
  const files = rows.length === 0 ? null : await writeProspects(rows, target, { ...collected, proposal }, environment);
  return {
    ...collected,
    proposal,
    prospects: rows.length,
    profiles: countsOf(rows),
    withNumber: rows.filter((row) => row.registration_number).length,
    failure,
    answers: { ...door.answers },
    written: files,
  };
}

function countsOf(rows: readonly ProspectRow[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { profile } of rows) counts[profile ?? ''] = (counts[profile ?? ''] ?? 0) + 1;
  return counts;
}

/** As for `run`: without a terminal, `--yes` is required. The sandbox is free. */
function mustAgree({ yes, sandbox, agree }: ProspectOptions): void {
  if (yes === true || sandbox === true || agree !== undefined) return;
  throw new UsageError(
    'NOT_CONFIRMED',
    'prospect spends money, and there is no terminal to confirm it',
    'Nothing was spent. Add --yes. Limit the calls with --pages and --per-page.',
  );
}

export interface ProspectOptions extends ProviderOptions, StopSignals {
  readonly filters: string;
  /** The input file for `run`. The tables go beside it. Default: the name of the filters file with .csv. */
  readonly out?: string | undefined;
  readonly formats?: readonly TableFormat[] | undefined;
  /** Default: 10, the provider's maximum (V2-20). */
  readonly pages?: number | undefined;
  readonly perPage?: number | undefined;
  /** Gets the number and country of each, with one call each. */
  readonly profiles?: boolean | undefined;
  readonly fresh?: boolean | undefined;
  /** Includes phone numbers in the table. */
  readonly includeContacts?: boolean | undefined;
  /** Overwrites existing files that `prospect` did not write. */
  readonly force?: boolean | undefined;
  readonly yes?: boolean | undefined;
  /** Called with the proposal before anything is spent. */
  readonly agree?: ((proposal: ProspectProposal) => Promise<boolean>) | undefined;
  readonly onPage?: ((page: number) => void) | undefined;
}

export interface ProspectProposal extends ResolvedFilters {
  readonly pages: number;
  readonly perPage: number;
  /** One call for each company; 0: no profiles. */
  readonly profilesAtMost: number;
}

export interface Collected {
  /** Each company once, in order of arrival. */
  readonly prospects: readonly Prospect[];
  readonly pages: number;
  /** From the last page. Null: not reported. */
  readonly totalCompanies: number | null;
  readonly totalPages: number | null;
  /** The provider counts more pages than were read (V2-20), or it gives no count and the last page was full. */
  readonly isPart: boolean;
  /** Companies that came more than once. */
  readonly repeated: number;
  readonly notes: readonly string[];
}

interface CollectOptions {
  readonly onPage?: ((page: number) => void) | undefined;
  readonly includeContacts?: boolean | undefined;
}

/** Reads the pages of prospecting in order, by the rule for all lists. */
export async function collectProspects(
  params: Readonly<Record<string, unknown>>,
  pagesAtMost: number,
  { ask }: DirectCalls,
  terms: AskTerms,
  { onPage = () => {}, includeContacts = false }: CollectOptions = {},
): Promise<Collected> {
  const operation = prospecting.prospecting;
  const read: RawAnswer[] = [];
  const notes: string[] = [];
  let last: CallOutcome | undefined;
  const context: Parameters<typeof askPages>[3] = {
    call: async (_, asked, { notBefore = 0 } = {}) => {
      last = await ask(operation, asked, { notBefore });
      if (last.kind !== 'answer') return last;
      read.push(answerAsRead(operation, asked, last));
      onPage(read.length);
      return last;
    },
    stored: async () => undefined,
    keepError: ({ code, message }) => {
      // `isPart` shows this in more detail.
      if (code !== 'PAGES_LEFT') notes.push(message);
    },
  };
  const outcome = await askPages(operation, params, pagesAtMost, context, terms);
  if (outcome.kind !== 'pages')
    throw last === undefined || last.kind === 'answer' ? notRead(outcome) : noAnswerError(last, operation);
  if (!outcome.came) notes.push(listNotReturned(operation));
  const pages = read.map((answer, index) => readProspectPage(answer, index + 1, includeContacts));
  const unnamed = pages.reduce((sum, page) => sum + page.unnamed, 0);
  if (unnamed > 0) notes.push(`Left out, because the provider gave no ID: ${unnamed}. The raw answer has them.`);
  const all = pages.flatMap(({ prospects }) => prospects);
  const prospects = firstOfEach(all);
  const { totalCompanies = null, totalPages = null, prospects: onLast = [] } = pages.at(-1) ?? {};
  const isFull = pages.length >= pagesAtMost && onLast.length > 0;
  return {
    prospects,
    pages: pages.length,
    totalCompanies,
    totalPages,
    isPart: totalPages === null ? isFull : totalPages > pages.length,
    repeated: all.length - prospects.length,
    notes,
  };
}

/** If a list moves while it is read, a company can be on two pages. */
function firstOfEach(all: readonly Prospect[]): readonly Prospect[] {
  const first = new Map<string, Prospect>();
  for (const one of all) if (!first.has(one.id)) first.set(one.id, one);
  return [...first.values()];
}

function notRead(outcome: StageOutcome): KybatchError {
  const message = 'message' in outcome ? outcome.message : outcome.kind;
  return new KybatchError(message, {
    code: 'UNREADABLE',
    hint: 'The same command asks for this page again.',
    exit: ExitCode.unavailable,
  });
}

interface Profiles {
  /** By the prospect's ID. */
  readonly seen: ReadonlyMap<string, ProfileSeen>;
  /** The first failure of a profile that may still exist. */
  readonly failure: KybatchError | null;
}

/** A missing or failed profile is noted with its prospect. An error that would end every call ends the loop. */
async function askProfiles(prospects: readonly Prospect[], { ask }: DirectCalls, terms: AskTerms): Promise<Profiles> {
  const operation = companies.companyProfile;
  const seen = new Map<string, ProfileSeen>();
  let [failure, end]: (KybatchError | null)[] = [null, null];
  await pLimit(AT_ONCE).map([...prospects], async ({ id }) => {
    if (end) return;
    const params = { id };
    const outcome = await ask(operation, params, terms);
    if (outcome.kind === 'answer') {
      seen.set(id, answerAsRead(operation, params, outcome));
      return;
    }
    if (endOfAllCalls(outcome) !== undefined) end ??= noAnswerError(outcome, operation);
    const isMissing = outcome.kind === 'not_available';
    if (!isMissing) failure ??= noAnswerError(outcome, operation);
    seen.set(id, isMissing ? 'not_available' : 'failed');
  });
  if (end) throw end;
  return { seen, failure: failure ?? null };
}

/** The provider's own limit is not published. */
const AT_ONCE = 4;

const answerAsRead = (
  { name: operation }: Operation,
  params: Readonly<Record<string, unknown>>,
  { body, fetchedAt }: Answer,
): RawAnswer => ({
  operation,
  params,
  body,
  fetchedAt,
  rawSha256: hash('sha256', body),
  ids: {},
  country: null,
  row: null,
  stage: null,
});

interface ProspectTarget {
  readonly input: string;
  readonly tables: string;
  readonly formats: ExportOptions['formats'];
  readonly includeContacts: boolean;
}

async function prospectTarget(options: ProspectOptions, environment: AppEnvironment): Promise<ProspectTarget> {
  const { filters, formats = ['csv'], force = false, includeContacts = false } = options;
  const named = options.out ?? `${basename(filters, extname(filters))}.csv`;
  const dataDir = dataDirOf(options, environment);
  const input = fileTarget(named, dataDir, environment, [pathIn(environment, filters)]);
  try {
    mustBeOurs(input, force);
  } catch (error) {
    throw asOpenError(error, input);
  }
  const tables = tablesFolder({ out: tablesBeside(input) }, 'prospect', dataDir, environment);
  await checkExport({ folder: tables, formats });
  return { input, tables, formats, includeContacts };
}

type Found = Omit<Collected, 'prospects'> & { readonly proposal: ProspectProposal };

/** Writes the tables, then the input file. Each appears only when it is complete. */
async function writeProspects(
  rows: readonly ProspectRow[],
  { input, tables, formats, includeContacts }: ProspectTarget,
  found: Found,
  { clock }: AppEnvironment,
): Promise<{ readonly input: string; readonly tables: string }> {
  const text = inputText(rows);
  const facts = {
    input: inputFacts(input, text),
    filters: found.proposal.filters,
    is_part: found.isPart,
    total_companies: found.totalCompanies,
    total_pages: found.totalPages,
    pages: found.pages,
    notes: found.notes,
  };
  const how = { formats, csv: { delimiter: ',', bom: false }, includeContacts, partitionByCountry: false };
  await writeStandaloneTables(
    { by: 'prospect', title: 'Prospects', tables: [{ table: prospectsTable, rows }], facts },
    { ...how, folder: tables, now: clock.now(), version },
  );
  await writeInput(input, text);
  return { input, tables };
}

/** Columns of the input file that is written for `run`. */
const COLUMNS = [
  column('id', 'text', 'ID that prospecting gives'),
  column('name', 'text', 'Name'),
  column('country', 'text', 'ISO alpha-2'),
  column('registration_number', 'text', 'Registration number'),
  column('website', 'text', 'Website'),
  column('linkedin', 'text', 'LinkedIn address'),
  column('city', 'text', 'City'),
] as const;

type InputRow = Readonly<Record<(typeof COLUMNS)[number]['name'], Cell>>;

const inputRow = (row: ProspectRow): InputRow => ({
  id: row.companies_id,
  name: row.name,
  country: row.country_code,
  registration_number: row.registration_number,
  website: row.company_website,
  linkedin: row.linkedin,
  city: row.address_city,
});

/** UTF-8, with cells that a spreadsheet would run as a formula escaped, as in every table. */
function inputText(rows: readonly ProspectRow[]): string {
  const csv = new CsvText(COLUMNS, { delimiter: ',' });
  csv.add(rows.map(inputRow));
  return csv.header() + Buffer.from(csv.take()).toString();
}

const tablesBeside = (input: string): string => `${input.replace(/\.csv$/i, '')}.tables`;

/** The digest of the input file in the summary of the tables. It shows whether a user has edited the file. */
interface InputFacts {
  readonly path: string;
  readonly sha256: string;
  /** The previous file's digest: that file is still there if the process died between the two writes. */
  readonly before: string | null;
}

const inputFacts = (path: string, text: string): InputFacts => ({
  path,
  sha256: hash('sha256', text),
  before: digestOf(path),
});

async function writeInput(path: string, text: string): Promise<void> {
  try {
    await writeAtomically(path, text);
  } catch (error) {
    throw asWriteError(error, path);
  }
}

/** Without `force`, only an unedited file of `prospect` is overwritten. */
function mustBeOurs(path: string, force: boolean): void {
  const there = digestOf(path);
  if (force || there === null) return;
  const known = knownInput(tablesBeside(path));
  if (known === undefined)
    throw new UsageError(
      'OUT_NOT_OURS',
      `${path} exists, and prospect did not write it`,
      'Nothing was spent. Choose another file with --out, or overwrite it with --force.',
    );
  if (there !== known.sha256 && there !== known.before)
    throw new UsageError(
      'OUT_EDITED',
      `${path} was changed after prospect wrote it`,
      'Nothing was spent. Choose another file with --out, or overwrite it with --force.',
    );
}

function knownInput(folder: string): Pick<InputFacts, 'sha256' | 'before'> | undefined {
  if (readMarker(folder) === undefined) return undefined;
  const { input } = JSON.parse(readFileSync(join(folder, SUMMARY), 'utf8')) as { input?: Partial<InputFacts> };
  return typeof input?.sha256 === 'string' ? { sha256: input.sha256, before: input.before ?? null } : undefined;
}

/** Null if there is no file. */
const digestOf = (path: string): string | null =>
  statSync(path, { throwIfNoEntry: false }) === undefined ? null : hash('sha256', readFileSync(path));
