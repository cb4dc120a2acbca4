import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const PROCESS = resolve(import.meta.dirname, 'process.mjs');

export interface Order {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly now: number;
  /** The number of disk checks after which it is nearly full. Null: never. */
  readonly freeAfter: number | null;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly now: number;
}

/** Sends commands to a process. A dead one is replaced by another that was started in advance. */
export class Operator {
  readonly #timeFile: string;
  readonly #cwd: string;
  #child: Promise<ChildProcess>;
  #spare: Promise<ChildProcess>;
  kills = 0;

  constructor(timeFile: string, cwd: string) {
    this.#timeFile = timeFile;
    this.#cwd = cwd;
    this.#child = this.#start();
    this.#spare = this.#start();
  }

  /** Undefined if it was killed before it ended. */
  async order(order: Order, killAfterMs: number | null): Promise<Ended | undefined> {
    const child = await this.#child;
    return await new Promise<Ended | undefined>((done, fail) => {
      const timer = killAfterMs === null ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      const onExit = (code: number | null, signal: NodeJS.Signals | null) => {
        this.#child = this.#spare;
        this.#spare = this.#start();
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

  async #start(): Promise<ChildProcess> {
    const child = fork(PROCESS, [this.#timeFile, this.#cwd], { stdio: 'inherit' });
    await once(child, 'message');
    return child;
  }

  async close(): Promise<void> {
    for (const child of await Promise.all([this.#child, this.#spare])) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
  }
}
