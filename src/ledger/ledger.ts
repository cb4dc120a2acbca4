import type { QuestionAbout } from '../domain/entity-key.js';
import type { Charge, ErrorClass } from '../domain/errors.js';
import type { RowOutcome, StageStatus } from '../domain/outcomes.js';
import type { PurgeProof, PurgeReport, PurgeRequest } from './purge.js';
import type { RunSnapshot } from './snapshot.js';

/**
 * The store of everything that was paid for and everything that was decided. It is asynchronous although SQLite is
 * not: a write resolves when it is on disk, many writes share one commit, and a database on another machine can stand
 * behind the same interface. Reads see every write that was asked for before them, but for a settlement whose body is
 * still being packed.
 */
export interface Ledger {
  environment(api: 'v1' | 'v2', name: string): Promise<number>;

  createRun(run: NewRun): Promise<void>;
  addRows(runId: string, rows: readonly NewRow[]): Promise<void>;
  /** From now on the rows may be worked on. */
  openRun(runId: string, rowCount: number): Promise<void>;
  finishRun(runId: string, at: number): Promise<void>;
  reopenRun(runId: string): Promise<void>;
  findRun(runId: string): Promise<RunRecord | undefined>;
  /** The newest run of this input and pipeline. */
  latestRun(inputSha256: string, pipelineSha256: string): Promise<RunRecord | undefined>;
  runs(): Promise<readonly RunRecord[]>;

  /** Pending rows after `afterRow` that may move, in the order of the file. */
  pendingRows(runId: string, afterRow: number, limit: number): Promise<readonly RowRecord[]>;
  /** Rows whose report may be ready, the longest due first. */
  dueRows(runId: string, now: number, limit: number): Promise<readonly RowRecord[]>;
  /** When the next waiting row is due; with `after`, the next one later than that. */
  nextDue(runId: string, after?: number): Promise<number | undefined>;
  row(runId: string, row: number): Promise<RowRecord | undefined>;
  checkpoint(runId: string, row: number, checkpoint: Checkpoint): Promise<void>;
  /** Parked rows become free to move again, for a new start. */
  releaseParked(runId: string): Promise<number>;
  /** Failed rows become pending again, and only those. */
  releaseFailed(runId: string): Promise<number>;
  progress(runId: string): Promise<Progress>;

  /** The newest owned answer to this request, if it is not older than `notBefore`. */
  findAnswer(environmentId: number, requestKey: string, notBefore: number): Promise<OwnedAnswer | undefined>;
  readBody(sha256: string): Promise<Buffer | undefined>;
  /** Writes down that a call is about to be sent. When this resolves, a crash can no longer hide it. */
  intend(intent: NewIntent): Promise<Intent>;
  /** Call, units, bytes and owned answer in one transaction. False if this attempt was given up on by a later process. */
  settle(intent: Intent, settlement: Settlement): Promise<boolean>;
  /** An owned answer was used: 0 units. */
  recordOwnedUse(use: OwnedUse): Promise<void>;
  /** Intents of processes that died: their charge becomes unknown. Returns how many there were. */
  flagLostIntents(now: number): Promise<number>;
  /** Calls for this request since its last answer whose charge is unknown: lost, or answered with a failure. */
  inDoubt(environmentId: number, requestKey: string): Promise<Doubt>;
  unknownCharges(environmentId: number): Promise<readonly UnknownCall[]>;
  reconcile(environmentId: number, calls: readonly number[], charge: 'charged' | 'free', note: string): Promise<void>;

  allowance(environmentId: number): Promise<AllowanceRecord | undefined>;
  saveAllowance(environmentId: number, allowance: AllowanceRecord): Promise<void>;
  /** Units that answers after the first of these calls, up to the second, were charged. */
  chargedSince(environmentId: number, callId: number, upToCallId: number): Promise<number>;
  /** Units the run has spent, lost v1 calls counted as charged: a budget must hold either way. */
  unitsOfRun(runId: string): Promise<number>;
  /** Calls of this operation that the run has, or may have, been charged for. */
  chargedCalls(runId: string, operation: string): Promise<number>;

  recordError(error: ErrorRecord): Promise<void>;
  saveCandidates(runId: string, row: number, api: string, candidates: readonly CandidateRecord[]): Promise<void>;
  /** Has anybody ever decided anything? */
  anyDecision(): Promise<boolean>;
  decisionFor(environmentId: number, entityKey: string): Promise<DecisionRecord | undefined>;

