import { expect, test } from 'vitest';
import { Deadline, Transport } from '../../src/api/transport.js';
import { withServer } from '../helpers/http-server.js';
import { long } from '../helpers/long.js';

/** Freezes the process: none of its code runs. */
const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const turn = () => new Promise((done) => setImmediate(done));

long('a pause of the whole process does not count against a deadline', async () => {
  let over = false;
  let end = () => {};
  const ended = new Promise<void>((done) => {
    end = done;
  });
  new Deadline(100, () => {
    over = true;
    end();
  });
  standStill(700);
  await turn();
  await turn();
  expect(over).toBe(false);
  await ended;
});

test('a finished call cancels its deadline', async () => {
  let over = false;
  const deadline = new Deadline(1, () => {
    over = true;
  });
  deadline.clear();
  standStill(5);
  await turn();
  await turn();
  expect(over).toBe(false);
});

test('V1-5 a request that could not be sent by its deadline is not sent after it', async () => {
  await withServer(
    (_, response) => response.end('{}'),
    async ({ origin, requests }) => {
      const http = new Transport({ baseUrl: origin, authorization: 'Bearer k', deadlineMs: 1 });
      try {
        const call = http.send({ method: 'GET', path: '/x', body: null });
        standStill(20);
        await expect(call).rejects.toMatchObject({ kind: 'timeout', sent: false });
        await turn();
        expect(requests).toEqual([]);
      } finally {
        await http.close();
      }
    },
  );
});
