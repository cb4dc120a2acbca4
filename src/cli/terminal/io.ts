import type { Clock } from '../../util/clock.js';
import { inert } from '../../util/outside-text.js';

/** What asks a command to stop: a key, the system, or a terminal that goes away. */
export type Interrupt = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Everything a command sees of the outside. Tests hand in their own. */
export interface Io {
  /** Results, and nothing else, go to stdout; what people read goes to stderr. */
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  /** To stderr, with the sequences by which the bar moves the cursor. Nothing from outside is drawn. */
  readonly draw?: ((text: string) => void) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** A person sits at the terminal: questions may be asked, a bar may be drawn. */
  readonly interactive: boolean;
  readonly columns: number;
  /** The keys a person presses, one at a time, for as long as they are listened to. Absent without a terminal. */
  readonly keys?: (() => AsyncIterable<string>) | undefined;
  /** Puts a question to the person and resolves with the answer; undefined if there was none. Absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string | undefined>) | undefined;
  /** Bytes that can still be written where a path is. Absent: the file system is asked. */
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
  /** Calls back on every interrupt; returns the way to stop listening. */
  readonly onInterrupt: (listener: (signal: Interrupt) => void) => () => void;
}

/** The same terminal, to which nothing is printed that would steer it, and no key: whatever got into a text, and from where. */
export function guarded(io: Io): Io {
  const { stdout, stderr, ask, draw = stderr } = io;
  return {
    ...io,
    stdout: (text) => stdout(inert(text)),
    stderr: (text) => stderr(inert(text)),
    draw,
    ask: ask && ((question) => ask(inert(question))),
  };
}
