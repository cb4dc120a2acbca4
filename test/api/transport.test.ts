import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { TransportError } from '../../src/api/http.js';
import { Transport, type TransportOptions } from '../../src/api/transport.js';
import { json, withServer } from '../helpers/http-server.js';

const KEY = 'canary-key-0123456789';
const get = { method: 'GET', path: '/x?y=1', body: null } as const;

function transport(origin: string, options: Partial<TransportOptions> = {}): Transport {
  return new Transport({ baseUrl: `${origin}/api/v1/`, authorization: `Bearer ${KEY}`, ...options });
}

async function failure(promise: Promise<unknown>): Promise<TransportError> {
  const error = await promise.then(
    () => new Error('expected a failure'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof TransportError)) throw error;
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(KEY);
  return error;
}

describe('Transport', () => {
  test('returns the exact bytes and sends the key to the base URL', async () => {
    await withServer(
      (_, response) => json(response, 200, '{"a":1.10}', { 'X-Service-Units': '1' }),
      async ({ origin, requests }) => {
        const http = transport(origin);
        const exchange = await http.send({ method: 'POST', path: '/kyb/search', body: '{"name":"Ä"}' });
        expect(exchange.body.toString()).toBe('{"a":1.10}');
        expect(exchange.headers['x-service-units']).toBe('1');
        expect(requests[0]).toMatchObject({ method: 'POST', url: '/api/v1/kyb/search', body: '{"name":"Ä"}' });
        expect(requests[0]?.headers).toMatchObject({
          authorization: `Bearer ${KEY}`,
          'content-type': 'application/json',
        });
        expect(inspect(http, { depth: 10, showHidden: true })).not.toContain(KEY);
        await http.close();
      },
    );
  });

  const written =
    (...pieces: readonly string[]) =>
    (response: ServerResponse) => {
      for (const piece of pieces) response.socket?.write(piece);
    };
  test.each<[string, (response: ServerResponse) => void]>([
    ['100 Continue', (response) => response.writeContinue()],
    ['102 Processing', (response) => response.writeProcessing()],
    ['103 Early Hints', (response) => response.writeEarlyHints({ link: '</a>; rel=preload' })],
    ['several of them', written('HTTP/1.1 100 Continue\r\n\r\n'.repeat(3), 'HTTP/1.1 103 Hints\r\nA: b\r\n\r\n')],
    ['one in pieces', written(...'HTTP/1.1 100 Continue\r\nA: b\r\n\r\n')],
    ['one without a name', written('HTTP/1.1 199\r\n\r\n')],
  ])('an answer after %s is not lost, nor is the next on its connection', async (_, before) => {
    await withServer(
      (_request, response, body) => {
        before(response);
        setImmediate(() => json(response, 200, body || '{"a":1}', { 'X-Service-Units': '1' }));
      },
      async ({ origin, requests }) => {
        const http = transport(origin);
        for (const body of ['{"name":"HTTP/1.1 100 "}', null, '{}'].values()) {
          const exchange = await http.send({ method: body === null ? 'GET' : 'POST', path: '/x', body });
          expect(exchange).toMatchObject({ status: 200, headers: { 'x-service-units': '1' } });
          expect(exchange.body.toString()).toBe(body ?? '{"a":1}');
        }
        expect(requests).toHaveLength(3);
        await http.close();
      },
    );
  });

  test('V1-9 follows no redirect: the key stays with its origin', async () => {
    await withServer(
      (_, response) => json(response, 200, '{}'),
      async (elsewhere) => {
        await withServer(
          (_, response) => json(response, 302, '', { location: `${elsewhere.origin}/steal` }),
          async ({ origin }) => {
            const http = transport(origin);
            expect((await http.send(get)).status).toBe(302);
            expect(elsewhere.requests).toEqual([]);
            await http.close();
          },
        );
      },
    );
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('decodes %s', async (encoding, compress) => {
    await withServer(
      (_, response) => {
        response.writeHead(200, { 'content-encoding': encoding });
        response.end(compress('{"name":"Ünïcode"}'));
      },
      async ({ origin }) => {
        const http = transport(origin);
        expect((await http.send(get)).body.toString()).toBe('{"name":"Ünïcode"}');
        await http.close();
      },
    );
  });

  test('limits the decoded size, so that a gzip bomb does not pass', async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000, 0x20));
    expect(bomb.length).toBeLessThan(100_000);
    await withServer(
      (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(bomb);
      },
      async ({ origin }) => {
        const http = transport(origin, { maxBodyBytes: 1_000_000 });
        expect(await failure(http.send(get))).toMatchObject({ kind: 'too_large', sent: true });
        await http.close();
      },
    );
  });

  test('cuts an endless plain body at the limit while it streams', async () => {
    await withServer(
      (_, response) => {
        response.writeHead(200);
        const more = () => {
          while (response.write(Buffer.alloc(65_536)));
          response.once('drain', more);
        };
        more();
      },
      async ({ origin }) => {
        const http = transport(origin, { maxBodyBytes: 500_000 });
        expect(await failure(http.send(get))).toMatchObject({ kind: 'too_large', sent: true });
        await http.close();
      },
    );
  });

  test('V1-6 has one deadline for the whole exchange, including a slow body', async () => {
    await withServer(
      (_, response) => {
        response.writeHead(200);
        response.write('{');
        const drip = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(drip));
      },
      async ({ origin }) => {
        const http = transport(origin, { deadlineMs: 60 });
        expect(await failure(http.send(get))).toMatchObject({ kind: 'timeout', sent: true });
        await http.close();
      },
    );
  });

  test('V1-5 a connection lost in the middle of the body may have been charged', async () => {
    await withServer(
      (_, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"half":', () => response.destroy());
      },
      async ({ origin }) => {
        const http = transport(origin);
        expect(await failure(http.send(get))).toMatchObject({ kind: 'reset', sent: true });
        await http.close();
      },
    );
  });

  test('a refused connection was certainly not sent', async () => {
    const origin = await withServer(
      (_, response) => response.end(),
      async (server) => server.origin,
    );
    const http = transport(origin);
    expect(await failure(http.send(get))).toMatchObject({ kind: 'unreachable', sent: false });
    await http.close();
  });

  test('V1-5 a frozen process does not send a late request when it wakes, because another may have sent it', async () => {
    await withServer(
      (_, response) => json(response, 200, '{}'),
      async ({ origin, requests }) => {
        const http = transport(origin);
        vi.useFakeTimers({ toFake: ['performance'] });
        try {
          const late = http.send(get);
          vi.advanceTimersByTime(23_000);
          expect(await failure(late)).toMatchObject({ kind: 'unreachable', sent: false });
        } finally {
          vi.useRealTimers();
        }
        expect(requests).toEqual([]);
        expect((await http.send(get)).status).toBe(200);
        await http.close();
      },
    );
  });

  test('an abort ends the call, before and after sending', async () => {
    await withServer(
      () => {},
      async ({ origin }) => {
        const http = transport(origin);
        expect(await failure(http.send(get, AbortSignal.abort(new Error('over'))))).toMatchObject({
          kind: 'aborted',
          sent: false,
        });
        const controller = new AbortController();
        const pending = failure(http.send(get, controller.signal));
        setTimeout(() => controller.abort(new Error('over')), 20);
        expect(await pending).toMatchObject({ kind: 'aborted', sent: true });
        await http.close();
      },
    );
  });

  test('an unknown or damaged content encoding is distinguished from a lost answer', async () => {
    for (const [encoding, bytes] of [
      ['zstd', Buffer.from('x')],
      ['gzip', Buffer.from('not gzip')],
      ['constructor', Buffer.from('{}')],
    ] as const) {
      await withServer(
        (_, response) => {
          response.writeHead(200, { 'content-encoding': encoding });
          response.end(bytes);
        },
        async ({ origin }) => {
          const http = transport(origin);
          expect(await failure(http.send(get))).toMatchObject({ kind: 'encoding', sent: true });
          await http.close();
        },
      );
    }
  });
});
