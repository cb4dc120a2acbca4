import type { ReasonFacts } from '../../src/export/reasons.js';
import type { RowQuestion } from '../../src/ledger/answers/snapshot.js';

/** A row that is confirmed and complete. */
export const ROW: ReasonFacts = {
  outcome: 'complete',
  code: null,
  message: null,
  matchedOn: 'registration_number',
  country: 'GB',
  hold: null,
  holdReason: null,
  matchGrade: 'AAZAZ',
  lacksCourt: false,
  lacksState: false,
  otherCountry: undefined,
  stages: {},
  ids: { v1: '77' },
  questions: [],
  filedTurnovers: null,
  lacksTurnover: false,
  otherFiledTurnover: null,
  listsInPart: [],
  notes: [],
  status: 'Active',
};

/** Anna's answer about the row. */
export const ASKED: RowQuestion = {
  space: 'v1',
  stage: null,
  environmentId: 1,
  entityKey: 'GB|number:1',
  answered: 1,
  decision: 'confirm',
  decidedBy: 'Anna',
  secondBy: null,
  candidateId: '77',
  name: 'Acme Ltd',
  grade: 'ZAZAZ',
  candidates: 0,
  correction: null,
};
/** Her choice of a credit report. */
export const LEHMERT = {
  space: 'credit',
  candidateId: 'c',
  name: 'Lehmert Elektrobau Supply AG',
  grade: 'BFZAZ',
} as const;
