import { expect, test } from 'vitest';
import { itemIds } from '../../src/api/all-operations.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { bytesOf, isOnPostgres } from '../helpers/ledger-place.js';
import { long } from '../helpers/long.js';
import { candidate } from '../ledger/support.js';
import { buy, createRun, NOW, type RunFixture, settleAgain, withRun } from './support.js';

const NUMBER = '07654321';
const named = { kind: 'number', countryCode: 'GB', registrationNumber: NUMBER } as const;

const british = (number: string, name = 'Acme') => ({
  values: [name, number, 'United Kingdom'],
  fields: { name, registration_number: number, country: 'United Kingdom' },
});
const nobody = { outcome: 'no_match' } as const;

const searchFor = (row: number, number: string, body = '[]') => ({
  row,
  api: 'v1' as const,
  operation: 'searchKyb',
  params: { location: 'GB', registration_number: number },
  body,
});

const ask = async (ledger: Ledger, runId: string, row: number, number: string) => {
  const environmentId = await ledger.calls.environment('v1', 'test');
  const asked = { environmentId, entityKey: `GB|number:${number}|name:acme`, space: 'v1', stage: null } as const;
  const message = `no candidate has the number ${number}`;
  const question = { ...asked, candidateId: null, code: 'X', message, answered: false, askedAt: NOW };
  await settleAgain(ledger, runId, row, { questions: [question] });
  return asked;
};

long('rows with the number are removed even without a match, with everything asked for them', async () => {
  const rows = [
    { ...british(NUMBER), state: { ...nobody, errorMessage: `nobody has ${NUMBER}` } },
    { ...british('01234567', 'Other'), ids: { v1: '9000002' } },
  ];
  // One body answers both searches. The other row keeps its copy.
  const bought = [searchFor(1, NUMBER), searchFor(2, '01234567')];
  await withRun({ rows, bought }, async ({ dataDir, ledger, id }) => {
    const asked = await ask(ledger, id, 1, NUMBER);
    const seen = [candidate('9000077', { registrationNumber: '01111111', evidence: `the row has ${NUMBER}` })];
    const error = { stage: 'resolve', class: 'fail_row', code: 'X', requestId: null, attempts: 1 };
    const errors = [{ ...error, message: `bad number ${NUMBER}`, at: NOW }];
    await settleAgain(ledger, id, 1, { candidates: [{ space: 'v1', seen }], errors });
    const decision = { decision: 'none_of_these', candidateId: null, shown: ['9000077'], decidedBy: 'me' } as const;
    const decided = { ...decision, summary: `Acme · ${NUMBER} → none of these`, decidedAt: NOW, note: null };
    await ledger.review.record({ ...asked, ...decided });
    await ledger.runs.recordError(id, { ...error, stage: null, message: `stopped at ${NUMBER}`, at: NOW });
    const attemptId = await ledger.calls.begin({ runId: id, begunAt: NOW, leaseUntil: NOW });
    await ledger.calls.end(attemptId, NOW);
    await ledger.calls.noteEnding(attemptId, JSON.stringify({ message: `stopped at ${NUMBER}` }));
    await ledger.unknownCharges.settle([1], 'resend', `about ${NUMBER}`);
    expect(await bytesOf(dataDir)).toContain(NUMBER);
    const report = await ledger.housekeeping.erase(named, itemIds);
    expect(report).toMatchObject({ rows: 1, answers: 1, bodies: 0, candidates: 1, questions: 1, decisions: 1 });
    expect(await bytesOf(dataDir)).not.toContain(NUMBER);
    expect(await ledger.housekeeping.searchEverywhere(report.identifiers)).toMatchObject({
      timesInFile: 0,
      mentions: [],
    });
    const key = { outcome: 'no_match', errorCode: 'PURGED', values: [], fields: {} };
    expect(await ledger.runs.row(id, 1)).toMatchObject(key);
    expect(await ledger.runs.row(id, 2)).toMatchObject({ fields: { registration_number: '01234567' } });
    expect(await ledger.housekeeping.previewErase({ ...named, registrationNumber: '01234567' }, itemIds)).toMatchObject(
      { answers: 1 },
    );
  });
});

