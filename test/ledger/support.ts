import { hash } from 'node:crypto';
import type { RunSnapshot } from '../../src/ledger/answers/snapshot.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { ObservedAllowance, Settlement, StoredAnswerUse } from '../../src/ledger/money/calls.js';
import type { Intent, Limits, NewCall, UnknownChargesOf } from '../../src/ledger/money/intent.js';
import type { CandidateRecord, Checkpoint, RowSettlement } from '../../src/ledger/rows/runs.js';
import { beginRun } from '../helpers/begin-run.js';

/** For rows without a stage that depends on the withdrawn answer. */
export const NO_GROUNDS = () => ({ stages: [], idsShared: [] });

export const NOW = Date.parse('2026-01-05T09:00:00Z');

/** The key of a request is a SHA-256. */
export const keyOf = (request: string): string => hash('sha256', request);
export const KEY = keyOf('a request');

export const NO_LIMITS: Limits = { units: null, reports: null };

export interface Place {
  readonly environmentId: number;
  readonly attemptId: number;
}

/** A v1 environment and an attempt in it. */
export async function begin(ledger: Ledger, runId: string | null = null, now = NOW): Promise<Place> {
  const environmentId = await ledger.calls.environment('v1', 'live');
  const attemptId = await ledger.calls.begin({ runId, begunAt: now, leaseUntil: now + 30_000 });
  return { environmentId, attemptId };
}

/** Sends the request regardless of earlier calls. */
export const NO_UNKNOWN_CHARGES = {
  reusableSince: Number.POSITIVE_INFINITY,
  lookedSince: Number.POSITIVE_INFINITY,
  lostAtMost: Number.POSITIVE_INFINITY,
} as const;

export const call = (place: Place, more: Partial<NewCall> = {}): NewCall => ({
  ...place,
  runId: null,
  row: null,
  stage: null,
  operation: 'fullKyb',
  meter: 'unit',
  requestKey: KEY,
  subject: null,
  attempt: 1,
  startedAt: NOW,
  ...NO_UNKNOWN_CHARGES,
  ...more,
});

/** A request whose charge may be unknown. */
export const doubtful = (
  environmentId: number,
  requestKey = KEY,
  more: Partial<UnknownChargesOf> = {},
): UnknownChargesOf => ({
  environmentId,
  requestKey,
  meter: 'unit',
  subject: null,
  ...more,
});

/** A success that is worth reusing. */
export const settlement = (more: Partial<Settlement> = {}): Settlement => ({
  settledAt: NOW,
  durationMs: 1,
  httpStatus: 200,
  errorClass: null,
  errorCode: null,
  requestId: null,
  charge: 'charged',
  unitsCharged: 1,
  remainingUnits: null,
  inDoubt: false,
  body: Buffer.from('{}'),
  answer: { params: '{}' },
  allowance: null,
  ...more,
});

const noAnswer = { body: null, answer: null, errorClass: 'retry', errorCode: 'TROUBLE' } as const;

/** No answer came, and it may have been charged. */
export const lost = (more: Partial<Settlement> = {}): Settlement =>
  settlement({ ...noAnswer, httpStatus: null, charge: 'unknown', unitsCharged: null, inDoubt: true, ...more });

/** The provider refused, free. */
export const refused = (more: Partial<Settlement> = {}): Settlement =>
  settlement({ ...noAnswer, httpStatus: 503, charge: 'free', unitsCharged: 0, ...more });

export const remaining = (units: number, more: Partial<ObservedAllowance> = {}): ObservedAllowance => ({
  available: units,
  remainingUnits: units,
  dailyLimit: null,
  dailyRemaining: null,
  resetAt: null,
  raw: null,
  ...more,
});

/** Throws if there is no intent, for tests that need one. */
export async function intend(ledger: Ledger, wanted: NewCall, limits = NO_LIMITS): Promise<Intent> {
  const intended = await ledger.calls.intend(wanted, limits);
  if (intended.kind !== 'intent') throw new Error(`no intent: ${JSON.stringify(intended)}`);
  return intended.intent;
}

export async function buy(ledger: Ledger, wanted: NewCall, end = settlement()): Promise<Intent> {
  const intent = await intend(ledger, wanted);
  if (!(await ledger.calls.settle(intent, end))) throw new Error('not settled');
  return intent;
}

export const useOf = ({ attempt: _, startedAt, ...context }: NewCall, body = '{}'): StoredAnswerUse => ({
  ...context,
  at: startedAt,
  rawSha256: hash('sha256', body),
});

export const checkpoint = (more: Partial<Checkpoint> = {}): Checkpoint => ({
  outcome: 'pending',
  hold: null,
  holdReason: null,
  nextAt: null,
  stage: null,
  stages: {},
  fetched: {},
  matchGrade: null,
  matchedOn: null,
  errorCode: null,
  errorMessage: null,
  updatedAt: NOW,
  ...more,
});

export const rowSettlement = (
  state: Partial<Checkpoint> = {},
  more: Partial<Omit<RowSettlement, 'checkpoint'>> = {},
): RowSettlement => ({
  checkpoint: checkpoint(state),
  ids: [],
  candidates: [],
  questions: [],
  errors: [],
  uses: [],
  asked: [],
  ended: [],
  verdicts: [],
  ...more,
});

export const candidate = (id: string, more: Partial<CandidateRecord> = {}): CandidateRecord => ({
  id,
  name: `Company ${id}`,
  registrationNumber: null,
  vatNumber: null,
  countryCode: 'GB',
  state: null,
  jurisdiction: null,
  matchGrade: 'AAZAZ',
  decision: 'rejected',
  evidence: '',
  ...more,
});

/** An open run with this many pending rows. */
export const openRun = (ledger: Ledger, count: number, id = 'run', now = NOW): Promise<string> =>
  beginRun(
    ledger,
    { id, columns: ['id'], now },
    Array.from({ length: count }, () => ({ values: ['x'], fields: {} })),
  );

/** A run in a snapshot that does not change during `use`. */
export async function withSnapshot<T>(
  { reading }: Pick<Ledger, 'reading'>,
  runId: string,
  use: (snapshot: RunSnapshot) => Promise<T>,
): Promise<T> {
  const snapshot = await reading.snapshot(runId);
  if (snapshot === undefined) throw new Error(`no run ${runId}`);
  try {
    return await use(snapshot);
  } finally {
    await snapshot.close();
  }
}

/** Waits until all earlier writes are on disk, as each reader of a run does. */
export const flush = async ({ reading }: Pick<Ledger, 'reading'>): Promise<void> =>
  void (await reading.snapshot('no such run'));

export async function collect<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
}