  /** Replaces what the row asked about this identity before. An open question is the row's only one. */
  saveQuestion(question: QuestionRecord): Promise<void>;
  /** Every question with its row and candidates, or those of one run; the oldest run first, rows in the order of the file. */
  questions(runId?: string): Promise<readonly AskedQuestion[]>;
  /** Writes the decision down; unless it is `not_sure`, rows that wait for it become pending and their runs go on. */
  recordDecision(decision: NewDecision): Promise<{ readonly id: number; readonly released: readonly RowRef[] }>;
  /** The newest first, withdrawn ones too. */
  decisions(): Promise<readonly DecisionEntry[]>;
  /** Rows that rest on it are decided again. Undefined if there is no such decision in force. */
  withdrawDecision(id: number, by: string, at: number): Promise<readonly RowRef[] | undefined>;

  usage(): Promise<UsageReport>;
  /** Removes data for good: when this resolves it is in no page of the file any more. */
  purge(request: PurgeRequest): Promise<PurgeReport>;
  /** What `purge` would remove; nothing is changed. */
  previewPurge(request: PurgeRequest): Promise<PurgeReport>;
  /** Where identifiers still stand, in whatever is kept. */
  searchEverywhere(identifiers: readonly string[]): Promise<PurgeProof>;
  /** A run as it stands now, for reading at leisure; undefined if there is no such run. The caller closes it. */
  snapshot(runId: string): Promise<RunSnapshot | undefined>;
  /** Looks only: an environment nobody has used yet is not created. */
  findEnvironment(api: 'v1' | 'v2', name: string): Promise<number | undefined>;
  /** The provider whose answers the run has used, if it has used any. */
  environmentOfRun(runId: string, api: 'v1' | 'v2'): Promise<string | undefined>;
  /** The last call made by hand for this request. */
  newestCall(environmentId: number, requestKey: string): Promise<SettledCall | undefined>;
  /** What a run has been doing; `since` bounds the count of rows settled of late. */
  runActivity(runId: string, since: number): Promise<RunActivity>;
  /** Calls whose charge nobody knows, the newest first. */
  unknownChargesEverywhere(limit: number): Promise<readonly UnknownCharge[]>;
  /** Resolves when everything asked for so far is on disk. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface NewRun {
  readonly id: string;
  readonly inputPath: string;
  readonly inputSha256: string;
  readonly pipelineName: string;
  readonly pipelineSha256: string;
  /** JSON: the configuration the run was created with. */
  readonly settings: string;
  readonly columns: readonly string[];
  readonly createdAt: number;
}

export interface RunRecord extends NewRun {
  readonly state: 'reading' | 'open' | 'finished';
  readonly rowCount: number;
  readonly finishedAt: number | null;
}

export interface NewRow {
  readonly row: number;
  readonly line: number;
  readonly values: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
  /** Set where the row cannot be worked on at all. */
  readonly problem?: { readonly code: string; readonly message: string } | undefined;
}

export type Stages = Readonly<Record<string, StageStatus>>;

/** Where a row stands. It is written whole each time. */
export interface Checkpoint {
  readonly outcome: RowOutcome;
  readonly hold: 'waiting' | 'parked' | null;
  readonly holdReason: string | null;
  readonly nextAt: number | null;
  readonly stage: string | null;
  readonly stages: Stages;
  readonly matchGrade: string | null;
  readonly matchedOn: string | null;
  readonly v1CompanyId: string | null;
  readonly v2CompanyId: string | null;
  readonly creditSourceId: string | null;
  readonly creditReportId: string | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly updatedAt: number;
}

export interface RowRecord extends Checkpoint {
  readonly row: number;
  readonly line: number;
  readonly values: readonly string[];
  readonly fields: Readonly<Record<string, string>>;
  readonly unitsCharged: number;
}

