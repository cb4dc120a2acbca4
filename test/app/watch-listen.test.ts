import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTo } from 'node:net';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type WatchListenView, watchListen } from '../../src/app/portfolio/watch-listen.js';
import { acquireLock } from '../../src/ledger/db/sqlite/connection.js';
import { Inbox } from '../../src/portfolio/watch/inbox.js';
import { systemClock } from '../../src/util/clock.js';
import { withFolder } from '../helpers/cli.js';
import { JumpingClock } from '../helpers/jumping-clock.js';
import { long } from '../helpers/long.js';

interface Listening {
  readonly port: number;
  readonly post: (path: string, body: string | Buffer, method?: string) => Promise<number>;
  /** The companies named by callbacks, as they are on disk. */
  readonly named: () => readonly string[];
  readonly end: () => Promise<WatchListenView>;
}

async function withListener(use: (listening: Listening, dataDir: string) => Promise<void>): Promise<void> {
  await withFolder(async (dataDir) => {
    const ended = new AbortController();
    let view: Promise<WatchListenView> | undefined;
    const port = await new Promise<number>((onListening, fail) => {
      const options = { dataDir, port: 0, pathSecret: SECRET, signal: ended.signal, onListening };
      view = watchListen(options, { env: {}, cwd: dataDir, clock: systemClock });
      view.catch(fail);
    });
    const end = () => {
      ended.abort();
      return view as Promise<WatchListenView>;
    };
    try {
      const post: Listening['post'] = async (path, body, method = 'POST') =>
        (await fetch(`http://127.0.0.1:${port}${path}`, { method, ...(method === 'POST' ? { body } : {}) })).status;
      await use({ port, post, named: () => readdirSync(join(dataDir, 'watch')).sort(), end }, dataDir);
    } finally {
      await end();
    }
  });
}

const SECRET = 'a-path_that.nobody~guesses';
const callback = (id: unknown) =>
  JSON.stringify({ company_data: { id, name: 'A' }, field: 'name', status: 'UPDATE', new_value: 'B', old_value: 'A' });

test('V2-13 a callback is answered once its company is on disk, one time, with its content', () =>
  withListener(async ({ post, named, end }, dataDir) => {
    // A nightly run may hold the data directory for hours.
    const lock = acquireLock(dataDir);
    try {
      expect(await post(`/${SECRET}`, callback('12'))).toBe(204);
      expect(await post(`/${SECRET}?x=1`, callback('12'))).toBe(204);
      expect(await post(`/${SECRET}`, '{"company_data":{"id":90071992547409931234}}')).toBe(204);
      expect(named()).toEqual(['12', '90071992547409931234']);
      expect(new Inbox(dataDir).told('12')).toBe(`${callback('12')}\n`);
    } finally {
      lock.release();
    }
    expect(await end()).toMatchObject({ taken: 2 });
  }));

test.each([
  ['a wrong path', '/', callback('1'), 404, 'wrong_path'],
  ['a path that begins like it', `/${SECRET}x`, callback('1'), 404, 'wrong_path'],
  ['that path and a slash', `/${SECRET}/`, callback('1'), 404, 'wrong_path'],
  ['more than 64 KB', `/${SECRET}`, callback('1'.repeat(65_536)), 413, 'too_large'],
  ['no JSON', `/${SECRET}`, '{"company_data":', 400, 'not_understood'],
  ['nothing', `/${SECRET}`, '', 400, 'not_understood'],
  ['another thing', `/${SECRET}`, '[1]', 400, 'not_understood'],
  ['an ID that is a way out of the folder', `/${SECRET}`, callback('../../kybatch.db'), 400, 'not_understood'],
  ['no ID', `/${SECRET}`, callback(null), 400, 'not_understood'],
  ['bytes that are no text', `/${SECRET}`, Buffer.from([0xff, 0xfe, 0x00]), 400, 'not_understood'],
] as const)('%s is refused and counted', (_, path, body, status, why) =>
  withListener(async ({ post, end }, dataDir) => {
    expect(await post(path, body)).toBe(status);
    expect(new Inbox(dataDir).waiting()).toEqual([]);
    const { taken, refused } = await end();
    expect([taken, refused[why]]).toEqual([0, 1]);
  }),
);

test('a request other than POST is refused, and a failed write is not reported as success', () =>
  withListener(async ({ post, end }, dataDir) => {
    expect(await post(`/${SECRET}`, '', 'GET')).toBe(405);
    writeFileSync(join(dataDir, 'watch'), '');
    expect(await post(`/${SECRET}`, callback('1'))).toBe(503);
    rmSync(join(dataDir, 'watch'));
    expect(await post(`/${SECRET}`, callback('1'))).toBe(204);
    expect(await end()).toMatchObject({ taken: 1, refused: { not_a_post: 1, not_written: 1 } });
  }));

