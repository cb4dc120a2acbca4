import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { REASON_WORDS, type ReasonFacts, reasonOf } from '../../src/export/reasons.js';

const SRC = resolve(import.meta.dirname, '../../src');

const filesIn = (room: string): readonly string[] =>
  readdirSync(join(SRC, room), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(SRC, room, file), 'utf8'));

const codesIn = (texts: readonly string[], pattern: RegExp): readonly string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? ''))),
];

/** Every code that can be put on a row, as the rooms that do it write it down. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  'lines that cannot be asked about': [
    ...codesIn(filesIn('input'), /code: '([A-Z_]+)', message/g),
    ...codesIn(filesIn('sheets'), /code: '([A-Z_]+)', message/g),
    ...codesIn([readFileSync(join(SRC, 'domain/enquiry.ts'), 'utf8')], /code: '([A-Z_]+)'/g),
  ],
  'stages that end a row': codesIn(
    filesIn('stages'),
    /kind: '(?:no_match|needs_review)',\s+code: '([A-Z_]+)'|const code = '([A-Z_]+)'/g,
  ),
  'doubts about a search': codesIn(
    [readFileSync(join(SRC, 'stages/identity/search-doubts.ts'), 'utf8')],
    /'([A-Z]+_[A-Z_]+)'/g,
  ),
  'calls that fail': [
    ...codesIn(filesIn('api/v2'), /code: '([A-Z_]+)'/g),
    ...codesIn([readFileSync(join(SRC, 'api/v1/errors.ts'), 'utf8')], /^ {2}([A-Z][A-Z_0-9]+): (?:[a-z]|\{)/gm),
    ...codesIn(
      ['api/lost-answer.ts', 'api/answer.ts'].map((file) => readFileSync(join(SRC, file), 'utf8')),
      /code: '([A-Z_]+)'/g,
    ),
  ],
};

test.each(Object.entries(CODES))('%s have words', (_, codes) => {
  expect(codes.length).toBeGreaterThan(1);
  // What was broken off by whoever started it is no end of a row.
  expect(codes.filter((code) => code !== 'ABORTED' && !Object.hasOwn(REASON_WORDS, code))).toEqual([]);
});

const ROW: ReasonFacts = {
  outcome: 'complete',
  code: null,
  message: null,
  matchedOn: 'registration_number',
  country: 'GB',
  candidates: 0,
  hold: null,
  holdReason: null,
  stages: {},
};

test.each<readonly [string, Partial<ReasonFacts>]>([
  ['The country "Atlantis" is not known', { outcome: 'invalid', code: 'BAD_COUNTRY', country: 'Atlantis' }],
  ['Confirmed by registration number', {}],
  [
    'Confirmed by a person; not available: credit report',
    { matchedOn: 'review', stages: { record: 'done', 'credit-report': 'not_available' } },
  ],
  [
    'Found under another name: please decide (3 candidates)',
    { outcome: 'needs_review', code: 'NAME_CONFLICT', candidates: 3 },
  ],
  ['Several companies fit: please decide', { outcome: 'needs_review', code: 'SEVERAL_CANDIDATES' }],
  [
    'A person has answered, and another must agree: please decide (1 candidate)',
    { outcome: 'needs_review', code: 'SECOND_PERSON', candidates: 1 },
  ],
  ['No company with this number in GB', { outcome: 'no_match', code: 'NO_CANDIDATE_WITH_NUMBER' }],
  ['A person decided that none of the companies found is meant', { outcome: 'no_match', code: 'REVIEWED' }],
  ['The row has no country', { outcome: 'invalid', code: 'NO_COUNTRY' }],
  ['Waiting for the credit report', { outcome: 'pending', hold: 'waiting', holdReason: 'credit-report' }],
  [
    'The allowance was used up; goes on at the next start',
    { outcome: 'pending', hold: 'parked', holdReason: 'allowance' },
  ],
  ['Not looked at yet; goes on at the next start', { outcome: 'pending' }],
  ['Only a part was bought so far; goes on at the next start', { outcome: 'pending', stages: { record: 'done' } }],
  ['The provider did not answer in time', { outcome: 'failed', code: 'DATA_SERVICE_TIMEOUT' }],
  [
    'A thing that nobody has heard of',
    { outcome: 'failed', code: 'NEW_CODE', message: 'A thing that nobody has heard of.' },
  ],
])('%s', (words, row) => expect(reasonOf({ ...ROW, ...row })).toBe(words));

test('a provider’s code is no property of something else', () => {
  expect(reasonOf({ ...ROW, outcome: 'failed', code: 'constructor', message: 'no' })).toBe('no');
});
