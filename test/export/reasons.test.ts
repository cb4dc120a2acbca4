import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { companyAtAGlance } from '../../src/export/company-at-a-glance.js';
import { REASON_WORDS, type ReasonFacts, reasonFacts, reasonOf } from '../../src/export/reasons.js';
import type { SnapshotRow } from '../../src/ledger/answers/snapshot.js';
import { waitingInWords } from '../../src/ledger/review/second-person.js';
import { expectGolden } from '../helpers/golden.js';
import { ASKED, LEHMERT, ROW } from './with-reason.js';

/** Bernd's correction, before Anna's answer. */
const CORRECTION = { number: '00045590', decidedBy: 'Bernd', secondBy: null };

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

const OPEN = { answered: 0, decision: null, decidedBy: null, candidateId: null, name: null, grade: null } as const;
const OTHER_NUMBER = { stage: 'record', entityKey: 'record|77|["GB","00445790","GB","09999999"]' } as const;

const CASES: readonly (readonly [string, Partial<ReasonFacts>])[] = [
  ['an unknown country', { outcome: 'invalid', code: 'BAD_COUNTRY', country: 'Atlantis' }],
  ['a number that agrees', {}],
  [
    'a person, and no report',
    { matchedOn: 'review', questions: [ASKED], stages: { record: 'done', 'credit-report': 'not_available' } },
  ],
  [
    'another name',
    { outcome: 'needs_review', code: 'NAME_CONFLICT', ids: {}, questions: [{ ...ASKED, ...OPEN, candidates: 3 }] },
  ],
  [
    'several candidates of two APIs',
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
  ['several candidates, without a question', { outcome: 'needs_review', code: 'SEVERAL_CANDIDATES' }],
  [
    'the first of two people',
    { outcome: 'needs_review', code: 'SECOND_PERSON', questions: [{ ...ASKED, answered: 0, candidates: 1 }] },
  ],
  [
    'two people who differ',
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
  ['a person without a name', { matchedOn: 'review' }],
  ['two people who agree', { matchedOn: 'review', questions: [{ ...ASKED, secondBy: 'Bernd' }] }],
  ['a chosen report with another name', { ids: { v1: '77', credit: 'c' }, questions: [{ ...ASKED, ...LEHMERT }] }],
  [
    'a chosen report with the same name',
    { ids: { v1: '77', credit: 'c' }, questions: [{ ...ASKED, ...LEHMERT, grade: 'AAZAZ' }] },
  ],
  [
    'a decision about another candidate, which is not the reason for the match',
    { ids: { v1: '77', credit: 'd' }, questions: [{ ...ASKED, ...LEHMERT }] },
  ],
  ['a record with another number', { matchedOn: 'review', questions: [{ ...ASKED, ...OTHER_NUMBER }] }],
  [
    'a record with another number, accepted by a second person',
    { matchedOn: 'review', questions: [ASKED, { ...ASKED, ...OTHER_NUMBER, decidedBy: 'Bea' }] },
  ],
  [
    'several reports',
    {
      outcome: 'needs_review',
      code: 'SEVERAL_CANDIDATES',
      questions: [{ ...ASKED, ...OPEN, space: 'credit', candidates: 4 }],
    },
  ],
  [
    'a report with another number',
    {
      outcome: 'needs_review',
      code: 'IDENTITY_MISMATCH',
      questions: [
        { ...ASKED, ...OPEN, space: 'credit', stage: 'credit-report', entityKey: 'report|c|["5","7",null,"8"]' },
      ],
    },
  ],
  [
    'an open question about the record',
    {
      outcome: 'needs_review',
      code: 'IDENTITY_MISMATCH',
      ids: { v1: '77', v2: '9' },
      questions: [{ ...ASKED, ...OPEN, ...OTHER_NUMBER }],
    },
  ],
  [
    'a German number without its court',
    {
      outcome: 'needs_review',
      code: 'NUMBER_UNREADABLE',
      lacksCourt: true,
      questions: [{ ...ASKED, ...OPEN, candidates: 1 }],
      ids: {},
    },
  ],
  ['a VAT number that no candidate has', { outcome: 'needs_review', code: 'VAT_ONLY', matchGrade: null, ids: {} }],
  ['a VAT number and a name', { outcome: 'needs_review', code: 'VAT_ONLY', matchGrade: 'ZAAAZ', ids: {} }],
  [
    'a record with another number, refused',
    {
      outcome: 'no_match',
      code: 'REVIEWED',
      ids: {},
      questions: [{ ...ASKED, ...OTHER_NUMBER, decision: 'none_of_these', candidateId: null }],
    },
  ],
  [
    'a number that cannot be read',
    { outcome: 'needs_review', code: 'NUMBER_UNREADABLE', message: 'too short', ids: {} },
  ],
  [
    'a filed turnover, and two stages without an answer',
    { filedTurnovers: ['300'], stages: { financials: 'not_available', 'credit-report': 'not_available' } },
  ],
  [
    'a filed turnover of a dissolved company',
    { filedTurnovers: ['300'], stages: { record: 'done', financials: 'done' }, status: 'Dissolved' },
  ],
  ['two filed turnovers', { filedTurnovers: ['300', '311.50'] }],
  ['four filed turnovers', { filedTurnovers: ['1', '2', '3', '4'] }],
  ['figures without a turnover', { lacksTurnover: true, stages: { record: 'done', financials: 'done' } }],
  ['no figures', { lacksTurnover: true, stages: { record: 'done', financials: 'not_available' } }],
  ['lists of which only a part came', { listsInPart: ['shareholders', 'group_links'] }],
  ['a newer filed turnover', { otherFiledTurnover: '2024' }],
  [
    'several candidates, and a filed turnover',
    { outcome: 'needs_review', code: 'SEVERAL_CANDIDATES', filedTurnovers: ['300'] },
  ],
  ['a stage without an answer', { stages: { record: 'done', financials: 'not_available' } }],
  [
    'a stage whose answer a person refused',
    { code: 'REVIEWED', stages: { record: 'done', 'credit-report': 'not_available' } },
  ],
  ['the status Gelöscht', { status: 'Gelöscht' }],
  ['the status Insolvency proceedings', { status: 'Insolvency proceedings' }],
  ['the status In liquidation', { status: 'In liquidation' }],
  [
    'two people who refuse all',
    {
      outcome: 'no_match',
      code: 'REVIEWED',
      questions: [{ ...ASKED, decision: 'none_of_these', candidateId: null, secondBy: 'Bea' }],
    },
  ],
  [
    'a number with the form of another country',
    {
      outcome: 'needs_review',
      code: 'NUMBER_UNREADABLE',
      otherCountry: 'The number fits AT, not DE. Check both',
      ids: {},
    },
  ],
  [
    'a corrected number without a company',
    {
      outcome: 'no_match',
      code: 'NO_CANDIDATE_WITH_NUMBER',
      questions: [{ ...ASKED, decision: 'none_of_these', candidateId: 'number:NI001613' }],
    },
  ],
  [
    'another number than the list’s, which a person corrected and another confirmed',
    { matchedOn: 'review', questions: [{ ...ASKED, correction: CORRECTION }], notes: ['the name differs'] },
  ],
  [
    'a question about a corrected number',
    {
      outcome: 'needs_review',
      code: 'NAME_CONFLICT',
      ids: {},
      questions: [{ ...ASKED, answered: 0, decision: null, candidates: 2, correction: CORRECTION }],
    },
  ],
  [
    'candidates of a corrected number, refused',
    {
      outcome: 'no_match',
      code: 'REVIEWED',
      questions: [{ ...ASKED, decision: 'none_of_these', candidateId: null, correction: CORRECTION }],
    },
  ],
  [
    'a limit that was reached before the report',
    {
      outcome: 'pending',
      hold: 'parked',
      holdReason: 'budget',
      stages: { record: 'done', 'credit-report': 'parked' },
    },
  ],
  ['no candidate with the number', { outcome: 'no_match', code: 'NO_CANDIDATE_WITH_NUMBER' }],
  ['a person without a name who refuses all', { outcome: 'no_match', code: 'REVIEWED' }],
  ['no country', { outcome: 'invalid', code: 'NO_COUNTRY' }],
  ['a report that is awaited', { outcome: 'pending', hold: 'waiting', holdReason: 'credit-report' }],
  ['an allowance that is used up', { outcome: 'pending', hold: 'parked', holdReason: 'allowance' }],
  ['a row before its first stage', { outcome: 'pending' }],
  ['an answered question', { outcome: 'pending', questions: [{ ...ASKED, decidedBy: 'Anna' }] }],
  [
    'a withdrawn answer',
    { outcome: 'pending', questions: [{ ...ASKED, decision: null, decidedBy: null, candidateId: null }] },
  ],
  ['a row after its first stage', { outcome: 'pending', stages: { record: 'done' } }],
  ['a time-out of the provider', { outcome: 'failed', code: 'DATA_SERVICE_TIMEOUT' }],
  [
    'an unknown code with a message',
    { outcome: 'failed', code: 'NEW_CODE', message: 'A thing that nobody has heard of.' },
  ],
];

test('the reason of each row', async () => {
  await expectGolden(
    'reasons',
    CASES.map(([given, row]) => [given, reasonOf({ ...ROW, ...row })]),
  );
});

test('a provider’s code is no property of something else', () => {
  expect(reasonOf({ ...ROW, outcome: 'failed', code: 'constructor', message: 'no' })).toBe('no');
});

test('a confirmed row shows the differences', () => {
  expect(reasonOf({ ...ROW, notes: ['one difference', 'another'] })).toBe(`${reasonOf(ROW)}. One difference. Another`);
});

test('a row without a match shows the searches', () => {
  const message = 'the searches found nothing; searched by registration number; the name was not searched: x';
  const row = { ...ROW, outcome: 'no_match', code: 'NO_CANDIDATES', message };
  expect(reasonOf(row)).toContain('; searched by registration number; the name was not searched: x');
});

test('after a person confirms a row, its reason still has the differences', async () => {
  const cases = [
    ['another legal form', 'Acme LLP', 'AAZAZ'],
    ['another name', 'Quite Another Thing', 'AFZAZ'],
    ['another number and country', 'Acme Ltd', 'FAZFZ'],
    ['another VAT number and place', 'Acme Ltd', 'AAFAF'],
  ] as const;
  await expectGolden(
    'reasons-differences',
    cases.map(([given, name, matchGrade]) => {
      const row: SnapshotRow = {
        ...{ ...ROW, row: 1, line: 2, values: [], kinds: null, stage: null, unitsCharged: 0, updatedAt: null },
        ...{ errorCode: null, errorMessage: null, firstRow: null, glances: {}, companyKey: null },
        ...{ matchGrade, matchedOn: 'review', questions: [ASKED], fields: { name, country: 'GB' } },
        confirmed: { name: 'Acme Ltd', registrationNumber: '1', countryCode: 'GB', register: null },
      };
      return [given, reasonFacts(row, companyAtAGlance(row)).notes.join('\n')];
    }),
  );
});

test('a confirmed row names the repair of its number and the source of its country', async () => {
  const cases = [
    ['lost zeros', { country: 'GB', registration_number: '12345' }],
    ['a SIRET', { country: 'FR', registration_number: '73282932000074' }],
    ['no court', { country: 'DE', registration_number: 'HRB 12345' }],
    ['no country', { registration_number: 'SC123456' }],
    ['a mark, and a corrected number without zeros', { country: 'FR', registration_number: '005423462*' }],
  ] as const;
  await expectGolden(
    'reasons-repairs',
    cases.map(([given, fields]) => {
      const row: SnapshotRow = {
        ...{ ...ROW, row: 1, line: 2, values: [], kinds: null, stage: null, unitsCharged: 0, updatedAt: null },
        ...{ errorCode: null, errorMessage: null, firstRow: null, companyKey: null, glances: {}, matchGrade: 'BAZAZ' },
        ...{ matchedOn: 'registration_number_repaired', fields: { name: 'Acme Ltd', ...fields } },
        questions: given.startsWith('a mark')
          ? [{ ...ASKED, decision: 'none_of_these', candidateId: 'number:5423462' }]
          : [],
        confirmed: {
          name: 'Acme Ltd',
          registrationNumber: '1',
          countryCode: given === 'no court' ? 'DE' : 'GB',
          register: given === 'no court' ? 'Amtsgericht Hamburg' : null,
        },
      };
      return [given, reasonOf(reasonFacts(row, companyAtAGlance(row)))];
    }),
  );
});

test('a limit before the match is a limit before the search', () => {
  const held = { outcome: 'pending', hold: 'parked', holdReason: 'budget', stages: { record: 'parked' } } as const;
  expect(reasonOf({ ...ROW, ...held, ids: {} })).toContain('before the search');
  expect(reasonOf({ ...ROW, ...held, ids: { v1: 'x' } })).toContain('before the record');
});