long('a row whose country cell names two countries counts for both', async () => {
  const row = british(NUMBER);
  const rows = [{ ...row, fields: { ...row.fields, country: 'GB/DK' }, state: nobody }];
  await withRun({ rows, bought: [] }, async ({ ledger }) => {
    expect(await ledger.housekeeping.erase({ ...named, countryCode: 'FR' }, itemIds)).toMatchObject({ rows: 0 });
    expect(await ledger.housekeeping.erase(named, itemIds)).toMatchObject({ rows: 1 });
  });
});

long.each([
  ['as given', NUMBER],
  ['without its zeros', '7654321'],
  ['with separators', '0765 43-21'],
  ['after the country', `GB${NUMBER}`],
  ['with a label', `Company No. ${NUMBER}`],
])('a row that wrote the number %s is this company', async (_, written) => {
  await withRun({ rows: [{ ...british(written), state: nobody }] }, async ({ ledger }) => {
    expect(await ledger.housekeeping.erase(named, itemIds)).toMatchObject({ rows: 1 });
  });
});

test.each([
  ['another number', british('07654322')],
  ['a longer number', british(`${NUMBER}1`)],
  [
    'an equal number in another country',
    { values: [NUMBER, 'NO'], fields: { registration_number: NUMBER, country: 'NO' } },
  ],
])('a row with %s stays', async (_, row) => {
  await withRun({ rows: [{ ...row, state: nobody }] }, async ({ ledger, id }) => {
    expect(await ledger.housekeeping.erase(named, itemIds)).toMatchObject({ rows: 0, answers: 0 });
    expect(await ledger.runs.row(id, 1)).toMatchObject({ errorCode: null });
  });
});

test('a damaged row goes when one cell is the number and another the country', async () => {
  const damaged = [
    { values: ['Acme', `"${NUMBER}`, 'GB', 'x'], state: { outcome: 'invalid' as const } },
    { values: ['Acme', NUMBER, 'FR', 'x'], state: { outcome: 'invalid' as const } },
  ];
  await withRun({ rows: damaged }, async ({ ledger, id }) => {
    expect(await ledger.housekeeping.erase(named, itemIds)).toMatchObject({ rows: 1 });
    expect(await ledger.runs.row(id, 1)).toMatchObject({ outcome: 'invalid', errorCode: 'PURGED' });
    expect(await ledger.runs.row(id, 2)).toMatchObject({ errorCode: null });
  });
});

test('one number in two states is two companies', async () => {
  const american = (state: string) => ({
    values: [state],
    fields: { registration_number: 'C1234567', country: 'US', state },
    state: nobody,
  });
  await withRun({ rows: [american('CA'), american('TX')] }, async ({ ledger, id }) => {
    const request = { kind: 'number', countryCode: 'US', state: 'CA', registrationNumber: 'C1234567' } as const;
    expect(await ledger.housekeeping.erase(request, itemIds)).toMatchObject({ rows: 1 });
    expect(await ledger.runs.row(id, 2)).toMatchObject({ errorCode: null });
  });
});

test('a company is removed from both of two runs, and a pending row ends as invalid', async () => {
  const fixture: RunFixture = {
    rows: [{ ...british(NUMBER), ids: { v1: '9000001' } }],
    bought: [{ row: 1, api: 'v1', operation: 'fullKyb', params: { id: '9000001' }, body: `{"lite":{"id":9000001}}` }],
  };
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    await createRun(ledger, 'second', { rows: [{ ...british('7654321'), state: { outcome: 'pending' } }] });
    for (const text of ['9000001', '"7654321"']) expect(await bytesOf(dataDir)).toContain(text);
    const report = await ledger.housekeeping.erase(named, itemIds);
    expect(report).toMatchObject({ runs: [id, 'second'], rows: 2, answers: 1, bodies: 1 });
    expect(report.identifiers).toEqual(expect.arrayContaining([NUMBER, '9000001', '7654321']));
    expect(await ledger.runs.row('second', 1)).toMatchObject({ outcome: 'invalid', errorCode: 'PURGED' });
    expect(await bytesOf(dataDir)).not.toMatch(/9000001|7654321/);
  });
});

