import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readKeys } from '../../../src/cli/terminal/io.js';

function withKeys() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => modes.push(on) });
  const keys = readKeys(input);
  return { input, keys, pressed: keys[Symbol.asyncIterator](), modes };
}

test('pasted text comes as many keys, an arrow as one', async () => {
  const { input, pressed } = withKeys();
  input.write('ab');
  expect([await pressed.next(), await pressed.next()].map(({ value }) => value)).toEqual(['a', 'b']);
  input.write('\u001b[A');
  expect((await pressed.next()).value).toBe('\u001b[A');
  input.end();
  expect((await pressed.next()).done).toBe(true);
});

test('keys pressed before are dropped, also keys not read yet', async () => {
  const { input, keys, pressed } = withKeys();
  input.write('11');
  expect((await pressed.next()).value).toBe('1');
  input.write('n');
  await keys.drop();
  input.write('q');
  expect((await pressed.next()).value).toBe('q');
});

test('an interrupt is not dropped', async () => {
  const { input, keys, pressed } = withKeys();
  input.write('1\u0003n');
  await keys.drop();
  expect((await pressed.next()).value).toBe('\u0003');
  input.write('q');
  expect((await pressed.next()).value).toBe('q');
});

test('the terminal is as before when listening ends', async () => {
  const { input, pressed, modes } = withKeys();
  await pressed.return?.();
  expect(modes).toEqual([true, false]);
  expect(input.listenerCount('data')).toBe(0);
});
