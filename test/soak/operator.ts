import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const PROCESS = resolve(import.meta.dirname, 'process.mjs');

export interface Order {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly now: number;
  /** Looks at the disk after which it is nearly full; null: it never is. */
  readonly freeAfter: number | null;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly now: number;
}

/** Gives orders to a process, and starts another one when it has died. */
export class Operator {
  readonly #timeFile: string;
  readonly #cwd: string;
  #child: ChildProcess | undefined;
  kills = 0;

  constructor(timeFile: string, cwd: string) {
    this.#timeFile = timeFile;
    this.#cwd = cwd;
  }

  /** Undefined if it was killed before it had ended. */
  async order(order: Order, killAfterMs: number | null): Promise<Ended | undefined> {
    const child = await this.#living();
    return await new Promise<Ended | undefined>((done, fail) => {
      const timer = killAfterMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
        this.#child = undefined;
        this.kills += 1;
        if (signal === 'SIGKILL') done(undefined);
        else fail(new Error(`the process ended with ${code ?? signal} at ${order.args.join(' ')}`));
      };
      child.once('exit', onExit);
      child.once('message', (ended) => {
        clearTimeout(timer);
        child.off('exit', onExit);
        done(ended as Ended);
      });
      child.send(order);
    });
  }

  async #living(): Promise<ChildProcess> {
    if (this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null)
      return this.#child;
    this.#child = fork(PROCESS, [this.#timeFile, this.#cwd], { stdio: 'inherit' });
    await once(this.#child, 'message');
    return this.#child;
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}
