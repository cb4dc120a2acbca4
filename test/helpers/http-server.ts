import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TestServer {
  readonly origin: string;
  readonly requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
}

/** A bare server, for responses that the sandbox never sends. */
export async function withServer<T>(
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
  use: (server: TestServer) => Promise<T>,
): Promise<T> {
  const requests: TestServer['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response, body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    return await use({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests });
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

export const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};
