import type { Surroundings } from '../app/surroundings.js';
import { outsideText } from '../util/outside-text.js';
import type { Io } from './terminal/io.js';

/** What a use case sees of a command's surroundings. */
export const aroundOf = ({ env, cwd, clock, freeBytes, stdin, stderr }: Io): Surroundings => ({
  env,
  cwd,
  clock,
  onNote: (note) => stderr(`warning: ${outsideText(note)}\n`),
  ...(stdin === undefined ? {} : { stdin }),
  ...(freeBytes === undefined ? {} : { freeBytes }),
});
