import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Ask, Told } from './messages.js';

export interface ServerProcess {
  readonly origin: string;
  readonly keys: { readonly v1: string; readonly v2: string };
  cpuMicroseconds(): Promise<number>;
  /** The size of the constant body, for the bare server only. */
  setSize(bytes: number): Promise<void>;
  stop(): Promise<void>;
}

/** A server in its own process, so that client and server have a core each. */
export async function startServer(file: 'bare' | 'sandbox', args: readonly string[] = []): Promise<ServerProcess> {
  const child = fork(fileURLToPath(new URL(`./${file}.ts`, import.meta.url)), args);
  const told = (): Promise<Told> =>
    new Promise((resolve, reject) => {
      const ended = () => reject(new Error(`The ${file} server ended.`));
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message as Told);
      });
    });
  const ask = (question: Ask): Promise<Told> => {
    const answer = told();
    child.send(question);
    return answer;
  };
  const ready = await told();
  if (ready.type !== 'ready') throw new Error(`The ${file} server did not start.`);
  return {
    origin: ready.origin,
    keys: ready.keys ?? { v1: '', v2: '' },
    async cpuMicroseconds() {
      const answer = await ask({ type: 'cpu' });
      return answer.type === 'cpu' ? answer.microseconds : Number.NaN;
    },
    async setSize(bytes) {
      await ask({ type: 'size', bytes });
    },
    async stop() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
