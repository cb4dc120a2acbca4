import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../util/clock.js';
import type { FailAfterWork, Fault } from './faults.js';
import { write } from './json.js';
import type { Reply } from './messages.js';
import { json } from './v2/errors.js';

export interface Delivery {
  readonly clock: Clock;
  readonly closing: AbortSignal;
  acceptsGzip(): boolean;
  /** Compress ordinary answers too. */
  readonly gzip: boolean;
  /** Called when the answer does not go out whole. */
  damaged(): void;
}

const hugeBytes = 96 * 1024 * 1024;
const dripPieces = 16;
const dripPauseMs = 40;

/** Sends an executed answer, in the way the fault says. */
export function deliver(response: ServerResponse, reply: Reply, fault: Fault | undefined, delivery: Delivery): void {
  response.once('close', () => {
    if (!response.writableFinished) delivery.damaged();
  });
  if (
    fault === 'lostAnswer' ||
    fault === 'resetMidBody' ||
    fault === 'truncatedJson' ||
    fault === 'hugeBody' ||
    fault === 'gzipBomb'
  ) {
    delivery.damaged();
  }
  if (failsAfterWork(reply, fault)) {
    delivery.damaged();
    send(response, failureInPlaceOf(fault), delivery);
  } else if (fault === 'lostAnswer') reset(response);
  else if (fault === 'resetMidBody') cutInTheMiddle(response, reply);
  else if (fault === 'slowDrip') void drip(response, reply, delivery);
  else if (fault === 'gzipBomb' && delivery.acceptsGzip()) bomb(response, reply);
  else if (fault === 'hugeBody' || fault === 'gzipBomb') void flood(response, reply);
  else send(response, altered(reply, fault), delivery);
}

function altered(reply: Reply, fault: Fault | undefined): Reply {
  if (fault === undefined) return reply;
  if (fault === 'truncatedJson') return { ...reply, body: reply.body.slice(0, Math.floor(reply.body.length * 0.6)) };
  if (fault === 'wrongContentType') {
    return { ...reply, headers: { ...reply.headers, 'Content-Type': 'text/html; charset=utf-8' } };
  }
  if (typeof fault !== 'object' || !('rewrite' in fault)) return reply;
  return { ...reply, body: typeof fault.rewrite === 'string' ? fault.rewrite : fault.rewrite(reply.body.toString()) };
}

/** What was refused has done no work: it stays refused. */
const failsAfterWork = ({ status }: Reply, fault: Fault | undefined): fault is FailAfterWork =>
  typeof fault === 'object' && 'failAfterWork' in fault && status < 300;

const failureInPlaceOf = ({ failAfterWork, text }: FailAfterWork): Reply =>
  text === undefined
    ? { status: failAfterWork, headers: json, body: write({ detail: 'A server error occurred.' }) }
    : { status: failAfterWork, headers: { 'Content-Type': 'text/html' }, body: text };

/** The client sees its connection reset. */
export function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

function send(response: ServerResponse, reply: Reply, delivery: Delivery): void {
  if (delivery.gzip && reply.body.length > 1_000 && delivery.acceptsGzip()) {
    const packed = gzipSync(reply.body);
    response.writeHead(reply.status, { ...reply.headers, 'Content-Encoding': 'gzip', 'Content-Length': packed.length });
    response.end(packed);
    return;
  }
  response.writeHead(reply.status, { ...reply.headers, 'Content-Length': Buffer.byteLength(reply.body) });
  response.end(reply.body);
}

const bytesOf = ({ body }: Reply): Buffer => (typeof body === 'string' ? Buffer.from(body) : body);

function cutInTheMiddle(response: ServerResponse, reply: Reply): void {
  const bytes = bytesOf(reply);
  response.writeHead(reply.status, { ...reply.headers, 'Content-Length': bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroy());
}

async function drip(response: ServerResponse, reply: Reply, { clock, closing }: Delivery): Promise<void> {
  const bytes = bytesOf(reply);
  const size = Math.max(1, Math.ceil(bytes.length / dripPieces));
  response.writeHead(reply.status, { ...reply.headers, 'Content-Length': bytes.length });
  try {
    for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
      response.write(bytes.subarray(start, start + size));
      await clock.sleep(dripPauseMs, closing);
    }
  } catch {
    response.socket?.destroy();
    return;
  }
  response.end();
}

async function flood(response: ServerResponse, reply: Reply): Promise<void> {
  const { 'Content-Length': _length, ...headers } = reply.headers;
  response.writeHead(reply.status, headers);
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  for (let sent = 0; sent < hugeBytes && !response.destroyed; sent += chunk.length) {
    if (!response.write(chunk)) await drained(response);
  }
  response.end(reply.body);
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}

/** A gzip stream may have many members: one member of a megabyte of blanks, sent many times, is a few dozen kilobytes. */
function bomb(response: ServerResponse, reply: Reply): void {
  const member = gzipSync(Buffer.alloc(1024 * 1024, ' '));
  const packed = Buffer.concat([
    ...Array.from({ length: hugeBytes / (1024 * 1024) }, () => member),
    gzipSync(reply.body),
  ]);
  response.writeHead(reply.status, { ...reply.headers, 'Content-Encoding': 'gzip', 'Content-Length': packed.length });
  response.end(packed);
}
