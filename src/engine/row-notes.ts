import type { IdSpace } from '../domain/id-spaces.js';
import type { OwnedUse } from '../ledger/calls.js';
import type { NewQuestion } from '../ledger/question.js';
import type { AskedFor, CandidateRecord, IdClaim, IdentityVerdict, NewError, RowSettlement } from '../ledger/runs.js';
import type { SeenCandidate } from '../stages/stage.js';
import { outsideText } from '../util/outside-text.js';

/** What a row gathers on its way, to be settled with its checkpoint in one transaction. */
export class RowNotes {
  readonly #candidates = new Map<IdSpace, readonly CandidateRecord[]>();
  readonly #questions = new Map<string, NewQuestion>();
  readonly #errors: NewError[] = [];
  readonly #uses: OwnedUse[] = [];
  readonly #dates = new Map<string, number>();
  readonly #asked: AskedFor[] = [];
  readonly #ended = new Set<string>();
  readonly #verdicts: IdentityVerdict[] = [];
  readonly #claims: IdClaim[] = [];

  keepCandidates(space: IdSpace, seen: readonly SeenCandidate[]): void {
    this.#candidates.set(space, seen.map(toRecord));
  }

  keepQuestion(question: NewQuestion): void {
    const message = outsideText(question.message);
    this.#questions.set(`${question.space} ${question.stage ?? ''}`, { ...question, message });
  }

  keepError(error: NewError): void {
    this.#errors.push({ ...error, message: outsideText(error.message) });
  }

  keepUse(use: OwnedUse | null): void {
    if (use !== null) this.#uses.push(use);
  }

  /** An answer that is the company's because it was asked for it. */
  keepAsked(asked: AskedFor): void {
    this.#asked.push(asked);
  }

  /** A stage has asked for all that it was told to ask for, be it nothing. */
  keepEnd(stage: string): void {
    this.#ended.add(stage);
  }

  keepVerdict(verdict: IdentityVerdict): void {
    this.#verdicts.push(verdict);
  }

  keepClaim(claim: IdClaim): void {
    this.#claims.push(claim);
  }

  /** A stage was given an answer that keeps. */
  keepDate(stage: string, fetchedAt: number): void {
    this.#dates.set(stage, Math.min(fetchedAt, this.#dates.get(stage) ?? Number.POSITIVE_INFINITY));
  }

  /** Of the oldest answer that a stage was given. */
  dateOf(stage: string): number | undefined {
    return this.#dates.get(stage);
  }

  all(): Pick<
    RowSettlement,
    'candidates' | 'questions' | 'errors' | 'uses' | 'asked' | 'ended' | 'verdicts' | 'claims'
  > {
    return {
      candidates: [...this.#candidates].map(([space, seen]) => ({ space, seen })),
      questions: [...this.#questions.values()],
      errors: this.#errors,
      uses: this.#uses,
      asked: this.#asked,
      ended: [...this.#ended],
      verdicts: this.#verdicts,
      claims: this.#claims,
    };
  }
}

const toRecord = ({ candidate, grade, evidence, decision }: SeenCandidate): CandidateRecord => ({
  id: candidate.id,
  name: candidate.name,
  registrationNumber: candidate.registration_number,
  vatNumber: candidate.vat_number,
  countryCode: candidate.country_code,
  state: candidate.state,
  jurisdiction: candidate.jurisdiction,
  extra: candidate.extra ?? null,
  matchGrade: grade,
  decision,
  evidence: outsideText(evidence.join('; '), 10_000),
});
