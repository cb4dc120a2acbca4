import type { Surroundings } from '../app/surroundings.js';
import { outsideText } from '../util/outside-text.js';
import type { Io } from './terminal/io.js';
import { PlanningDisplay } from './terminal/planning.js';

/** What a use case sees of a command's surroundings. */
export function aroundOf(io: Io): Surroundings {
  const { env, cwd, clock, freeBytes, stdin, stderr } = io;
  const planning = new PlanningDisplay(io);
  return {
    env,
    cwd,
    clock,
    onNote: (note) => {
      planning.clear();
      stderr(`warning: ${outsideText(note)}\n`);
    },
    onReading: (progress) => {
      if (progress === null) planning.clear();
      else planning.rows(progress.rows, progress.share);
    },
    ...(stdin === undefined ? {} : { stdin }),
    ...(freeBytes === undefined ? {} : { freeBytes }),
  };
}