long(
  'a company that a person confirmed is removed with the decision, also from a row that has not continued since',
  async () => {
    const rows = [
      { ...british(NUMBER), state: { matchedOn: 'review' }, ids: { v1: '9000001' } },
      { ...british(NUMBER), state: { outcome: 'needs_review' as const } },
    ];
    await withRun({ rows }, async ({ dataDir, ledger, id }) => {
      const asked = await ask(ledger, id, 2, NUMBER);
      const said = { decision: 'confirm', candidateId: '9000001', shown: ['9000001'], decidedBy: 'me' } as const;
      const decided = { ...said, summary: `${NUMBER} → Acme, ID 9000001`, decidedAt: NOW, note: null };
      expect((await ledger.review.record({ ...asked, ...decided })).released).toHaveLength(1);
      for (const text of ['9000001', NUMBER]) expect(await bytesOf(dataDir)).toContain(text);
      expect(await ledger.housekeeping.erase({ kind: 'entity', id: '9000001' }, itemIds)).toMatchObject({
        rows: 2,
        decisions: 1,
        questions: 1,
      });
      expect(await ledger.review.decisions()).toEqual([]);
      expect(await bytesOf(dataDir)).not.toMatch(/9000001|07654321/);
    });
  },
);

test('a decision outlives its run and is still removed with the number', async () => {
  await withRun({ rows: [] }, async ({ dataDir, ledger }) => {
    const environmentId = await ledger.calls.environment('v1', 'test');
    const key = {
      environmentId,
      entityKey: `credit|GB|number:${NUMBER}|name:acme`,
      space: 'credit',
      stage: null,
    } as const;
    const said = { decision: 'none_of_these', candidateId: null, shown: [], decidedBy: 'me' } as const;
    await ledger.review.record({ ...key, ...said, summary: NUMBER, decidedAt: NOW, note: null });
    expect(await bytesOf(dataDir)).toContain(NUMBER);
    expect(await ledger.housekeeping.erase(named, itemIds)).toMatchObject({ rows: 0, decisions: 1 });
    expect(await bytesOf(dataDir)).not.toContain(NUMBER);
  });
});

test('a direct search is found by its request and by its result', async () => {
  const item = `{"id":9000001,"registration_number":"${NUMBER}","country_code":"GB"}`;
  await withRun({ rows: [{ values: ['x'] }] }, async ({ dataDir, ledger, id }) => {
    await buy(ledger, id, { ...searchFor(1, NUMBER), params: { location: 'UK', registration_number: '7654321' } });
    await buy(ledger, id, { ...searchFor(1, ''), params: { location: 'GB', name: 'Acme' }, body: `[${item}]` });
    for (const text of [item, '"registration_number":"7654321"']) expect(await bytesOf(dataDir)).toContain(text);
    expect(await ledger.housekeeping.erase(named, itemIds)).toMatchObject({ rows: 0, answers: 2 });
    expect(await bytesOf(dataDir)).not.toMatch(/9000001|7654321/);
  });
});

test('a company found by a direct list is removed with everything bought under its ID, only in its ID space', async () => {
  const byHand = { row: null, api: 'v2' } as const;
  const hit = (id: string) => `[{"id":"${id}","registration_number":"7654321","name":"Acme"}]`;
  await withRun({ rows: [] }, async ({ dataDir, ledger, id }) => {
    // A hit of the report search has no country, only the search has one.
    const report = { operation: 'creditReportSearch', params: { country: 'GB', company: 'Acme' } };
    await buy(ledger, id, { ...byHand, ...report, body: hit('S-4711') });
    const generated = { operation: 'creditReportGenerate', params: { source_id: 'S-4711', country: 'GB' } };
    await buy(ledger, id, { ...byHand, ...generated, body: '{"id":71}' });
    const elsewhere = { operation: 'creditReportSearch', params: { country: 'NO', company: 'Acme' } };
    await buy(ledger, id, { ...byHand, ...elsewhere, body: hit('S-4712') });
    await buy(ledger, id, { ...byHand, operation: 'kybLite', params: { id: 'S-4711' }, body: '{"name":"other"}' });
    const go = [hit('S-4711'), JSON.stringify(generated.params)];
    const stay = [hit('S-4712'), JSON.stringify(elsewhere.params), '{"id":"S-4711"}', '{"name":"other"}'];
    for (const text of [...go, ...stay]) expect(await bytesOf(dataDir)).toContain(text);
    expect(await ledger.housekeeping.erase(named, itemIds)).toMatchObject({ answers: 2, bodies: 2 });
    for (const text of go) expect(await bytesOf(dataDir)).not.toContain(text);
    for (const text of stay) expect(await bytesOf(dataDir)).toContain(text);
  });
});

