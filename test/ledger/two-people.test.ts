import { describe, expect, test } from 'vitest';
import { isSamePerson, type Word, waitingInWords, weigh } from '../../src/ledger/two-people.js';

const confirm = (decidedBy: string, candidateId: string): Word => ({ decision: 'confirm', candidateId, decidedBy });
const none = (decidedBy: string): Word => ({ decision: 'none_of_these', candidateId: null, decidedBy });

describe('where two people are needed', () => {
  test.each([
    ['the first confirmation', confirm('anna', 'a'), [], { kind: 'held', against: [] }],
    [
      'another name for the same',
      confirm('bob', 'a'),
      [confirm('anna', 'a')],
      { kind: 'in_force', first: confirm('anna', 'a') },
    ],
    [
      'the same name, spelt otherwise',
      confirm(' ANNA ', 'a'),
      [confirm('anna', 'a')],
      { kind: 'said_before', before: confirm('anna', 'a') },
    ],
    [
      'another candidate',
      confirm('bob', 'b'),
      [confirm('anna', 'a')],
      { kind: 'held', against: [confirm('anna', 'a')] },
    ],
    ['a change of mind', confirm('anna', 'b'), [confirm('anna', 'a')], { kind: 'held', against: [] }],
    ['nobody is meant', none('anna'), [], { kind: 'in_force', first: undefined }],
    ['one takes it back for nobody', none('anna'), [confirm('anna', 'a')], { kind: 'in_force', first: undefined }],
    ['against a confirmation', none('bob'), [confirm('anna', 'a')], { kind: 'held', against: [confirm('anna', 'a')] }],
    [
      'the third, for one of two',
      none('carla'),
      [confirm('anna', 'a'), none('bob')],
      { kind: 'in_force', first: none('bob') },
    ],
    [
      'the third, for a third',
      confirm('carla', 'c'),
      [confirm('anna', 'a'), none('bob')],
      { kind: 'held', against: [confirm('anna', 'a'), none('bob')] },
    ],
    [
      'doubt',
      { decision: 'not_sure', candidateId: null, decidedBy: 'bob' } as const,
      [confirm('anna', 'a')],
      { kind: 'in_force', first: undefined },
    ],
  ])('%s', (_, said, waiting, expected) => {
    expect(weigh(said, waiting)).toEqual(expected);
  });
});

test('a person is the same in any case and with any spaces', () => {
  expect(isSamePerson('Anna  Schmidt', 'anna schmidt ')).toBe(true);
  expect(isSamePerson('Anna', 'Anne')).toBe(false);
});

test('what a row waits for', () => {
  expect(waitingInWords([confirm('anna', 'a')])).toEqual({
    code: 'SECOND_PERSON',
    message: 'waits for a second person: anna has said confirm',
  });
  expect(waitingInWords([confirm('anna', 'a'), confirm('bob', 'b')]).message).toBe(
    'two people disagree, a third may decide: anna has said confirm, bob has said confirm',
  );
});
