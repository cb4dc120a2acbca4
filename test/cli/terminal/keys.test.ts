import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readKeys } from '../../../src/cli/terminal/io.js';

function withKeys() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (on: boolean) => modes.push(on) });
  const clock = { ms: 0 };
  const keys = readKeys(input, () => clock.ms);
  const pressed = keys[Symbol.asyncIterator]();
  /** Presses a key this long after the last one, and returns the accepted keys. */
  const after = async (ms: number, key: string) => {
    clock.ms += ms;
    input.write(key);
    return (await pressed.next()).value;
  };
  return { input, keys, pressed, after, modes };
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
  const { input, keys, after } = withKeys();
  expect(await after(0, '11')).toBe('1');
  input.write('n');
  await keys.drop();
  expect(await after(5_000, 'q')).toBe('q');
});

test('an interrupt is not dropped', async () => {
  const { input, keys, pressed, after } = withKeys();
  input.write('1\u0003n');
  await keys.drop();
  expect((await pressed.next()).value).toBe('\u0003');
  expect(await after(10, '\u0003')).toBe('\u0003');
});

test.each([
  ['a held key', 30, '1'],
  ['a number that is typed', 250, '2'],
  ['a pasted text', 0, '112115'],
])('%s answers at most one question, and a key after a pause answers the next one', async (_, ms, text) => {
  const { keys, after } = withKeys();
  expect(await after(0, text)).toBe(text[0]);
  await keys.drop();
  for (let times = 0; times < 40; times += 1) expect(await after(ms, text)).toBe('');
  expect(await after(2_000, 'n')).toBe('n');
  expect(await after(1, 'n')).toBe('n');
});

test('the terminal is as before when listening ends', async () => {
  const { input, pressed, modes } = withKeys();
  await pressed.return?.();
  expect(modes).toEqual([true, false]);
  expect(input.listenerCount('data')).toBe(0);
});
