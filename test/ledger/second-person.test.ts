import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  combineWithWaiting,
  isPersonName,
  isSamePerson,
  type PersonDecision,
  waitingInWords,
} from '../../src/ledger/review/second-person.js';

const confirm = (decidedBy: string, candidateId: string): PersonDecision => ({
  decision: 'confirm',
  candidateId,
  decidedBy,
});
const none = (decidedBy: string): PersonDecision => ({ decision: 'none_of_these', candidateId: null, decidedBy });

describe('if two people are needed', () => {
  test.each([
    ['the first confirmation', confirm('anna', 'a'), [], { kind: 'held', against: [] }],
    [
      'another person for that candidate',
      confirm('bob', 'a'),
      [confirm('anna', 'a')],
      { kind: 'in_force', first: confirm('anna', 'a') },
    ],
    [
      'that name in another spelling',
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
    ['no candidate', none('anna'), [], { kind: 'in_force', first: undefined }],
    ['a change to no candidate', none('anna'), [confirm('anna', 'a')], { kind: 'in_force', first: undefined }],
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
    expect(combineWithWaiting(said, waiting)).toEqual(expected);
  });
});

test('a person’s name is equal in any case and with any spaces', () => {
  expect(isSamePerson('Anna  Schmidt', 'anna schmidt ')).toBe(true);
  expect(isSamePerson('Anna', 'Anne')).toBe(false);
});

describe('names', () => {
  const SAME = [
    'Ann\u00a0Müller',
    'Ann M\u200büller',
    'Ann Müller.',
    '\uff21nn Müller',
    "'Ann Müller",
    '\u02bcAnn Müller',
  ];
  const MORE = ['Ann\tMüller', 'AnnMüller', 'Ann\u00adMüller', '=ANN MU\u0308LLER\u3164', 'ann muller', 'Ann-Müller'];
  test.each([...SAME, ...MORE])('%j is Ann Müller', (name) => expect(isSamePerson('Ann Müller', name)).toBe(true));

  test.each([
    ['Łukasz Øre', 'Lukasz Ore'],
    ['Đorđe Ħaż', 'Dorde Haz'],
    ['ÁŦŦE ǾRE', 'atte øre'],
    ['Æsa Œuvrard', 'aesa oeuvrard'],
    ['Weiß', 'WEISS'],
    ['Yıldız', 'YILDIZ'],
  ])('%j is %j', (name, plain) => expect(isSamePerson(name, plain)).toBe(true));

  test('a name is equal with any characters between its letters, in any case and form', () => {
    const person = fc.string({ unit: fc.constantFrom(...'abzÀéßøłħæıñ日本7'), minLength: 1 });
    const between = fc.constantFrom(
      ...[' ', '\t', '\u200b', '\u00ad', '\ufeff', '.', "'", '’', '\u0301', '\u2060', '-', '\u3164'],
    );
    const form = fc.constantFrom('NFC', 'NFD', 'NFKC', 'NFKD');
    fc.assert(
      fc.property(person, fc.array(between), form, fc.boolean(), (name, put, normal, upper) => {
        const spelt = [...name].map((letter, at) => `${put[at] ?? ''}${letter}`).join('') + put.join('');
        const typed = (upper ? spelt.toUpperCase() : spelt.toLowerCase()).normalize(normal);
        expect(isSamePerson(name, typed)).toBe(true);
        expect(isSamePerson(name, `${typed}x`)).toBe(false);
        expect([isPersonName(typed), isPersonName(put.join(''))]).toEqual([true, false]);
      }),
    );
  });
});

test('the message of a waiting row', () => {
  expect(waitingInWords([confirm('anna', 'a')])).toEqual({
    code: 'SECOND_PERSON',
    message: expect.stringMatching(/: anna .* confirm$/),
  });
  expect(waitingInWords([confirm('anna', 'a'), confirm('bob', 'b')]).message).toMatch(
    /: anna .* confirm, bob .* confirm$/,
  );
});
