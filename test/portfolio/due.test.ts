import { describe, expect, test } from 'vitest';
import { loadPipeline } from '../../src/config/pipeline.js';
import type { MemberState } from '../../src/ledger/portfolio/portfolios.js';
import { decideDue, dueTerms } from '../../src/portfolio/due.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-03-01T01:00:00Z');
const nightly = loadPipeline('nightly', process.cwd());
const terms = { ...dueTerms(nightly, NOW, false, (way) => way === 'same') };

const daysAgo = (days: number) => NOW - days * DAY;

const standing = (more: Partial<MemberState> = {}): MemberState => ({
  member: 1,
  row: 1,
  outcome: 'complete',
  stages: { record: 'done', financials: 'done' },
  fetched: { record: daysAgo(1), financials: daysAgo(1) },
  updatedAt: daysAgo(1),
  pipelineSha256: 'same',
  changedAt: null,
  at: { runId: 'a', row: 1 },
  onItsWay: null,
  ...more,
});

describe('a complete row', () => {
  test('is due when an answer is older than its freshness, for that stage alone', () => {
    const stale = standing({ fetched: { record: daysAgo(8), financials: daysAgo(8) } });
    expect(decideDue(stale, terms)).toMatchObject({
      due: { reason: 'stale', rank: daysAgo(8), stages: { record: 'pending', financials: 'done' }, forget: [] },
    });
  });

  test('is not due at the very moment its freshness ends, as for calls, and reports when it will be', () => {
    const fetched = { record: daysAgo(7), financials: daysAgo(29) };
    expect(decideDue(standing({ fetched }), terms)).toEqual({ due: null, nextAt: NOW });
  });

  test('is as old as its oldest stale answer', () => {
    const fetched = { record: daysAgo(9), financials: daysAgo(40) };
    expect(decideDue(standing({ fetched }), terms)).toMatchObject({ due: { rank: daysAgo(40) } });
  });

  test('without a date is as old as the row, for ledgers from before dates', () => {
    expect(decideDue(standing({ fetched: {}, updatedAt: daysAgo(8) }), terms)).toMatchObject({
      due: { reason: 'stale' },
    });
  });

  test('lacks a stage that was added to the pipeline: before all stale stages', () => {
    const lacking = standing({ stages: { record: 'done' } });
    expect(decideDue(lacking, terms)).toMatchObject({
      due: { reason: 'unfinished', rank: 0, stages: { record: 'done', financials: 'pending' } },
    });
  });

  test('a stage that the pipeline does not have is left unchanged at any age', () => {
    const more = standing({
      stages: { record: 'done', financials: 'done', 'credit-report': 'done' },
      fetched: { record: daysAgo(1), financials: daysAgo(1), 'credit-report': daysAgo(999) },
    });
    expect(decideDue(more, terms).due).toBeNull();
  });

  test('not_available ages like an answer, and skipped does not', () => {
    const old = { record: daysAgo(1), financials: daysAgo(31) };
    const missing = standing({ stages: { record: 'done', financials: 'not_available' }, fetched: old });
    expect(decideDue(missing, terms)).toMatchObject({ due: { stages: { financials: 'pending' } } });
    const skipped = standing({ stages: { record: 'done', financials: 'skipped' }, fetched: old });
    expect(decideDue(skipped, terms).due).toBeNull();
  });
});

test('a report that is bought again is found again: its ID is forgotten', () => {
  const reports = dueTerms({ ...nightly, stages: ['credit-report'] }, NOW, false, () => true);
  const old = standing({ stages: { 'credit-report': 'done' }, fetched: { 'credit-report': daysAgo(366) } });
  expect(decideDue(old, reports)).toMatchObject({ due: { forget: ['report'] } });
});

test('a watched change is bought again although fresh, and not from before its event', () => {
  const watching = { ...terms, stages: terms.stages.map((stage) => ({ ...stage, watched: stage.name === 'record' })) };
  const heard = standing({ changedAt: daysAgo(0.5) });
  expect(decideDue(heard, watching)).toMatchObject({
    due: { reason: 'watch', rank: 1, stages: { record: 'pending', financials: 'done' }, notBefore: daysAgo(0.5) },
  });
  expect(decideDue(standing({ changedAt: daysAgo(2) }), watching).due).toBeNull();
  expect(decideDue(heard, terms).due).toBeNull();
});

