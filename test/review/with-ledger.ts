import type { QuestionAbout } from '../../src/domain/entity-key.js';
import type { CandidateRecord, Ledger } from '../../src/ledger/ledger.js';
import { openLedger } from '../../src/ledger/sqlite/ledger.js';
import { withFolder } from '../helpers/cli.js';

export interface AskOptions {
  readonly run?: string;
  readonly row: number;
  readonly about?: QuestionAbout;
  readonly key: string;
  readonly code?: string;
  readonly message?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly candidates?: readonly Partial<CandidateRecord>[];
  readonly candidateId?: string;
  readonly at?: number;
}

export interface Desk {
  readonly folder: string;
  readonly ledger: Ledger;
  /** A row that ended with a question, as the engine leaves it behind. */
  ask(options: AskOptions): Promise<void>;
  /** What a stage is told about the question when it comes up again. */
  remembered(key: string): ReturnType<Ledger['decisionFor']>;
  outcome(row: number, run?: string): Promise<string | undefined>;
}

/** A real ledger with the runs `first` and `second`, both finished. */
export async function withDesk<T>(use: (desk: Desk) => Promise<T>): Promise<T> {
  return await withFolder(async (folder) => {
    const ledger = openLedger(folder, 1);
    try {
      const environmentId = await ledger.environment('v1', 'https://example.test');
      for (const [position, id] of ['first', 'second'].entries()) {
        await ledger.createRun({
          id,
          inputPath: `${id}.csv`,
          inputSha256: id,
          pipelineName: 'test',
          pipelineSha256: 'test',
          settings: '{}',
          columns: ['name'],
          createdAt: position + 1,
        });
        const rows = Array.from({ length: 9 }, (_, index) => index + 1);
        await ledger.addRows(
          id,
          rows.map((row) => ({ row, line: row + 1, values: ['x'], fields: FIELDS })),
        );
        await ledger.openRun(id, rows.length);
        await ledger.finishRun(id, 10);
      }
      return await use({
        folder,
        ledger,
        ask: (options) => ask(ledger, environmentId, options),
        remembered: (key) => ledger.decisionFor(environmentId, key),
        outcome: async (row, run = 'first') => (await ledger.row(run, row))?.outcome,
      });
    } finally {
      await ledger.close();
    }
  });
}

const FIELDS = { name: 'Müller & Söhne GmbH', country: 'DE', registration_number: '00123456' };

async function ask(ledger: Ledger, environmentId: number, options: AskOptions): Promise<void> {
  const { run = 'first', row, about = 'v1', key, candidates = [{ id: 'a' }, { id: 'b' }], at = 5 } = options;
  const { code = 'NAME_CONFLICT', message = 'the number agrees, but the name does not' } = options;
  const found = await ledger.row(run, row);
  if (found === undefined) throw new Error(`there is no row ${row}`);
  await ledger.saveCandidates(
    run,
    row,
    about === 'record' ? 'v1' : about,
    candidates.map((candidate) => ({ ...CANDIDATE, ...candidate })),
  );
  await ledger.saveQuestion({
    runId: run,
    row,
    about,
    environmentId,
    entityKey: key,
    candidateId: options.candidateId ?? null,
    code,
    message,
    answered: false,
    askedAt: at,
  });
  await ledger.checkpoint(run, row, {
    ...found,
    outcome: 'needs_review',
    stage: 'confirm',
    stages: { record: 'pending' },
    matchGrade: 'AFZAZ',
    errorCode: code,
    errorMessage: message,
    updatedAt: at,
  });
}

const CANDIDATE: CandidateRecord = {
  id: '?',
  name: 'Müller und Söhne GmbH',
  registrationNumber: '00123456',
  vatNumber: null,
  countryCode: 'DE',
  state: 'Köln',
  matchGrade: 'AFZAZ',
  decision: 'needs_review',
  evidence: 'registration number equal; name differs (30/100)',
};
