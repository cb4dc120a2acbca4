import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Ask, cpuMicroseconds, tell } from './messages.js';

/** The least that node:http can do: read the request to its end, send a constant body. */
let body = '';
let headers = { 'Content-Type': 'application/json', 'Content-Length': 0 };

const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0 }, (request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, headers).end(body));
});

process.on('message', (ask: Ask) => {
  if (ask.type === 'cpu') return tell({ type: 'cpu', microseconds: cpuMicroseconds() });
  body = 'x'.repeat(ask.bytes);
  headers = { ...headers, 'Content-Length': ask.bytes };
  tell({ type: 'sized' });
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  tell({ type: 'ready', origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
