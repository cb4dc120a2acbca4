import type { Due, Judgement, PortfolioRecord, PortfolioStore, Standing } from '../ledger/portfolios.js';
import type { LaidFile } from './lay-out.js';

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
  judge: (standing: Standing) => Judgement,
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
  { laid }: LaidFile,
  known: PortfolioRecord | undefined,
  limit: number | null,
  judge: (standing: Standing) => Judgement,
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
