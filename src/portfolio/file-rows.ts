import { hash } from 'node:crypto';
import { companyKey } from '../domain/entity-key.js';
import { LEADS } from '../domain/leads.js';
import { countryProblem, readSearchSubject } from '../domain/search-subject.js';
import { IDENTIFIERS, type InputRow, type InputTable } from '../input/types.js';
import type {
  Due,
  DueDecision,
  FileRow,
  PortfolioRecord,
  PortfolioStore,
  Standing,
} from '../ledger/portfolio/portfolios.js';
import { sanitizeText } from '../util/sanitize-text.js';

const BATCH = 1000;

/** A file that lies beside its portfolio. */
export interface LoadedFile {
  /** What it was read as: the same key is the same rows, in the same columns. */
  readonly key: string;
  /** False: it is the file that was taken in last, and nothing had to be laid out. */
  readonly laid: boolean;
  /** An ID that several rows have, for which none counts: rows are known again by their company. Null: each is its own. */
  readonly repeatedId: string | null;
}

/** Lays a file beside a portfolio, in batches: memory does not grow with the file. */
export async function loadFile(
  table: InputTable,
  limit: number | null,
  known: PortfolioRecord | undefined,
  portfolios: PortfolioStore,
): Promise<LoadedFile> {
  const key = hash(
    'sha256',
    JSON.stringify([table.sha256, table.columns, table.mapping, limit, ...readOtherwise(table)]),
  );
  if (known?.inputKey === key) return { key, laid: false, repeatedId: null };
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
  return { key, laid: true, repeatedId: await portfolios.repeatedId() };
}

/** What else makes other rows of the same bytes. Most files have none of it, and are what they were before there was any. */
function readOtherwise({ encoding, headerLine, sheet, country }: InputTable): readonly unknown[] {
  const isPlain = (encoding === null || encoding === 'utf-8') && headerLine === 1 && sheet === null && country === null;
  // One that was taken in before the kinds of its cells were kept is laid out once more.
  return isPlain ? [] : [{ encoding, headerLine, sheet, country, ...(sheet !== null && { withKinds: true }) }];
}

type Problem = { readonly code: string; readonly message: string };

export function fileRow(input: InputRow, known?: Problem): FileRow {
  const { row, line, values, kinds, fields: given } = input;
  const { fields, problem } = soundRow(input, known);
  const { asked, leads } = sortedOut(fields);
  return {
    row,
    line,
    values,
    kinds,
    fields,
    problem: problem && { code: problem.code, message: sanitizeText(problem.message) },
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

/** Numbers are read when a row sets out; a country that nobody knows is told before anything is spent. */
export function soundRow({ fields: given, problem: damage }: InputRow, known?: Problem): SoundRow {
  const problem = known ?? damage ?? countryProblem(given) ?? null;
  return { problem, fields: damage === undefined ? { ...given } : {} };
}

/** What of a row can be worked with, and what is wrong with it. */
interface SoundRow {
  readonly fields: Readonly<Record<string, string>>;
  readonly problem: Problem | null;
}

type Entries = readonly (readonly [string, string])[];

/**
 * What the row asks about, and its leads beside it. A lead says who is meant only where nothing else does: a list that is
 * run by turns with a pipeline that follows leads, and one that does not, is the same list.
 */
function sortedOut({ id: _, ...fields }: FileRow['fields']): { readonly asked: Entries; readonly leads: Entries } {
  const entries = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  if (IDENTIFIERS.every((field) => fields[field] === undefined)) return { asked: entries, leads: [] };
  const isLead = ([field]: Entries[number]) => LEADS.some((lead) => lead === field);
  return { asked: entries.filter((entry) => !isLead(entry)), leads: entries.filter(isLead) };
}

function companyOf(fields: FileRow['fields']): string | null {
  const reading = readSearchSubject(fields);
  return reading.ok ? companyKey(reading.enquiry.subject) : null;
}

/** Half of it: among a million rows two are taken for one with a chance of one in 10^26. */
const digest = (value: unknown): string => hash('sha256', JSON.stringify(value)).slice(0, 32);

/** A row of a file, and what would become of it. */
export interface SurveyedRow {
  readonly row: number;
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Null: it begins anew. */
  readonly standing: Standing | null;
  /** Null: nothing is to be done. */
  readonly due: Due | null;
}

/** What a file would set going, row by row; nothing is changed. The file must have been laid out. */
export async function* survey(
  known: PortfolioRecord | undefined,
  judge: (standing: Standing) => DueDecision,
  portfolios: PortfolioStore,
): AsyncGenerator<SurveyedRow> {
  for await (const batch of portfolios.compare(known?.id ?? null))
    for (const compared of batch) {
      const { standing, problem } = compared;
      const due = standing === null ? (problem === null ? NEW : null) : judge(standing).due;
      yield { ...compared, due };
    }
}

const NEW: Due = { reason: 'new', goesOn: false, rank: 0, stages: {}, forget: [], notBefore: null };

/** Is anything due? Stops at the first that is. */
export async function isAnythingDue(
  { laid }: LoadedFile,
  known: PortfolioRecord | undefined,
  limit: number | null,
  judge: (standing: Standing) => DueDecision,
  portfolios: PortfolioStore,
): Promise<boolean> {
  const within = ({ row }: { readonly row: number }) => limit === null || row <= limit;
  if (laid) {
    for await (const row of survey(known, judge, portfolios))
      if (within(row) && (row.due !== null || row.standing === null)) return true;
    return false;
  }
  if (known === undefined) return false;
  for await (const batch of portfolios.standings(known.id))
    if (batch.some((standing) => within(standing) && judge(standing).due !== null)) return true;
  return false;
}
