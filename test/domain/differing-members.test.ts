import { expect, test } from 'vitest';
import { differingMembers } from '../../src/domain/change.js';

test.each([
  ['{"a":"x","b":1.10}', '{"a":"y","b":1.10}', [{ path: 'a', old: 'x', new: 'y' }]],
  ['{"a":1.10}', '{"a":1.1}', [{ path: 'a', old: '1.10', new: '1.1' }]],
  [
    '{"a":{"b":"x","c":[1]}}',
    '{"a":{"c":[1,2]}}',
    [
      { path: 'a.b', old: 'x', new: null },
      { path: 'a.c', old: '[1]', new: '[1,2]' },
    ],
  ],
  ['{"a":null}', '{}', []],
  ['{"a":1}', 'text', undefined],
  [null, '{"a":1}', undefined],
  ['{broken', '{"a":1}', undefined],
])('%s and %s differ in their members', (old, now, expected) => {
  expect(differingMembers(old, now)).toEqual(expected);
});
