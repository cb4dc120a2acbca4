// Loads the rows of a file and compares them with the portfolio.

import { hash } from 'node:crypto';
import { memberKey } from '../domain/entity-key.js';
import { LEADS } from '../domain/leads.js';
import { countryProblem, readSearchSubject } from '../domain/search-subject.js';
import { IDENTIFIERS, type InputRow, type InputTable } from '../input/types.js';
import type { PortfolioStore } from '../ledger/portfolio/portfolio-store.js';
import type {
  ComparedRow,
  Due,
  DueDecision,
  FileRow,
  MemberState,
  PortfolioRecord,
} from '../ledger/portfolio/portfolios.js';
import { sanitizeText } from '../util/sanitize-text.js';

const BATCH = 1000;

export interface LoadedFile {
  /** Identifies content and reading: the same key means the same rows and columns. */
  readonly key: string;
  /** False: it is the last file unchanged, so nothing was loaded. */
  readonly laid: boolean;
  /** IDs that several rows share. These rows are identified by company. */
  readonly repeatedIds: readonly string[];
}

/** Loads in batches, so that memory does not grow with the file. */
export async function loadFile(
  table: InputTable,
  limit: number | null,
  known: PortfolioRecord | undefined,
  portfolios: PortfolioStore,
): Promise<LoadedFile> {
  const key = hash(
    'sha256',
    JSON.stringify([table.sha256, table.columns, table.mapping, limit, ...otherReadSettings(table)]),
  );
  if (known?.inputKey === key) return { key, laid: false, repeatedIds: [] };
  let batch: FileRow[] = [];
  let anew = true;
  const lay = async () => {
    await portfolios.loadRows(batch, anew);
    anew = false;
    batch = [];
  };
  for await (const row of table.rows()) {
    batch.push(fileRow(row));
    if (batch.length === BATCH) await lay();
  }
  if (batch.length > 0 || anew) await lay();
  return { key, laid: true, repeatedIds: await portfolios.repeatedIds() };
}

/**
 * Other settings that change the rows of the same bytes. Plain files have none, so that their key stays that of earlier
 * versions.
 */
function otherReadSettings({ encoding, headerLine, sheet, country }: InputTable): readonly unknown[] {
  const isPlain = (encoding === null || encoding === 'utf-8') && headerLine === 1 && sheet === null && country === null;
  // A workbook from before cell types were stored is loaded again.
  return isPlain ? [] : [{ encoding, headerLine, sheet, country, ...(sheet !== null && { withKinds: true }) }];
}

type Problem = { readonly code: string; readonly message: string };

export function fileRow(input: InputRow, known?: Problem): FileRow {
  const { row, line, values, kinds, fields: given } = input;
  const { fields, problem } = usableRow(input, known);
  // The fields of an invalid row are shown and found. They do not identify a company.
  const { asked, leads } = sortedOut(input.problem === undefined ? fields : {});
  return {
    row,
    line,
    values,
    kinds,
    fields,
    problem: shown(problem),
    inputId: given.id ?? null,
    company: problem === null ? companyOf(fields) : null,
    says: digest([problem?.code ?? null, asked]),
    cells: digest([
      values,
      problem?.message ?? null,
      ...(leads.length === 0 ? [] : [leads]),
      ...(kinds === undefined ? [] : [kinds]),
    ]),
  };
}

const shown = (problem: Problem | null): Problem | null =>
  problem && { code: problem.code, message: sanitizeText(problem.message) };

/** Numbers are parsed when a row is processed. An unknown country is reported before any spending. */
export function usableRow({ fields: given, problem: damage }: InputRow, known?: Problem): SoundRow {
  const problem = known ?? damage ?? countryProblem(given) ?? null;
  // PostgreSQL reads no JSON with this character.
  return { problem, fields: damage?.code === 'NUL_CHARACTER' ? {} : { ...given } };
}

interface SoundRow {
  readonly fields: Readonly<Record<string, string>>;
  readonly problem: Problem | null;
}

