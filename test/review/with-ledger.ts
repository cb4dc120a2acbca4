import type { IdSpace } from '../../src/domain/provider.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import type { ReviewStore } from '../../src/ledger/review/review-store.js';
import type { CandidateRecord } from '../../src/ledger/rows/runs.js';
import { beginRun } from '../helpers/begin-run.js';
import { withFolder } from '../helpers/cli.js';
import { openLedgerIn } from '../helpers/ledger-place.js';

export interface AskOptions {
  readonly run?: string;
  readonly row: number;
  readonly space?: IdSpace;
  readonly stage?: string;
  readonly key: string;
  readonly code?: string;
  readonly message?: string;
  readonly candidates?: readonly Partial<CandidateRecord>[];
  readonly candidateId?: string;
  /** The ID space in which the row's company is confirmed. */
  readonly knownIn?: IdSpace;
  readonly at?: number;
}

export interface Desk {
  readonly folder: string;
  readonly ledger: Ledger;
  readonly review: ReviewStore;
  /** A row that ended with a question, as the engine leaves it. */
  ask(options: AskOptions): Promise<void>;
  /** The remembered decision when the question comes up again. */
  remembered(key: string): ReturnType<ReviewStore['decisionFor']>;
  outcome(row: number, run?: string): Promise<string | undefined>;
  /** From now on other processes may have the ledger. */
  close(): Promise<void>;
}

/** A real ledger with the finished runs `first` and `second`. `secondPerson`: only `first`, which needs two people to agree. */
export async function withDesk<T>(
  use: (desk: Desk) => Promise<T>,
  { secondPerson = false }: { readonly secondPerson?: boolean } = {},
): Promise<T> {
  return await withFolder(async (folder) => {
    const ledger = await openLedgerIn({ dataDir: folder, now: 1, access: 'write' });
    let isOpen = true;
    const close = async () => {
      if (isOpen) await ledger.close();
      isOpen = false;
    };
    try {
      const environmentId = await ledger.calls.environment('v1', 'https://example.test');
      for (const [position, id] of (secondPerson ? ['first'] : ['first', 'second']).entries()) {
        const rows = Array.from({ length: 9 }, (_, index) => ({
          ...(index === 8 ? OTHER : { values: [''], fields: index === 6 ? PLACED : FIELDS }),
        }));
        await beginRun(ledger, { id, inputPath: `${id}.csv`, now: position + 1, secondPerson }, rows);
        await ledger.runs.finish(id, 10);
      }
      return await use({
        folder,
        ledger,
        review: ledger.review,
        ask: (options) => ask(ledger, environmentId, options),
        remembered: (key) => ledger.review.decisionFor(environmentId, { key }),
        outcome: async (row, run = 'first') => (await ledger.runs.row(run, row))?.outcome,
        close,
      });
    } finally {
      await close();
    }
  });
}

/** The fields of the last row. */
const OTHER = {
  values: ['Zumtobel Lighting'],
  fields: { name: 'Zumtobel AG', country: 'AT', registration_number: 'FN 123456a' },
};
const FIELDS = { name: 'Müller & Söhne GmbH', country: 'DE', registration_number: '00123456' };
/** The fields of the seventh row. */
const PLACED = { ...FIELDS, city: 'Köln', vat_number: 'DE117316966' };

async function ask(ledger: Ledger, environmentId: number, options: AskOptions): Promise<void> {
  const { run = 'first', row, space = 'v1', stage = null, key, candidates = [{ id: 'a' }, { id: 'b' }] } = options;
  const { code = 'NAME_CONFLICT', message = 'the number agrees, but the name does not', at = 5 } = options;
  const question = { space, stage, environmentId, entityKey: key, candidateId: options.candidateId ?? null };
  await ledger.runs.settleRow(run, row, {
    checkpoint: {
      outcome: 'needs_review',
      hold: null,
      holdReason: null,
      nextAt: null,
      stage: 'confirm',
      stages: { record: 'pending' },
      fetched: {},
      matchGrade: 'AFZAZ',
      matchedOn: null,
      errorCode: code,
      errorMessage: message,
      updatedAt: at,
    },
    ids:
      options.knownIn === undefined ? [] : [{ space: options.knownIn, id: 'known', grade: 'AAZAZ', matchedOn: null }],
    candidates: [{ space, seen: candidates.map((candidate) => ({ ...CANDIDATE, ...candidate })) }],
    questions: [{ ...question, code, message, answered: false, askedAt: at }],
    errors: [],
    uses: [],
    asked: [],
    ended: [],
    verdicts: [],
  });
}

const CANDIDATE: CandidateRecord = {
  id: '?',
  name: 'Müller und Söhne GmbH',
  registrationNumber: '00123456',
  vatNumber: null,
  countryCode: 'DE',
  state: 'Köln',
  jurisdiction: null,
  matchGrade: 'AFZAZ',
  decision: 'needs_review',
  evidence: 'registration number equal; name differs (30/100)',
};
