import { Writable } from 'node:stream';
import cliProgress from 'cli-progress';
import type { Io } from './io.js';

export interface Bar {
  update(done: number, words: string): void;
  stop(): void;
}

/** A bar on stderr. It leaves signals alone: an interrupt drains the run first. */
export function startBar(total: number, done: number, words: string, io: Io): Bar {
  const bar = new cliProgress.SingleBar({
    format: '{bar} {percentage}%  {words}',
    barsize: 20,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    stream: terminal(io),
    gracefulExit: false,
    hideCursor: true,
    linewrap: false,
    emptyOnZero: true,
  });
  bar.start(total, done, { words });
  return { update: (value, text) => bar.update(value, { words: text }), stop: () => bar.stop() };
}

/** The bar wants a terminal stream; all that a command has is a way to write. */
function terminal(io: Io): NodeJS.WritableStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      (io.draw ?? io.stderr)(String(chunk));
      done();
    },
  });
  return Object.assign(stream, { isTTY: true, columns: io.columns });
}