test('a direct search is recognized by its values, with any names of its parameters', async () => {
  const byHand = { row: null, api: 'v2', body: '{"data":[]}' } as const;
  const american = { country_code: 'US', registration_number: 'C1234567' };
  await withRun({ rows: [] }, async ({ ledger, id }) => {
    await buy(ledger, id, { ...byHand, operation: 'companiesLookup', params: { ...american, state: 'CA' } });
    await buy(ledger, id, { ...byHand, operation: 'companiesLookup', params: { ...american, state: 'TX' } });
    await buy(ledger, id, { ...byHand, operation: 'kybSearch', params: { location: 'US-CA', name: 'C1234567' } });
    const request = { kind: 'number', countryCode: 'US', state: 'CA', registrationNumber: 'C1234567' } as const;
    expect(await ledger.housekeeping.erase(request, itemIds)).toMatchObject({ answers: 2, bodies: 0 });
    expect(await ledger.housekeeping.erase({ ...request, state: 'TX' }, itemIds)).toMatchObject({
      answers: 1,
      bodies: 1,
    });
  });
});

test('messages of other rows with this candidate lose the number and nothing else', async () => {
  const message = `2 candidates: ${NUMBER} and 01234567, not 107654321`;
  const rows = [{ ...british('01234567'), state: { outcome: 'needs_review' as const, errorMessage: message } }];
  await withRun({ rows }, async ({ ledger, id }) => {
    const seen = [
      candidate('9000001', { registrationNumber: NUMBER }),
      candidate('9000002', { registrationNumber: '01234567' }),
    ];
    await settleAgain(ledger, id, 1, { candidates: [{ space: 'v1', seen }] });
    const report = await ledger.housekeeping.erase(named, itemIds);
    expect(report).toMatchObject({ rows: 0, candidates: 1, runs: [id] });
    const errorMessage = '2 candidates: (removed) and 01234567, not 107654321';
    expect(await ledger.runs.row(id, 1)).toMatchObject({ outcome: 'needs_review', errorMessage });
  });
});

const lengthy = 'x'.repeat(5_000);

long('data of other companies about it is found in packed answers too, with the command to remove it', async () => {
  const fixture: RunFixture = {
    rows: [
      { ...british(NUMBER), ids: { v1: '9000001' } },
      { ...british('01234567'), ids: { v1: '9000002' } },
      { values: [`see ${NUMBER}`], fields: { country: 'FR', registration_number: '552100554' }, state: nobody },
    ],
    bought: [
      {
        row: 2,
        api: 'v1',
        operation: 'fullKyb',
        params: { id: '9000002' },
        body: `{"group":[{"reg":"GB-${NUMBER}","note":"${lengthy}"}]}`,
      },
      // Longer numbers are no mention.
      { row: 2, api: 'v1', operation: 'liteKyb', params: { id: '9000002' }, body: `{"a":1${NUMBER},"b":"${NUMBER}9"}` },
    ],
  };
  await withRun(fixture, async ({ dataDir, ledger, id }) => {
    const { identifiers } = await ledger.housekeeping.erase(named, itemIds);
    const { mentions, timesInFile } = await ledger.housekeeping.searchEverywhere(identifiers);
    const found = { identifiers: [NUMBER], run: id };
    expect(mentions).toEqual([
      { ...found, where: 'rows', row: 3, entity: 'FR:552100554' },
      { ...found, where: 'answer to fullKyb', row: 2, entity: 'v1:9000002' },
    ]);
    // The disk of a server cannot be searched.
    expect(timesInFile).toBe(isOnPostgres ? 0 : (await bytesOf(dataDir)).split(NUMBER).length - 1);
    await ledger.housekeeping.erase({ kind: 'entity', space: 'v1', id: '9000002' }, itemIds);
    await ledger.housekeeping.erase({ kind: 'number', countryCode: 'FR', registrationNumber: '552100554' }, itemIds);
    expect(await ledger.housekeeping.searchEverywhere(identifiers)).toMatchObject({ mentions: [], timesInFile: 0 });
  });
});