test('a callback that began to arrive before the end is completed first', () =>
  withListener(async ({ port, named, end }) => {
    const body = callback('77');
    const socket = connectTo(port, '127.0.0.1');
    socket.write(`POST /${SECRET} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
    const answer = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => {
        text += String(chunk);
      });
      socket.on('close', () => resolve(text));
    });
    await new Promise<void>((resolve) => socket.write(body.slice(0, 10), () => resolve()));
    // Another answered request shows that this one arrived too.
    expect((await fetch(`http://127.0.0.1:${port}/${SECRET}`, { method: 'POST', body: callback('1') })).status).toBe(
      204,
    );
    const view = end();
    socket.write(body.slice(10));
    expect(await answer).toContain('204');
    expect(await view).toMatchObject({ taken: 2 });
    expect(named()).toEqual(['1', '77']);
  }));

long('open connections block no callback: the one that waited longest is dropped and counted', () =>
  withListener(async ({ port, post, end }) => {
    const idle = await Promise.all(
      Array.from({ length: 150 }, async (_, number) => {
        const socket = connectTo(port, '127.0.0.1').on('error', () => {});
        await once(socket, 'connect');
        // Half of the connections have sent nothing yet, and half have begun.
        if (number % 2 === 0) socket.write(`POST /${SECRET} HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{`);
        return socket;
      }),
    );
    expect(await post(`/${SECRET}`, callback('1'))).toBe(204);
    for (const socket of idle) socket.destroy();
    expect(await end()).toMatchObject({ taken: 1, refused: { crowded_out: 51 } });
  }),
);

test('an impossible port is refused with a message', () =>
  withFolder(async (dataDir) => {
    const options = { dataDir, port: 99_999, pathSecret: SECRET, signal: new AbortController().signal };
    await expect(watchListen(options, { env: {}, cwd: dataDir, clock: systemClock })).rejects.toMatchObject({
      exit: 2,
      code: 'PORT_UNUSABLE',
    });
  }));

test('if too many callbacks wait, another one is refused until they are read', () =>
  withFolder(async (dataDir) => {
    const inbox = new Inbox(dataDir, 2);
    expect([await inbox.put('1'), await inbox.put('2'), await inbox.put('3')]).toEqual(['kept', 'kept', 'full']);
    inbox.remove(['1', '2']);
    expect(await inbox.put('3')).toBe('kept');
  }));

test('X-6 a full inbox takes more about its companies, counts rarely, and says so once', () =>
  withFolder(async (dataDir) => {
    const inbox = new Inbox(dataDir, 2);
    const counted = vi.spyOn(inbox, 'waiting');
    await inbox.put('1');
    await inbox.put('2');
    for (let id = 3; id < 100; id++) expect(await inbox.put(String(id))).toBe('full');
    expect(await inbox.put('1', 'more')).toBe('kept');
    expect(counted.mock.calls.length).toBeLessThan(3);
    const ended = new AbortController();
    const notes: string[] = [];
    let view: Promise<WatchListenView> | undefined;
    const port = await new Promise<number>((onListening) => {
      const options = { dataDir, port: 0, pathSecret: SECRET, waitingAtMost: 2, signal: ended.signal, onListening };
      const onNote = ({ code }: { readonly code: string }) => notes.push(code);
      view = watchListen(options, { env: {}, cwd: dataDir, clock: systemClock, onNote });
    });
    for (const id of ['7', '8', '9'])
      expect((await fetch(`http://127.0.0.1:${port}/${SECRET}`, { method: 'POST', body: callback(id) })).status).toBe(
        503,
      );
    ended.abort();
    expect(await view).toMatchObject({ taken: 0, refused: { inbox_full: 3 } });
    expect(notes).toEqual(['INBOX_FULL']);
    expect(inbox.waiting()).toEqual(['1', '2']);
  }));

test('a silent or endless connection does not prevent the end', () =>
  withFolder(async (dataDir) => {
    const ended = new AbortController();
    let view: Promise<WatchListenView> | undefined;
    const port = await new Promise<number>((onListening) => {
      const options = { dataDir, port: 0, pathSecret: SECRET, signal: ended.signal, onListening };
      view = watchListen(options, { env: {}, cwd: dataDir, clock: new JumpingClock('2026-01-05T01:00:00Z') });
    });
    const sockets = ['', 'POST /', `POST /${SECRET} HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{`].map((said) => {
      const socket = connectTo(port, '127.0.0.1');
      socket.on('error', () => {});
      if (said !== '') socket.write(said);
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    ended.abort();
    expect(await view).toMatchObject({ taken: 0 });
  }));