export interface Progress {
  readonly byOutcome: Readonly<Record<RowOutcome, number>>;
  readonly waiting: number;
  readonly parked: number;
  readonly parkedReasons: Readonly<Record<string, number>>;
  readonly unitsCharged: number;
  /** Status counts by stage. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface CallContext {
  readonly environmentId: number;
  readonly runId: string | null;
  readonly row: number | null;
  readonly stage: string | null;
  readonly operation: string;
  readonly requestKey: string;
}

export interface NewIntent extends CallContext {
  readonly attempt: number;
  readonly startedAt: number;
}

/** The token fences: only the process that wrote the intent can settle it, and only once. */
export interface Intent extends NewIntent {
  readonly id: number;
  readonly token: string;
}

export interface Settlement {
  readonly settledAt: number;
  readonly durationMs: number | null;
  readonly httpStatus: number | null;
  readonly errorClass: ErrorClass | null;
  readonly errorCode: string | null;
  readonly requestId: string | null;
  readonly charge: Charge;
  /** Null where the provider does not count in units (v2) or the charge is unknown. */
  readonly unitsCharged: number | null;
  readonly remainingUnits: number | null;
  readonly body: Buffer | null;
  /** Present where the answer is worth owning. */
  readonly answer: { readonly params: string } | null;
}

export interface OwnedUse extends CallContext {
  readonly at: number;
  readonly rawSha256: string;
}

export interface OwnedAnswer {
  readonly callId: number;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

export interface Doubt {
  /** Nothing came back. */
  readonly lost: number;
  /** The provider answered, with a failure. */
  readonly answered: number;
  /** When the last of them was begun; 0 if there is none. */
  readonly lastStartedAt: number;
  /** When it was over; of a process that died only the beginning is known. */
  readonly lastEndedAt: number;
}

export interface UnknownCall {
  readonly id: number;
  readonly operation: string;
  readonly startedAt: number;
}

export interface AllowanceRecord {
  readonly observedAt: number;
  readonly remainingUnits: number | null;
  readonly dailyLimit: number | null;
  readonly dailyRemaining: number | null;
  readonly resetAt: number | null;
  /** The quota headers as they came, as JSON. */
  readonly raw: string | null;
  /** The provider said it is spent, until then (null: not spent; Infinity is stored as the largest integer). */
  readonly spentUntil: number | null;
  /** A point where nothing was in flight: the last call then settled, and the units that remained. */
  readonly anchorCallId: number | null;
  readonly anchorUnits: number | null;
  /** Units the provider counted that we cannot account for. */
  readonly driftUnits: number;
}

export interface ErrorRecord {
  readonly runId: string;
  readonly row: number | null;
  readonly stage: string | null;
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly attempts: number;
  readonly at: number;
}

export interface CandidateRecord {
  readonly id: string;
  readonly name: string | null;
  readonly registrationNumber: string | null;
  readonly vatNumber: string | null;
  readonly countryCode: string | null;
  readonly state: string | null;
  readonly matchGrade: string;
  readonly decision: string;
  readonly evidence: string;
}

export interface QuestionRecord {
  readonly runId: string;
  readonly row: number;
  readonly about: QuestionAbout;
  readonly environmentId: number;
  readonly entityKey: string;
  /** The only candidate that can be confirmed, where the question is about one. */
  readonly candidateId: string | null;
  readonly code: string;
  readonly message: string;
  /** False: the row ended with it. True: a remembered decision let the row go on. */
  readonly answered: boolean;
  readonly askedAt: number;
}

export interface AskedQuestion extends QuestionRecord {
  readonly environment: string;
  readonly line: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The row waits for the answer. */
  readonly open: boolean;
  readonly candidates: readonly CandidateRecord[];
}

export interface RowRef {
  readonly runId: string;
  readonly row: number;
}

export interface NewDecision {
  readonly environmentId: number;
  readonly entityKey: string;
  readonly about: QuestionAbout;
  readonly decision: DecisionRecord['decision'];
  readonly candidateId: string | null;
  readonly shown: readonly string[];
  readonly summary: string;
  readonly decidedBy: string;
  readonly decidedAt: number;
  readonly note: string | null;
}

export interface DecisionEntry extends NewDecision {
  readonly id: number;
  readonly withdrawnAt: number | null;
  readonly withdrawnBy: string | null;
}

export interface DecisionRecord {
  readonly decision: 'confirm' | 'none_of_these' | 'not_sure';
  readonly candidateId: string | null;
  readonly decidedBy: string;
  readonly decidedAt: number;
  readonly note: string | null;
  /** The candidates that the person saw. */
  readonly shown: readonly string[];
}

export interface SettledCall {
  readonly httpStatus: number | null;
  readonly requestId: string | null;
  readonly durationMs: number | null;
  readonly unitsCharged: number | null;
  readonly remainingUnits: number | null;
}

export interface RunActivity {
  readonly calls: number;
  readonly owned: number;
  readonly firstCallAt: number | null;
  readonly lastCallAt: number | null;
  readonly settledSince: number;
  /** When the first parked row may go on by itself. */
  readonly parkedUntil: number | null;
  readonly failures: readonly { readonly code: string; readonly count: number; readonly example: number | null }[];
}

export interface UnknownCharge {
  readonly id: number;
  readonly api: string;
  readonly environment: string;
  readonly operation: string;
  readonly runId: string | null;
  readonly row: number | null;
  readonly startedAt: number;
  readonly errorCode: string | null;
}

export interface UsageReport {
  readonly byDay: readonly UsageLine[];
  readonly byOperation: readonly UsageLine[];
  readonly byRun: readonly UsageLine[];
  readonly environments: readonly (AllowanceRecord & {
    readonly api: string;
    readonly name: string;
    readonly unknownCalls: number;
  })[];
}

export interface UsageLine {
  readonly key: string;
  readonly api: string;
  readonly calls: number;
  readonly owned: number;
  readonly unitsCharged: number;
  readonly unknown: number;
}
