import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerControl, changePath } from './control.js';
import { deliver, reset } from './deliver.js';
import { drawFault, drawLatencyMs, type Fault, type Faults } from './faults.js';
import { answerMcp, mcpOperation, mcpPath } from './mcp/index.js';
import type { Intake, Reply } from './messages.js';
import type { LoggedRequest, RequestLog } from './request-log.js';
import type { Match, Router } from './router.js';
import type { Script } from './script.js';
import { answerV1, v1Router } from './v1/index.js';
import type { V1Operation } from './v1/operations.js';
import { answerV2, type V2Route } from './v2/index.js';
import type { World } from './world.js';

export interface Front {
  readonly world: World;
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

export function createHandler(front: Front): (request: IncomingMessage, response: ServerResponse) => void {
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
/** Kept of a body; more is counted and thrown away. */
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
  front: Front,
  sequence: number,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
  bodyBytes: number,
): void {
  const { world } = front;
  // Its own time, which tests set: who asks compares it with theirs.
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
    const intake: Intake = {
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
      reply.then((late) => finish(front, request, response, late, fault)).catch(() => reset(response));
    else finish(front, request, response, reply, fault);
  };
  const latencyMs =
    typeof fault === 'object' && 'latencyMs' in fault
      ? fault.latencyMs
      : drawLatencyMs(front.faults, world.settings.seed, sequence);
  if (latencyMs > 0) world.settings.clock.sleep(latencyMs, world.closing).then(proceed, () => reset(response));
  else proceed();
}

function faultFor({ script, faults, world }: Front, seen: LoggedRequest): Fault | undefined {
  if (seen.api === 'none') return undefined;
  const fault = script.take(seen) ?? drawFault(faults, world.settings.seed, seen.sequence, seen.operation);
  return seen.api === 'v1' && typeof fault === 'object' && 'failAfterWork' in fault ? undefined : fault;
}

function route(front: Front, method: string, path: string): Routed {
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

/** Faults that keep the request from being executed. True when it has been dealt with. */
function beforeExecution(front: Front, response: ServerResponse, fault: Fault | undefined): boolean {
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

function execute(front: Front, intake: Intake, routed: Routed): Reply | Promise<Reply> {
  if (routed.api === 'v1')
    return answerV1(front.world, intake, routed.match as Match<V1Operation>, `${front.origin}${v1Base}`);
  if (routed.api === 'v2') return answerV2(front.world, intake, routed.match as Match<V2Route>);
  if (routed.api === 'mcp') return answerMcp(front.world, intake);
  if (routed.path === changePath) return answerControl(front.world, intake);
  return { status: 404, headers: { 'Content-Type': 'application/json' }, body: '{"detail":"Not found."}' };
}

function finish(
  front: Front,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  fault: Fault | undefined,
): void {
  const { world } = front;
  deliver(response, reply, fault, {
    clock: world.settings.clock,
    closing: world.closing,
    acceptsGzip: () => /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? '')),
    gzip: world.settings.gzip,
    damaged: () => {
      if (reply.charge) world.account.undelivered(reply.charge);
    },
  });
}