describe('a row with a review question', () => {
  const adding = dueTerms(
    { ...nightly, stages: ['record', 'financials', 'ownership'] },
    NOW,
    false,
    (way) => way === 'same',
  );
  const asked = standing({
    outcome: 'needs_review',
    stages: { record: 'done', financials: 'done', ownership: 'pending' },
  });
  const old = { record: daysAgo(8), financials: daysAgo(1) };

  test('about an additional stage: the others are due as usual, and report when they will be', () => {
    expect(decideDue(asked, adding)).toEqual({ due: null, nextAt: daysAgo(1) + 7 * DAY });
    expect(decideDue({ ...asked, fetched: old }, adding)).toMatchObject({
      due: {
        reason: 'stale',
        rank: daysAgo(8),
        stages: { record: 'pending', financials: 'done', ownership: 'pending' },
      },
    });
    const watching = { ...adding, stages: adding.stages.map((stage) => ({ ...stage, watched: true })) };
    expect(decideDue({ ...asked, changedAt: daysAgo(0.5) }, watching)).toMatchObject({ due: { reason: 'watch' } });
  });

  test('and a failed stage: it is tried when an answer would be stale, or with the others', () => {
    const failed = { ...asked, stages: { ...asked.stages, financials: 'failed' } } as const;
    expect(decideDue(failed, adding)).toEqual({ due: null, nextAt: daysAgo(1) + 7 * DAY });
    const both = { record: 'pending', financials: 'pending', ownership: 'pending' };
    expect(decideDue({ ...failed, fetched: old }, adding)).toMatchObject({ due: { reason: 'stale', stages: both } });
    const long = { ...failed, updatedAt: daysAgo(31) };
    expect(decideDue(long, adding)).toMatchObject({ due: { stages: { record: 'done', financials: 'pending' } } });
  });

  test('is processed again by another pipeline, with its match', () => {
    expect(decideDue({ ...asked, pipelineSha256: 'another' }, adding)).toMatchObject({
      due: { reason: 'unfinished', stages: asked.stages, forget: ['ownership'] },
    });
  });

  test.each([
    ['a stage that others stand on', { record: 'done', 'credit-report': 'pending', ownership: 'pending' }],
    ['a record that is in question', { record: 'pending', financials: 'done', ownership: 'pending' }],
    ['a company of which nothing is there', { ownership: 'pending' }],
  ] as const)('waits for a person if the question is about %s', (_, stages) => {
    const names: readonly string[] = Object.keys({ record: '', ...stages });
    const terms = dueTerms({ ...nightly, stages: names }, NOW, false, (way) => way === 'same');
    expect(decideDue({ ...asked, stages, fetched: old }, terms)).toEqual({ due: null, nextAt: null });
  });
});

describe('a row without a match', () => {
  test('is searched again when the search is stale, from the beginning', () => {
    const nobody = standing({ outcome: 'no_match', stages: { record: 'skipped' }, updatedAt: daysAgo(366) });
    expect(decideDue(nobody, terms)).toMatchObject({ due: { reason: 'stale', stages: {}, rank: daysAgo(366) } });
    const until = daysAgo(10) + 365 * DAY;
    expect(decideDue({ ...nobody, updatedAt: daysAgo(10) }, terms)).toEqual({ due: null, nextAt: until });
  });

  test('waits for a person if there is a question', () => {
    expect(decideDue(standing({ outcome: 'needs_review', updatedAt: 0 }), terms)).toEqual({ due: null, nextAt: null });
  });

  test.each(['no_match', 'needs_review'] as const)('%s: another pipeline may find it in another way', (outcome) => {
    const asked = standing({ outcome, pipelineSha256: 'another' });
    expect(decideDue(asked, terms)).toMatchObject({ due: { reason: 'unfinished', stages: {} } });
  });

  test('is never due if the line is invalid', () => {
    expect(decideDue(standing({ outcome: 'invalid' }), { ...terms, fresh: true })).toEqual({ due: null, nextAt: null });
  });
});

test('a failure is tried again when an answer would be stale, with everything that waited for it', () => {
  const failed = standing({ outcome: 'failed', stages: { record: 'failed', financials: 'pending' }, fetched: {} });
  expect(decideDue({ ...failed, updatedAt: daysAgo(6) }, terms)).toEqual({ due: null, nextAt: daysAgo(6) + 7 * DAY });
  expect(decideDue({ ...failed, updatedAt: daysAgo(8) }, terms)).toMatchObject({
    due: { reason: 'stale', rank: daysAgo(8), stages: { record: 'pending', financials: 'pending' } },
  });
});

describe('a row in progress', () => {
  const onItsWay = { runId: 'r', row: 1 };

  test('continues as it is, and reports why it began', () => {
    expect(decideDue(standing({ outcome: 'pending', onItsWay }), terms)).toMatchObject({
      due: { goesOn: true, reason: 'unfinished' },
    });
    const stale = standing({ fetched: { record: daysAgo(8), financials: daysAgo(1) }, onItsWay });
    expect(decideDue(stale, terms)).toMatchObject({ due: { goesOn: true, reason: 'stale' } });
    expect(decideDue(standing({ onItsWay }), terms)).toMatchObject({ due: { goesOn: true, reason: 'unfinished' } });
  });

  test('starts over if everything is bought again', () => {
    const fresh = { ...terms, fresh: true };
    expect(decideDue(standing({ onItsWay }), fresh)).toMatchObject({
      due: { goesOn: false, reason: 'asked', stages: {}, notBefore: NOW },
    });
  });
});
