import { randomUUID } from 'node:crypto';
import type { Charge, Key } from '../account.js';
import { canonical } from '../body.js';
import { type Json, write } from '../json.js';
import type { Intake, Reply } from '../messages.js';
import { detail, invalid, V2Failure, v2Reply } from '../v2/errors.js';
import { injectedReply } from '../v2/index.js';
import { Plain } from '../v2/operation.js';
import { checkShape, isObject } from '../validate.js';
import type { World } from '../world.js';
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  type RpcMessage,
  readMessage,
  rpcError,
  rpcReply,
  type Said,
} from './rpc.js';
import { type Tool, toolEntry, tools } from './tools.js';

/** Where the connector server is served: beside both APIs. */
export const mcpPath = '/mcp';

const versions = ['2025-11-25', '2025-06-18', '2025-03-26'];
const [newest = ''] = versions;

/** What a request is called in the log and in scripts: the tool, or the method. */
export function mcpOperation(method: string, body: string): string {
  if (method !== 'POST') return method;
  const message = readMessage(body);
  if (message === undefined) return 'unknown';
  return message.method === 'tools/call' ? String(message.params.name) : message.method;
}

/** One request to the connector server: streamable HTTP, a session for each client. */
export function answerMcp(world: World, intake: Intake): Reply | Promise<Reply> {
  const key = authenticate(world, intake.authorization);
  if (key instanceof V2Failure) return v2Reply(key, world.settings);
  if (intake.injected) return injectedReply(intake.injected);
  if (intake.method === 'DELETE') return endSession(world, intake);
  // No stream of its own: nothing happens here that nobody has asked for.
  if (intake.method !== 'POST') return plain(405, { Allow: 'POST, DELETE' });
  const unfit = unfitRequest(intake);
  if (unfit !== undefined) return unfit;
  const message = readMessage(intake.body);
  if (message === undefined) return refused(400, rpcError(INVALID_REQUEST, 'Expected one JSON-RPC 2.0 message.'));
  if (message.method === 'initialize') return begin(world, message);
  const session = intake.headers['mcp-session-id'];
  if (session === undefined) return refused(400, rpcError(INVALID_REQUEST, 'Mcp-Session-Id is missing.'));
  if (!world.mcpSessions.has(String(session))) return refused(404, rpcError(-32001, 'Session not found.'));
  if (message.id === undefined) return plain(202);
  if (message.method === 'tools/call') return callTool(world, intake, message, message.id, key);
  return rpcReply(message.id, otherMethod(world, message), { as: world.settings.mcp.answers });
}

/** The document says only that it is the same key: both ways to send one are taken. */
function authenticate(world: World, authorization: string | undefined): Key | V2Failure {
  if (authorization === undefined) return detail('auth', 'Authentication credentials were not provided.');
  const [, text = ''] = /^(?:Token|Bearer) (.+)$/.exec(authorization) ?? [];
  const key = world.account.key(text);
  return key?.api === 'v2' && !key.revoked ? key : detail('auth', 'Invalid token.');
}

function unfitRequest({ headers, contentType }: Intake): Reply | undefined {
  const accept = headers.accept ?? '';
  if (!accept.includes('application/json') || !accept.includes('text/event-stream'))
    return refused(406, rpcError(INVALID_REQUEST, 'Accept both application/json and text/event-stream.'));
  if (!/^application\/json\s*(?:;|$)/i.test(contentType ?? ''))
    return refused(415, rpcError(INVALID_REQUEST, 'Content-Type must be application/json.'));
  const version = headers['mcp-protocol-version'];
  if (version !== undefined && !versions.includes(String(version)))
    return refused(400, rpcError(INVALID_REQUEST, 'The protocol version is not supported.'));
  return undefined;
}

const refused = (status: number, said: Said): Reply => rpcReply(null, said, { as: 'json', status });

const plain = (status: number, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status,
  headers,
  body: '',
});

function begin(world: World, { id, params }: RpcMessage): Reply {
  if (id === undefined) return refused(400, rpcError(INVALID_REQUEST, 'initialize is a request.'));
  const asked = String(params.protocolVersion);
  const session = randomUUID();
  world.mcpSessions.add(session);
  const result = {
    protocolVersion: versions.includes(asked) ? asked : newest,
    capabilities: { tools: {} },
    serverInfo: { name: 'kybatch-sandbox', version: '1' },
  };
  return rpcReply(id, { result }, { as: world.settings.mcp.answers, headers: { 'Mcp-Session-Id': session } });
}

function endSession(world: World, { headers }: Intake): Reply {
  return plain(world.mcpSessions.delete(String(headers['mcp-session-id'])) ? 204 : 404);
}

function otherMethod({ settings }: World, { method, params }: RpcMessage): Said {
  if (method === 'ping') return { result: {} };
  if (method !== 'tools/list') return rpcError(METHOD_NOT_FOUND, 'Method not found');
  const { toolsPerPage } = settings.mcp;
  const from = params.cursor === undefined ? 0 : Number(params.cursor);
  if (!Number.isInteger(from) || from < 0 || from >= tools.length)
    return rpcError(INVALID_PARAMS, 'The cursor is not one that was given out.');
  const next = from + toolsPerPage;
  return {
    result: {
      tools: tools.slice(from, next).map(toolEntry),
      nextCursor: next < tools.length ? String(next) : undefined,
    },
  };
}

function callTool(
  world: World,
  intake: Intake,
  { params }: RpcMessage,
  id: string | number,
  key: Key,
): Reply | Promise<Reply> {
  const { settings, registry } = world;
  const as = settings.mcp.answers;
  const tool = tools.find(({ name }) => name === params.name);
  if (tool === undefined) return rpcReply(id, rpcError(INVALID_PARAMS, `Unknown tool: ${String(params.name)}`), { as });
  const values = isObject(params.arguments) ? params.arguments : {};
  const failed = (failure: V2Failure): Reply =>
    failure.kind === 'limit' && settings.mcp.limitAs === 'http'
      ? v2Reply(failure, settings)
      : rpcReply(id, { result: toolResult(write(failure.body), true) }, { as });
  const problems = checkShape(tool.shape, values);
  if (problems.size > 0) return failed(invalid(problems));
  const refusal = tool.rule?.(values) ?? world.permissions.refusal(tool.permission);
  if (refusal !== undefined) return failed(refusal);
  let charge: Charge | undefined;
  const bill = () => {
    charge ??= billFor(world, intake, tool, key, canonical(values));
  };
  const settle = (outcome: Awaited<ReturnType<Tool['answer']>>): Reply => {
    if (outcome instanceof V2Failure) return failed(outcome);
    bill();
    const result =
      outcome instanceof Plain ? toolResult(String(outcome.body)) : toolResult(write(outcome), false, outcome);
    return rpcReply(id, { result }, { as, charge });
  };
  const outcome = tool.answer({ world, registry, values, charge: bill });
  return outcome instanceof Promise ? outcome.then(settle) : settle(outcome);
}

/** The text, and the same as data: what a tool answers stands in both. */
const toolResult = (text: string, isError = false, structuredContent?: Json): Json => ({
  content: [{ type: 'text', text }],
  structuredContent,
  isError,
});

function billFor(world: World, { requestId }: Intake, { name, permission }: Tool, key: Key, params: string): Charge {
  world.permissions.count(permission);
  return world.account.charge({ api: 'mcp', operation: name, key, requestId, permission: permission.codename, params });
}
