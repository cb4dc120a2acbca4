import { setImmediate } from 'node:timers/promises';
import type { Keys } from '../../review/keys.js';

/** What of a terminal's input is needed. */
export interface KeyInput {
  setRawMode(on: boolean): unknown;
  setEncoding(encoding: 'utf8'): unknown;
  on(event: 'data', listener: (text: string) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  off(event: 'data', listener: (text: string) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
  pause(): unknown;
}

/** Keys from the terminal, unechoed and without waiting for Enter. The terminal is as before when listening ends. */
export function readKeys(input: KeyInput = process.stdin): Keys {
  let pressed: string[] = [];
  let ended = false;
  let wake = () => {};
  const take = (text: string) => {
    // An arrow or function key comes as one sequence; pasted text comes as many keys.
    pressed.push(...(text.startsWith('\u001b') ? [text] : text));
    wake();
  };
  const end = () => {
    ended = true;
    wake();
  };
  input.setRawMode(true);
  input.setEncoding('utf8');
  input.on('data', take);
  input.on('end', end);
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        while (pressed.length === 0 && !ended)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const key = pressed.shift();
        return key === undefined ? { done: true, value: undefined } : { done: false, value: key };
      },
      async return() {
        input.off('data', take);
        input.off('end', end);
        input.setRawMode(false);
        input.pause();
        return { done: true, value: undefined };
      },
    }),
    async drop() {
      // What the terminal holds comes when it is looked at, which is once in a turn, between one such wait and the next.
      do {
        pressed = pressed.filter(isInterrupt);
        await setImmediate();
        await setImmediate();
      } while (!pressed.every(isInterrupt) && !ended);
    },
  };
}

/** Whoever wants to leave means it whatever is on the screen. */
const isInterrupt = (key: string): boolean => key === '\u0003';
