import { describe, expect, test } from 'vitest';
import type { IdSpace } from '../../src/domain/provider.js';
import { type DecidedRow, type StageDependency, withdrawalEffects } from '../../src/ledger/review/review.js';

const stage = (name: string, space: IdSpace, more: Partial<StageDependency> = {}): StageDependency => ({
  name,
  space,
  finds: [],
  additional: false,
  ...more,
});

const STAGES = [
  stage('record', 'v1'),
  stage('profile', 'v1'),
  stage('financials', 'v2'),
  stage('firmographics', 'companies', { additional: true }),
  stage('insights', 'insights', { additional: true }),
  stage('ownership', 'v2', { additional: true, finds: ['ownership'] }),
  stage('screening', 'v1'),
  stage('contacts', 'companies', { additional: true }),
];

const taken = (row: Partial<DecidedRow>, spaces: readonly IdSpace[], idsShared: readonly IdSpace[] = []) =>
  withdrawalEffects(
    {
      topics: [],
      confirmed: true,
      statuses: Object.fromEntries(STAGES.map(({ name }) => [name, 'done'])),
      ids: spaces.map((space) => ({ space, matchedOn: space === 'ownership' ? 'review' : 'registration_number' })),
      wasThere: () => true,
      ...row,
    },
    { stages: STAGES, idsShared },
  );

const which = (space: IdSpace) => ({ topics: [{ space, stage: null }] });
const answer = (space: IdSpace, ...stages: string[]) => ({ topics: stages.map((name) => ({ space, stage: name })) });

describe('withdrawn: the match of the row', () => {
  test('in a space that nothing else depends on: its ID and its stages', () => {
    expect(taken(which('insights'), ['v1', 'companies', 'insights'])).toEqual({
      stages: ['insights'],
      spaces: ['insights'],
    });
    expect(taken(which('v2'), ['v1', 'v2', 'ownership', 'companies'])).toEqual({
      stages: ['financials', 'ownership'],
      spaces: ['v2', 'ownership'],
    });
  });

  test('in the space that the others were searched by: everything', () => {
    expect(taken(which('v1'), ['v1', 'v2'])).toBeUndefined();
    expect(taken(which('companies'), ['companies', 'insights'])).toBeUndefined();
    expect(taken(which('v2'), [])).toBeUndefined();
  });

  test('in one of the spaces that share their IDs: in all of them', () => {
    expect(taken(which('insights'), ['v1', 'companies', 'insights'], ['companies', 'insights'])).toEqual({
      stages: ['firmographics', 'insights', 'contacts'],
      spaces: ['insights', 'companies'],
    });
  });
});

describe('withdrawn: whether an answer is about the company', () => {
  test('refused, and with it the ID: the stages of that ID', () => {
    const refused = { ...answer('companies', 'firmographics'), confirmed: false };
    expect(taken(refused, ['v1', 'v2'])).toEqual({ stages: ['firmographics', 'contacts'], spaces: ['companies'] });
    expect(taken({ ...answer('v1', 'record'), confirmed: false }, [])).toBeUndefined();
  });

  test('accepted: its stage, and an ID that only the decision gave', () => {
    expect(taken(answer('ownership', 'ownership'), ['v1', 'v2', 'ownership'])).toEqual({
      stages: ['ownership'],
      spaces: ['ownership'],
    });
  });

  test('accepted, and the row had stopped with it: every stage with that question, and all later stages', () => {
    const row = { ...answer('v1', 'record', 'profile'), wasThere: (name: string) => name === 'financials' };
    expect(taken(row, ['v1', 'v2', 'ownership'])).toEqual({
      stages: ['record', 'profile', 'firmographics', 'insights', 'ownership', 'screening', 'contacts'],
      spaces: ['companies', 'insights', 'ownership', 'companies'],
    });
    const first = { ...row, wasThere: () => false };
    expect(taken(first, ['v1', 'v2', 'ownership'])?.spaces).toEqual(expect.arrayContaining(['v2', 'ownership']));
    expect(taken(first, ['v1', 'v2', 'ownership'])?.spaces).not.toContain('v1');
  });
});
