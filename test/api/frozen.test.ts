/** @module-tag long */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { withServer } from '../helpers/http-server.js';

const TRANSPORT = resolve(import.meta.dirname, '../../build/api/transport.js');

/** Sends the given number of requests at once, and reports how each ended. */
const CLIENT = `
  const { Transport } = await import(process.env.TRANSPORT);
  const http = new Transport({ baseUrl: process.env.ORIGIN, authorization: 'Bearer k', deadlineMs: 800 });
  const get = { method: 'GET', path: '/x', body: null };
  const ends = await Promise.allSettled(Array.from({ length: 4 }, () => http.send(get)));
  console.log(JSON.stringify(ends.map((end) => (end.status === 'fulfilled' ? end.value.body.length : end.reason.kind))));
  await http.close();
`;

test('V1-5 a process that was frozen beyond its deadlines reads received answers before it gives up', async () => {
  // More than the socket holds of the last one: the rest comes when the process reads again.
  const sizes = [0, 100_000, 1_000_000, 7_000_000];
  const waiting: (() => void)[] = [];
  await withServer(
    (_, response) => {
      const size = sizes[waiting.length] ?? 0;
      waiting.push(() => response.end(Buffer.alloc(size, 0x20)));
    },
    async ({ origin }) => {
      const env = { PATH: process.env.PATH ?? '', TRANSPORT, ORIGIN: origin };
      const child = spawn(process.execPath, ['--input-type=module', '-e', CLIENT], { env });
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      const ended = new Promise((closed) => child.on('close', closed));
      while (waiting.length < 4) await new Promise((turn) => setTimeout(turn, 5));
      child.kill('SIGSTOP');
      for (const answer of waiting) answer();
      // Longer than the deadline. How much longer does not matter.
      await new Promise((passed) => setTimeout(passed, 1_200));
      child.kill('SIGCONT');
      await ended;
      expect((JSON.parse(said) as number[]).toSorted((a, b) => a - b)).toEqual(sizes);
    },
  );
});
