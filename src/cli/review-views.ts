import type { DecisionEntry } from '../ledger/ledger.js';
import type { Question } from '../review/questions.js';
import { printable } from '../review/words.js';

export function questionToJson({ id, about, code, message, rows, input, candidates, decision }: Question) {
  return {
    question: id,
    about,
    code,
    message,
    rows: rows.map(({ runId, row, line }) => ({ run: runId, row, line })),
    input,
    candidates: candidates.map(
      ({ key, id: candidateId, name, registrationNumber, vatNumber, countryCode, state, matchGrade, evidence }) => ({
        candidate: key,
        id: candidateId,
        name,
        registration_number: registrationNumber,
        vat_number: vatNumber,
        country_code: countryCode,
        state,
        grade: matchGrade,
        evidence,
      }),
    ),
    ...(decision === undefined
      ? {}
      : { earlier: { decision: decision.decision, by: decision.decidedBy, note: decision.note } }),
  };
}

export function decisionInWords({
  id,
  decidedAt,
  decidedBy,
  decision,
  summary,
  note,
  withdrawnAt,
  withdrawnBy,
}: DecisionEntry) {
  const withdrawn = withdrawnAt === null ? '' : `  (withdrawn ${day(withdrawnAt)} by ${withdrawnBy ?? '?'})`;
  const remark = note === null ? '' : `  "${note}"`;
  return printable(
    `${String(id).padStart(5)}  ${day(decidedAt)}  ${decidedBy}  ${decision}  ${summary}${remark}${withdrawn}`,
  );
}

const day = (at: number) => new Date(at).toISOString().slice(0, 10);

export const decisionToJson = (entry: DecisionEntry) => ({
  id: entry.id,
  about: entry.about,
  decision: entry.decision,
  candidate_id: entry.candidateId,
  summary: entry.summary,
  decided_by: entry.decidedBy,
  decided_at: new Date(entry.decidedAt).toISOString(),
  note: entry.note,
  ...(entry.withdrawnAt === null
    ? {}
    : { withdrawn_at: new Date(entry.withdrawnAt).toISOString(), withdrawn_by: entry.withdrawnBy }),
});
