import { Writable } from 'node:stream';
import cliProgress from 'cli-progress';
import { fitLine, type LinePart } from './fit-line.js';
import type { Io } from './io.js';

export interface Bar {
  update(done: number, parts: readonly LinePart[]): void;
  stop(): void;
}

/** A bar on stderr that fits the terminal. It leaves signals alone: an interrupt drains the run first. */
export function startBar(total: number, done: number, parts: readonly LinePart[], io: Io): Bar {
  const size = io.columns >= WIDE ? 20 : io.columns >= NARROW ? 10 : 0;
  // Beside the bar: " 100%  ", and the last column stays free, as some terminals begin a new line with it.
  const words = (of: readonly LinePart[]) => ({ words: fitLine(of, io.columns - size - 8) });
  const bar = new cliProgress.SingleBar({
    format: `${size === 0 ? '' : '{bar} '}{percentage}%  {words}`,
    barsize: size,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: terminal(io),
    gracefulExit: false,
    hideCursor: true,
    linewrap: false,
    emptyOnZero: true,
  });
  bar.start(total, done, words(parts));
  return { update: (value, of) => bar.update(value, words(of)), stop: () => bar.stop() };
}

/** Columns from which on there is room for a bar, and for a long one: words tell more. */
const WIDE = 120;
const NARROW = 70;

/** The bar wants a terminal stream; all that a command has is a way to write. */
function terminal(io: Io): NodeJS.WritableStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      io.draw(String(chunk));
      done();
    },
  });
  return Object.assign(stream, { isTTY: true });
}
