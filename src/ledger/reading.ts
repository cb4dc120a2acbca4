import type { ApiName } from '../domain/api-name.js';
import type { OutageNote } from './calls.js';
import type { ClockAhead } from './clock-ahead.js';
import type { RunSnapshot } from './snapshot.js';
import type { Allowances, Drift, ToldByV2, UnknownCharge, UsageReport } from './usage.js';

export interface KnownRun {
  /** Those too that were summed up. */
  readonly calls: number;
  /** Until when somebody worked on it; of a process that died, how long its lease went. Null: nobody knows. */
  readonly heardAt: number | null;
}

export interface Reading {
  /** What is known of the run of this ID; undefined: there never was one. One that was removed is known by its calls. */
  knownOf(runId: string): Promise<KnownRun | undefined>;
  /** When the newest run was made; null: there is none. */
  newestRunAt(): Promise<number | null>;
  /** A run as it stands now, for reading at leisure; undefined if there is no such run. The caller closes it. */
  snapshot(runId: string): Promise<RunSnapshot | undefined>;
  usage(): Promise<UsageReport>;
  /** What all providers have said is used and left, beside our own counts. */
  countsTold(): Promise<Allowances>;
  /** What v2 has told of its counts, and no more than that. */
  toldByV2(): Promise<ToldByV2>;
  /** What the providers that a run was run with have said is left. */
  allowances(runId: string): Promise<Allowances>;
  /** What the providers of a run have counted since then and we have not. */
  driftSince(runId: string, since: number): Promise<readonly Drift[]>;
  /** Units that all calls have been charged, as far as that is known. All calls are looked through. */
  unitsCharged(): Promise<number>;
  /** The size of the server's database; null if the ledger is a file. */
  databaseBytes(): Promise<number | null>;
  /** What a run has been doing; `since` bounds the count of rows settled of late. */
  activity(runId: string, since: number): Promise<RunActivity>;
  /** Who works on a run, or did last; undefined if nobody ever has. `since` bounds the trouble of late. */
  atWork(runId: string, since: number): Promise<AtWork | undefined>;
  /** What the last start on a run was given, and how it came to its end, as JSON; undefined if there was none. */
  lastStart(runId: string): Promise<LastStart | undefined>;
  /** Who works on a run now, the leader first; where one process has the ledger for itself, nobody is named. */
  /** Nobody leads the run any more, and what it waits for is handed out at its time to whoever helps. */
  isPutOff(runId: string): Promise<boolean>;
  workers(runId: string): Promise<readonly WorkerAtWork[]>;
  /** Calls whose charge nobody knows, the newest first. */
  unknownCharges(limit: number): Promise<readonly UnknownCharge[]>;
  /** Where answers come from, and how many are owned from each. */
  environments(): Promise<readonly KnownEnvironment[]>;
  /** What the calls of a start have cost, as far as anybody knows by now. */
  spent(startId: number): Promise<StartSpending>;
  /** Times that had not come when the ledger was opened; null: there are none. */
  clockAhead(): Promise<ClockAhead | null>;
  /** The calls of a start on a run, counted by what became of them. */
  callsOf(runId: string, startId: number): Promise<readonly CallCount[]>;
  /** The newest owned answer to each request for an operation, the oldest request first. All calls are looked through. */
  answersTo(environmentId: number, operation: string): Promise<readonly AnswerTo[]>;
}

export interface AnswerTo {
  /** What was asked for, as JSON. */
  readonly params: string;
  readonly rawSha256: string;
  readonly fetchedAt: number;
}

export interface CallCount {
  readonly api: string;
  readonly operation: string;
  /** `ok`, `owned`, `under_way`, or the class of the error. */
  readonly class: string;
  /** Null: nothing came back, or nothing was sent. */
  readonly httpStatus: number | null;
  readonly count: number;
}

/** Null where nothing was kept, or it has not come to its end. */
export interface LastStart {
  readonly id: number;
  readonly given: string | null;
  readonly ending: string | null;
  /** What counts against its budgets, whoever has spent it out of its purse. */
  readonly unitsSpent: number;
  readonly reportsSpent: number;
}

export interface KnownEnvironment {
  readonly api: ApiName;
  readonly name: string;
  readonly answers: number;
}

export interface StartSpending {
  readonly units: number;
  readonly reports: number;
  /** Calls whose charge nobody knows: lost, or failed where a failure is not said to be free. */
  readonly unknown: number;
  /** Those of them that would have cost a unit or a report: a budget holds either way, so they count against it. */
  readonly unknownInBudget: number;
}

export interface RunActivity {
  readonly calls: number;
  readonly owned: number;
  readonly firstCallAt: number | null;
  readonly lastCallAt: number | null;
  /** When the newest answer that was bought came. */
  readonly lastAnswerAt: number | null;
  readonly settledSince: number;
  /** Calls that may cost and that nothing is known of yet: under way, or lost with the process that sent them. */
  readonly underWay: number;
  /** Rows that wait because a report may have been lost, and until when the last of them is looked for. */
  readonly looking: { readonly rows: number; readonly until: number | null };
  /** When the first parked row may go on by itself. */
  readonly parkedUntil: number | null;
  /** With the first row of each kind, and the line that it stands in. */
  readonly failures: readonly {
    readonly code: string;
    readonly count: number;
    readonly row: number;
    readonly line: number;
  }[];
}

export interface WorkerAtWork {
  /** The machine and the number of the process. */
  readonly worker: string;
  readonly leads: boolean;
  readonly since: number;
  /** It renews this all the time. */
  readonly leaseUntil: number;
  /** Calls that it has sent, and that have not come home. */
  readonly underWay: number;
  readonly calls: number;
}

/** The last start on a run. */
export interface AtWork {
  readonly begunAt: number;
  /** It is at work now; null where only its lease can tell. */
  readonly alive: boolean | null;
  /** It renews this all the time: one that lies in the past is of a process that is frozen, or dead. */
  readonly leaseUntil: number;
  /** Null where it did not come to its end by itself. */
  readonly endedAt: number | null;
  /** When it last sent a call, or was answered; when it began, if it has sent none. */
  readonly lastHeardAt: number;
  /** The same of all who work out of its purse, however long after it. */
  readonly lastCallAt: number;
  /** Rows it has settled since, beside those that cannot be asked about. */
  readonly settledRows: number;
  /** Calls of late that met trouble which may pass, by code. A refusal, or no record, is an answer. */
  readonly failedCalls: readonly { readonly code: string; readonly count: number }[];
  /** Rows it has settled in all, and calls it has sent. */
  readonly rowsInAll: number;
  readonly callsInAll: number;
  /** What it waits for, or did when it ended. */
  readonly outages: readonly OutageNote[];
  /** How it came to its end, as JSON; null where it did not, or nothing was kept. */
  readonly ending: string | null;
}
