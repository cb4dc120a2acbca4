// The HTTP server of the sandbox: applies faults, routes requests and sends answers.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../util/clock.js';
import {
  drawFault,
  drawLatencyMs,
  type FailAfterWork,
  type Fault,
  type Faults,
  type LoggedRequest,
  type RequestLog,
  type Script,
} from './faults.js';
import { parseIfJson, writeJson } from './json.js';
import { answerMcp, mcpOperation, mcpPath } from './mcp.js';
import { acceptedFields, type ProviderState } from './provider-state.js';
import { isObject, jsonHeaders, type Match, type ReceivedRequest, type Reply, type Router } from './requests.js';
import { answerV1, type V1Operation, v1Router } from './v1.js';
import { answerV2, type V2Route } from './v2/index.js';

export interface ServerContext {
  readonly world: ProviderState;
  readonly v2Router: Router<V2Route>;
  readonly script: Script;
  readonly log: RequestLog;
  faults: Faults;
  origin: string;
  /** Request IDs differ between the processes that share a journal. */
  readonly boot: number;
}

interface Routed {
  readonly api: 'v1' | 'v2' | 'mcp' | 'none';
  readonly path: string;
  readonly match: Match<V1Operation> | Match<V2Route> | undefined;
}

export function createHandler(front: ServerContext): (request: IncomingMessage, response: ServerResponse) => void {
  let sequence = 0;
  return (request, response) => {
    sequence += 1;
    const number = sequence;
    readBody(request, (body, bodyBytes) => handle(front, number, request, response, body, bodyBytes));
  };
}

export const v1Base = '/api/v1';
export const v2Base = '/api/v2';
const v1Root = `${v1Base}/`;
const v2Root = `${v2Base}/`;

/** Bytes kept of a body. Further bytes are counted and dropped. */
const keptBytes = 1024 * 1024;
const patienceBytes = 16 * 1024 * 1024;

function readBody(request: IncomingMessage, done: (body: string, bytes: number) => void): void {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) {
    done('', 0);
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= keptBytes) chunks.push(chunk);
    else if (bytes > patienceBytes) request.destroy();
  });
  request.on('end', () => {
    const only = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    done(only?.toString('utf8') ?? '', bytes);
  });
}

function handle(
  front: ServerContext,
  sequence: number,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  bodyBytes: number,
): void {
  const { world } = front;
  // Tests set the sandbox's clock, and clients compare this date with their own.
  response.setHeader('Date', new Date(world.settings.clock.now()).toUTCString());
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  const fullPath = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? '' : url.slice(mark + 1);
  const method = request.method ?? 'GET';
  const routed = route(front, method, fullPath);
  const requestId = `req_${front.boot.toString(36)}_${sequence.toString(36).padStart(6, '0')}`;
  const operation =
    routed.api === 'mcp'
      ? mcpOperation(method, body)
      : routed.match?.kind === 'found'
        ? routed.match.route.operation
        : undefined;
  const { headers } = request;
  const seen: LoggedRequest = {
    api: routed.api,
    operation,
    method,
    path: fullPath,
    sequence,
    requestId,
    query,
    headers,
    body,
  };
  front.log.add(seen);

  const fault = faultFor(front, seen);
  const proceed = () => {
    if (response.destroyed || beforeExecution(front, response, fault)) return;
    const intake: ReceivedRequest = {
      requestId,
      method,
      path: routed.path,
      query,
      authorization: headers.authorization,
      contentType: headers['content-type'],
      headers,
      body,
      bodyBytes,
      injected:
        typeof fault === 'number'
          ? { status: fault }
          : typeof fault === 'object' && 'status' in fault
            ? fault
            : undefined,
    };
    const reply = execute(front, intake, routed);
    if (reply instanceof Promise)
      reply.then((late) => deliver(world, request, response, late, fault)).catch(() => reset(response));
    else deliver(world, request, response, reply, fault);
  };
  const latencyMs =
    typeof fault === 'object' && 'latencyMs' in fault
      ? fault.latencyMs
      : drawLatencyMs(front.faults, world.settings.seed, sequence);
  if (latencyMs > 0) world.settings.clock.sleep(latencyMs, world.closing).then(proceed, () => reset(response));
  else proceed();
}

function faultFor({ script, faults, world }: ServerContext, seen: LoggedRequest): Fault | undefined {
  if (seen.api === 'none') return undefined;
  const fault = script.take(seen) ?? drawFault(faults, world.settings.seed, seen.sequence, seen.operation);
  return seen.api === 'v1' && typeof fault === 'object' && 'failAfterWork' in fault ? undefined : fault;
}

function route(front: ServerContext, method: string, path: string): Routed {
  if (path.startsWith(v1Root)) {
    const inner = path.slice(v1Base.length);
    return { api: 'v1', path: inner, match: v1Router.match(method, inner) };
  }
  if (path.startsWith(v2Root)) {
    const inner = path.slice(v2Base.length);
    return { api: 'v2', path: inner, match: front.v2Router.match(method, inner) };
  }
  return { api: path === mcpPath ? 'mcp' : 'none', path, match: undefined };
}

