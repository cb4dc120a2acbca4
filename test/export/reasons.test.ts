import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { companyAtAGlance } from '../../src/export/company-at-a-glance.js';
import { REASON_WORDS, type ReasonFacts, reasonFacts, reasonOf } from '../../src/export/reasons.js';
import type { RowQuestion, SnapshotRow } from '../../src/ledger/answers/snapshot.js';
import { waitingInWords } from '../../src/ledger/review/review.js';

const SRC = resolve(import.meta.dirname, '../../src');

const filesIn = (room: string): readonly string[] =>
  readdirSync(join(SRC, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(SRC, room, file), 'utf8'));

const codesIn = (texts: readonly string[], pattern: RegExp): readonly string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? ''))),
];

/** Every code that a row can have, as the source files write it. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  'lines that cannot be asked about': [
    ...codesIn(filesIn('input'), /code: '([A-Z_]+)', message/g),
    ...codesIn(filesIn('sheets'), /code: '([A-Z_]+)', message/g),
    ...codesIn([readFileSync(join(SRC, 'domain/search-subject.ts'), 'utf8')], /code: '([A-Z_]+)'/g),
  ],
  'stages that end a row': codesIn(
    filesIn('stages'),
    /kind: '(?:no_match|needs_review)',\s+code: '([A-Z_]+)'|const code = '([A-Z_]+)'/g,
  ),
  'doubts about a search': codesIn(
    [readFileSync(join(SRC, 'stages/identity/space-search.ts'), 'utf8')],
    /'([A-Z]+_[A-Z_]+)'/g,
  ),
  'calls that fail': [
    ...codesIn(filesIn('api/v2'), /code: '([A-Z_]+)'/g),
    ...codesIn([readFileSync(join(SRC, 'api/v1/client.ts'), 'utf8')], /^ {2}([A-Z][A-Z_0-9]+): (?:[a-z]|\{)/gm),
    ...codesIn(
      ['api/client.ts', 'api/answer.ts'].map((file) => readFileSync(join(SRC, file), 'utf8')),
      /code: '([A-Z_]+)'/g,
    ),
  ],
};

test.each(Object.entries(CODES))('%s have words', (_, codes) => {
  expect(codes.length).toBeGreaterThan(1);
  // An interrupt by the user is no outcome of a row.
  expect(codes.filter((code) => code !== 'ABORTED' && !Object.hasOwn(REASON_WORDS, code))).toEqual([]);
});

const ROW: ReasonFacts = {
  outcome: 'complete',
  code: null,
  message: null,
  matchedOn: 'registration_number',
  country: 'GB',
  hold: null,
  holdReason: null,
  stages: {},
  ids: { v1: '77' },
  questions: [],
  filedTurnovers: null,
  turnoverFiledSince: null,
  notes: [],
  status: 'Active',
};

const ASKED: RowQuestion = {
  space: 'v1',
  stage: null,
  entityKey: 'GB|number:1',
  answered: 1,
  decision: 'confirm',
  decidedBy: 'Anna',
  secondBy: null,
  candidateId: '77',
  name: 'Acme Ltd',
  grade: 'ZAZAZ',
  candidates: 0,
};
const OPEN = { answered: 0, decision: null, decidedBy: null, candidateId: null, name: null, grade: null } as const;
const LEHMERT = { space: 'credit', candidateId: 'c', name: 'Lehmert Elektrobau Supply AG', grade: 'BFZAZ' } as const;
const OTHER_NUMBER = { stage: 'record', entityKey: 'record|77|["GB","00445790","GB","09999999"]' } as const;

test.each<readonly [string, Partial<ReasonFacts>]>([
  ['The country "Atlantis" is not known', { outcome: 'invalid', code: 'BAD_COUNTRY', country: 'Atlantis' }],
  ['Confirmed by registration number', {}],
  [
    'Confirmed by Anna; not available: credit report',
    { matchedOn: 'review', questions: [ASKED], stages: { record: 'done', 'credit-report': 'not_available' } },
  ],
  [
    'Found under another name: please decide (3 candidates)',
    { outcome: 'needs_review', code: 'NAME_CONFLICT', ids: {}, questions: [{ ...ASKED, ...OPEN, candidates: 3 }] },
  ],
  [
    'Several companies fit: please decide (v1: 3 candidates, v2: 1 candidate)',
    {
      outcome: 'needs_review',
      code: 'SEVERAL_CANDIDATES',
      ids: {},
      questions: [
        { ...ASKED, ...OPEN, candidates: 3 },
        { ...ASKED, ...OPEN, space: 'v2', candidates: 1 },
      ],
    },
  ],
  ['Several companies fit: please decide', { outcome: 'needs_review', code: 'SEVERAL_CANDIDATES' }],
  [
    'A person has answered. A second person must agree: please decide (1 candidate)',
    { outcome: 'needs_review', code: 'SECOND_PERSON', questions: [{ ...ASKED, answered: 0, candidates: 1 }] },
  ],
  [
    'Two people answered differently. The next person who agrees with one of them decides: please decide (1 candidate)',
    {
      outcome: 'needs_review',
      code: 'SECOND_PERSON',
      message: waitingInWords([
        { decidedBy: 'ann', decision: 'confirm', candidateId: '1' },
        { decidedBy: 'bob', decision: 'none_of_these', candidateId: null },
      ]).message,
      questions: [{ ...ASKED, answered: 0, candidates: 1 }],
    },
  ],
  ['Confirmed by a person', { matchedOn: 'review' }],
  ['Confirmed by Anna and Bernd', { matchedOn: 'review', questions: [{ ...ASKED, secondBy: 'Bernd' }] }],
  [
    'Confirmed by registration number; the credit report was chosen by Anna and names Lehmert Elektrobau Supply AG',
    { ids: { v1: '77', credit: 'c' }, questions: [{ ...ASKED, ...LEHMERT }] },
  ],
  [
    'Confirmed by registration number; the credit report was chosen by Anna',
    { ids: { v1: '77', credit: 'c' }, questions: [{ ...ASKED, ...LEHMERT, grade: 'AAZAZ' }] },
  ],
  // A decision about another candidate is not the reason for the row's match.
  ['Confirmed by registration number', { ids: { v1: '77', credit: 'd' }, questions: [{ ...ASKED, ...LEHMERT }] }],
  [
    'Confirmed by Anna although the record has number 09999999',
    { matchedOn: 'review', questions: [{ ...ASKED, ...OTHER_NUMBER }] },
  ],
  [
    'Confirmed by Anna; the record was accepted by Bea although it has number 09999999',
    { matchedOn: 'review', questions: [ASKED, { ...ASKED, ...OTHER_NUMBER, decidedBy: 'Bea' }] },
  ],
  [
    'Company confirmed. It is open which credit report is the right one: please decide (4 candidates)',
    {
      outcome: 'needs_review',
      code: 'SEVERAL_CANDIDATES',
      questions: [{ ...ASKED, ...OPEN, space: 'credit', candidates: 4 }],
    },
  ],
  [
    'Company confirmed; the credit report has number 8: please decide',
    {
      outcome: 'needs_review',
      code: 'IDENTITY_MISMATCH',
      questions: [
        { ...ASKED, ...OPEN, space: 'credit', stage: 'credit-report', entityKey: 'report|c|["5","7",null,"8"]' },
      ],
    },
  ],
  [
    'Found, but the bought record has number 09999999: please decide',
    {
      outcome: 'needs_review',
      code: 'IDENTITY_MISMATCH',
      ids: { v1: '77', v2: '9' },
      questions: [{ ...ASKED, ...OPEN, ...OTHER_NUMBER }],
    },
  ],
  [
    'The register court is missing: please decide (1 candidate)',
    {
      outcome: 'needs_review',
      code: 'NUMBER_UNREADABLE',
      message: 'the register court is missing: HRB 14178 B may exist at several courts',
      questions: [{ ...ASKED, ...OPEN, candidates: 1 }],
      ids: {},
    },
  ],
  [
    'The number is incomplete or unclear: please decide',
    { outcome: 'needs_review', code: 'NUMBER_UNREADABLE', message: 'too short', ids: {} },
  ],
  [
    'Confirmed by registration number; not available: financials, credit report; turnover from the filed accounts',
    { filedTurnovers: 1, stages: { financials: 'not_available', 'credit-report': 'not_available' } },
  ],
  [
    'Confirmed by registration number; turnover from the filed accounts; the company is dissolved',
    { filedTurnovers: 1, stages: { record: 'done', financials: 'done' }, status: 'Dissolved' },
  ],
  ['Confirmed by registration number; two different turnovers were filed', { filedTurnovers: 2 }],
  ['Confirmed by registration number; several different turnovers were filed', { filedTurnovers: 3 }],
  ['Confirmed by registration number; a newer turnover was filed (2024)', { turnoverFiledSince: '2024' }],
  [
    'Several companies fit: please decide; turnover from the filed accounts',
    { outcome: 'needs_review', code: 'SEVERAL_CANDIDATES', filedTurnovers: 1 },
  ],
  [
    'Confirmed by registration number; not available: financials',
    { stages: { record: 'done', financials: 'not_available' } },
  ],
  ['Confirmed by registration number; the company is struck off', { status: 'Gelöscht' }],
  ['Confirmed by registration number; the company is insolvent', { status: 'Insolvency proceedings' }],
  ['Confirmed by registration number', { status: 'In liquidation' }],
  [
    'Anna and Bea decided that no company found is the right one',
    {
      outcome: 'no_match',
      code: 'REVIEWED',
      questions: [{ ...ASKED, decision: 'none_of_these', candidateId: null, secondBy: 'Bea' }],
    },
  ],
  ['No company with this number in GB', { outcome: 'no_match', code: 'NO_CANDIDATE_WITH_NUMBER' }],
  ['A person decided that no company found is the right one', { outcome: 'no_match', code: 'REVIEWED' }],
  ['The row has no country', { outcome: 'invalid', code: 'NO_COUNTRY' }],
  ['Waiting for the credit report', { outcome: 'pending', hold: 'waiting', holdReason: 'credit-report' }],
  [
    'The allowance was used up. kybatch continues with the next attempt',
    { outcome: 'pending', hold: 'parked', holdReason: 'allowance' },
  ],
  ['Not started yet. kybatch continues with the next attempt', { outcome: 'pending' }],
  [
    'Answered by Anna. kybatch continues with the next attempt',
    { outcome: 'pending', questions: [{ ...ASKED, decidedBy: 'Anna' }] },
  ],
  [
    'A question has to be decided again. kybatch continues with the next attempt',
    { outcome: 'pending', questions: [{ ...ASKED, decision: null, decidedBy: null, candidateId: null }] },
  ],
  [
    'Only a part was bought so far. kybatch continues with the next attempt',
    { outcome: 'pending', stages: { record: 'done' } },
  ],
  ['The provider did not answer in time', { outcome: 'failed', code: 'DATA_SERVICE_TIMEOUT' }],
  [
    'A thing that nobody has heard of',
    { outcome: 'failed', code: 'NEW_CODE', message: 'A thing that nobody has heard of.' },
  ],
])('%s', (words, row) => expect(reasonOf({ ...ROW, ...row })).toBe(words));

test('a provider’s code is no property of something else', () => {
  expect(reasonOf({ ...ROW, outcome: 'failed', code: 'constructor', message: 'no' })).toBe('no');
});

test('a confirmed row shows the differences', () => {
  expect(reasonOf({ ...ROW, notes: ['the VAT number differs', 'the place differs'] })).toContain(
    '; the VAT number differs; the place differs',
  );
});

test('a row without a match shows what was searched', () => {
  const message = 'the searches found nothing; searched by registration number; the name was not searched: x';
  const row = { ...ROW, outcome: 'no_match', code: 'NO_CANDIDATES', message };
  expect(reasonOf(row)).toContain('; searched by registration number; the name was not searched: x');
});

test.each<readonly [string, string, string, readonly string[]]>([
  ['another legal form', 'Acme LLP', 'AAZAZ', ['the legal form differs']],
  ['another name', 'Quite Another Thing', 'AFZAZ', ['the name differs']],
  ['another number and country', 'Acme Ltd', 'FAZFZ', ['the registration number differs', 'the country differs']],
  ['another VAT number and place', 'Acme Ltd', 'AAFAF', ['the VAT number differs', 'the place differs']],
])('after a person confirms a row with %s, its reason still has the difference', (_, name, matchGrade, notes) => {
  const row: SnapshotRow = {
    ...{ ...ROW, row: 1, line: 2, values: [], kinds: null, stage: null, unitsCharged: 0, updatedAt: null },
    ...{ errorCode: null, errorMessage: null, firstRow: null, glances: {} },
    ...{ matchGrade, matchedOn: 'review', questions: [ASKED], fields: { name, country: 'GB' } },
    confirmed: { name: 'Acme Ltd', registrationNumber: '1', countryCode: 'GB', register: null },
  };
  expect(reasonFacts(row, companyAtAGlance(row)).notes).toEqual(notes);
});
