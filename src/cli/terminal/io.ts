import type { Keys } from '../../review/keys.js';
import type { Clock } from '../../util/clock.js';
import { inert } from '../../util/outside-text.js';
import { withPlace } from './text.js';

/** What asks a command to stop: a key, the system, or a terminal that goes away. */
export type Interrupt = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Everything the command line sees of the outside. Tests hand in their own. */
export interface Outside {
  /** What a command was asked for, and nothing else: `kybatch usage > usage.txt` has all of it. */
  readonly stdout: (text: string) => void;
  /** Progress, notes and errors. */
  readonly stderr: (text: string) => void;
  /** What is piped in, to be read once. Absent where a person sits at the terminal. */
  readonly stdin?: (() => AsyncIterable<Uint8Array>) | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** A person sits at the terminal: questions may be asked, a bar may be drawn. */
  readonly interactive: boolean;
  readonly columns: number;
  /** Absent where nobody knows. */
  readonly rows?: number | undefined;
  /** The keys a person presses, one at a time, for as long as they are listened to. Absent without a terminal. */
  readonly keys?: (() => Keys) | undefined;
  /** Puts a question to the person and resolves with the answer; undefined if there was none. Absent without a terminal. */
  readonly ask?: ((question: string) => Promise<string | undefined>) | undefined;
  /** Bytes that can still be written where a path is. Absent: the file system is asked. */
  readonly freeBytes?: ((path: string) => number | undefined) | undefined;
  /** Calls back on every interrupt; returns the way to stop listening. */
  readonly onInterrupt: (listener: (signal: Interrupt) => void) => () => void;
}

/**
 * The same for a command. What it was asked for goes to `stdout`. On stderr: `stderr` for progress and notes, which
 * --quiet silences; `alert` for what is said all the same: errors, and what a question to a person is about.
 */
export interface Io extends Outside {
  readonly alert: (text: string) => void;
  /** Progress, with the sequences by which the bar moves the cursor. Nothing from outside is drawn. */
  readonly draw: (text: string) => void;
}

/**
 * A terminal to which nothing is printed that would steer it, and no key: whatever got into a text, and from where.
 * `quiet`: nothing goes to stderr but alerts and questions. `place`: the flag that names the data directory, which what is
 * suggested on stderr is to carry.
 */
export function guarded(outside: Outside, { quiet, place }: { readonly quiet: boolean; readonly place: string }): Io {
  const { stdout, stderr, ask } = outside;
  const alert = (text: string) => stderr(inert(withPlace(text, place)));
  return {
    ...outside,
    // A window may be made narrower while the bar is drawn.
    get columns() {
      return outside.columns;
    },
    get rows() {
      return outside.rows;
    },
    stdout: (text) => stdout(inert(text)),
    stderr: quiet ? () => {} : alert,
    alert,
    draw: quiet ? () => {} : stderr,
    ask: ask && ((question) => ask(inert(question))),
  };
}