/** Applies faults that prevent execution. True if the request is finished. */
function beforeExecution(front: ServerContext, response: ServerResponse, fault: Fault | undefined): boolean {
  if (fault === 'hang') return true;
  if (fault === 'resetBefore') {
    reset(response);
    return true;
  }
  if (fault === 'redirect') {
    response.writeHead(302, { Location: `${front.origin}/elsewhere`, 'Content-Length': 0 }).end();
    return true;
  }
  if (fault === 'htmlError') {
    const page =
      '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>';
    response.writeHead(502, { 'Content-Type': 'text/html', 'Content-Length': page.length }).end(page);
    return true;
  }
  if (typeof fault === 'object' && 'reply' in fault) {
    const headers = { 'Content-Type': 'application/json', ...fault.reply.headers };
    response
      .writeHead(fault.reply.status, { ...headers, 'Content-Length': Buffer.byteLength(fault.reply.body) })
      .end(fault.reply.body);
    return true;
  }
  return false;
}

function execute(front: ServerContext, intake: ReceivedRequest, routed: Routed): Reply | Promise<Reply> {
  if (routed.api === 'v1')
    return answerV1(front.world, intake, routed.match as Match<V1Operation>, `${front.origin}${v1Base}`);
  if (routed.api === 'v2') return answerV2(front.world, intake, routed.match as Match<V2Route>);
  if (routed.api === 'mcp') return answerMcp(front.world, intake);
  if (routed.path === changePath) return answerControl(front.world, intake);
  return reply(404, { detail: 'Not found.' });
}

/** A control route of the sandbox. No provider offers it. */
export const changePath = '/control/change';

/**
 * A change in the register from outside: `{"company": "<v2 ID>", "field": "name", "value": "New Ltd"}`. Both APIs show
 * it from then on. If it is watched, the history lists it, and the callback is posted before this answers.
 */
async function answerControl({ registry, watches }: ProviderState, { method, body }: ReceivedRequest): Promise<Reply> {
  if (method !== 'POST') return reply(405, { detail: 'Only POST.' });
  const said = parseIfJson(body);
  if (!isObject(said)) return reply(400, { detail: 'The body must be a JSON object.' });
  const { company: id, field, value = null } = said;
  const company = registry.byV2Id(String(id));
  if (company === undefined) return reply(404, { detail: 'There is no company with this v2 ID.' });
  if (typeof field !== 'string' || !acceptedFields.includes(field))
    return reply(400, { detail: `The field must be one of ${acceptedFields.join(', ')}.` });
  if (value !== null && typeof value !== 'string') return reply(400, { detail: 'The value must be a text, or null.' });
  const { recorded, status } = await watches.change(company, field, value);
  return reply(200, { recorded, callback_status: status ?? null });
}

const reply = (status: number, body: object): Reply => ({ status, headers: jsonHeaders, body: JSON.stringify(body) });

const hugeBytes = 96 * 1024 * 1024;
const dripPieces = 16;
const dripPauseMs = 40;

/** Sends an executed answer as the fault says. A damaged answer counts as undelivered. */
function deliver(
  { settings, account, closing }: ProviderState,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  fault: Fault | undefined,
): void {
  const damaged = () => {
    if (reply.charge) account.undelivered(reply.charge);
  };
  const acceptsGzip = () => /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const send = (answer: Reply) => sendWhole(response, answer, settings.gzip && acceptsGzip());
  response.once('close', () => {
    if (!response.writableFinished) damaged();
  });
  if (
    fault === 'lostAnswer' ||
    fault === 'resetMidBody' ||
    fault === 'truncatedJson' ||
    fault === 'hugeBody' ||
    fault === 'gzipBomb'
  ) {
    damaged();
  }
  if (failsAfterWork(reply, fault)) {
    damaged();
    send(failureInPlaceOf(fault));
  } else if (fault === 'lostAnswer') reset(response);
  else if (fault === 'resetMidBody') cutInTheMiddle(response, reply);
  else if (fault === 'slowDrip') void drip(response, reply, settings.clock, closing);
  else if (fault === 'gzipBomb' && acceptsGzip()) bomb(response, reply);
  else if (fault === 'hugeBody' || fault === 'gzipBomb') void flood(response, reply);
  else send(altered(reply, fault));
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

/** A refused request did no work, so it stays refused. */
const failsAfterWork = ({ status }: Reply, fault: Fault | undefined): fault is FailAfterWork =>
  typeof fault === 'object' && 'failAfterWork' in fault && status < 300;

const failureInPlaceOf = ({ failAfterWork, text }: FailAfterWork): Reply =>
  text === undefined
    ? { status: failAfterWork, headers: jsonHeaders, body: writeJson({ detail: 'A server error occurred.' }) }
    : { status: failAfterWork, headers: { 'Content-Type': 'text/html' }, body: text };

/** The client sees its connection reset. */
function reset(response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

/** `mayPack`: compress long answers. */
function sendWhole(response: ServerResponse, reply: Reply, mayPack: boolean): void {
  if (mayPack && reply.body.length > 1_000) {
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

async function drip(response: ServerResponse, reply: Reply, clock: Clock, closing: AbortSignal): Promise<void> {
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

/**
 * A gzip stream may have many members: one member of a megabyte of blanks, sent many times, takes a few dozen
 * kilobytes.
 */
function bomb(response: ServerResponse, reply: Reply): void {
  const member = gzipSync(Buffer.alloc(1024 * 1024, ' '));
  const packed = Buffer.concat([
    ...Array.from({ length: hugeBytes / (1024 * 1024) }, () => member),
    gzipSync(reply.body),
  ]);
  response.writeHead(reply.status, { ...reply.headers, 'Content-Encoding': 'gzip', 'Content-Length': packed.length });
  response.end(packed);
}