type Entries = readonly (readonly [string, string])[];

/**
 * The searched fields, and the leads beside them. A lead identifies a company only if nothing else does: so a list run
 * in turn with and without leads is the same list.
 */
function sortedOut({ id: _, ...fields }: FileRow['fields']): { readonly asked: Entries; readonly leads: Entries } {
  const entries = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  if (IDENTIFIERS.every((field) => fields[field] === undefined)) return { asked: entries, leads: [] };
  const isLead = ([field]: Entries[number]) => LEADS.some((lead) => lead === field);
  return { asked: entries.filter((entry) => !isLead(entry)), leads: entries.filter(isLead) };
}

function companyOf(fields: FileRow['fields']): string | null {
  const reading = readSearchSubject(fields);
  return reading.ok ? memberKey(reading.enquiry.subject) : null;
}

/** Half of the digest: among a million rows the chance of a collision is one in 10^26. */
const digest = (value: unknown): string => hash('sha256', JSON.stringify(value)).slice(0, 32);

export interface SurveyedRow extends Omit<ComparedRow, 'isKnown'> {
  readonly due: Due | null;
}

/** What a file would start, in batches, without changes. */
export async function* survey(
  { laid }: Pick<LoadedFile, 'laid'>,
  table: Pick<InputTable, 'rows'>,
  known: PortfolioRecord | undefined,
  judge: (standing: MemberState) => DueDecision,
  portfolios: PortfolioStore,
): AsyncGenerator<readonly SurveyedRow[]> {
  const rows =
    laid || known === undefined ? portfolios.compare(known?.id ?? null) : unchanged(table, known, portfolios);
  for await (const batch of rows)
    yield batch.map((compared) => {
      const { standing, problem, isKnown } = compared;
      if (standing !== null) return { ...compared, due: judge(standing).due };
      return { ...compared, due: problem === null ? { ...NEW, reason: isKnown ? 'changed' : 'new' } : null };
    });
}

/**
 * The rows of the last file unchanged, beside the members at their places. Loading and comparing them takes twice as
 * long (docs/developers/performance.md, "plan").
 */
async function* unchanged(
  table: Pick<InputTable, 'rows'>,
  { id }: PortfolioRecord,
  portfolios: PortfolioStore,
): AsyncGenerator<readonly ComparedRow[]> {
  const batches = portfolios.standings(id)[Symbol.asyncIterator]();
  let members = new Map<number, MemberState>();
  let batch: ComparedRow[] = [];
  for await (const input of table.rows()) {
    const { row, line } = input;
    if (!members.has(row)) {
      if (batch.length > 0) yield batch;
      batch = [];
      const { value = [] }: { readonly value?: readonly MemberState[] } = await batches.next();
      members = new Map(value.map((member) => [member.row, member]));
    }
    const { fields, problem } = usableRow(input);
    batch.push({ row, line, fields, problem: shown(problem), standing: members.get(row) ?? null, isKnown: true });
  }
  if (batch.length > 0) yield batch;
}

const NEW: Due = { reason: 'new', goesOn: false, rank: 0, stages: {}, forget: [], notBefore: null };

/** Stops at the first row that is due. */
export async function isAnythingDue(
  file: LoadedFile,
  table: Pick<InputTable, 'rows'>,
  known: PortfolioRecord | undefined,
  limit: number | null,
  judge: (standing: MemberState) => DueDecision,
  portfolios: PortfolioStore,
): Promise<boolean> {
  const within = ({ row }: { readonly row: number }) => limit === null || row <= limit;
  if (file.laid) {
    for await (const batch of survey(file, table, known, judge, portfolios))
      if (batch.some((row) => within(row) && (row.due !== null || row.standing === null))) return true;
    return false;
  }
  if (known === undefined) return false;
  for await (const batch of portfolios.standings(known.id))
    if (batch.some((standing) => within(standing) && judge(standing).due !== null)) return true;
  return false;
}
