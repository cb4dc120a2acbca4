import { guarded, type Io } from '../../../src/cli/terminal/io.js';
import { ManualClock } from '../../../src/util/clock.js';

/** A terminal that keeps its output. */
export function terminalOf(options: Partial<Pick<Io, 'columns' | 'clock' | 'interactive'>> = {}) {
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  const outside = {
    stdout: print,
    stderr: print,
    env: {},
    cwd: '/',
    clock: new ManualClock(),
    interactive: true,
    columns: 100,
    onInterrupt: () => () => {},
    ...options,
  };
  const io = guarded(outside, { quiet: false, plain: false, json: false, place: '' });
  return { io, printed: () => printed };
}
