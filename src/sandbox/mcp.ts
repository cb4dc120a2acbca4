// The simulated MCP server.

import { randomUUID } from 'node:crypto';
import type { Charge, Key } from './account.js';
import { type Json, parseIfJson, writeJson } from './json.js';
import { type ProviderState, permissions } from './provider-state.js';
import type { Registry } from './registry/index.js';
import type { SearchKind } from './registry/types.js';
import {
  checkShape,
  isJsonRequest,
  isObject,
  jsonHeaders,
  notFound,
  type ReceivedRequest,
  type Reply,
  required,
  ruleFailure,
  type Shape,
  text,
  V2Failure,
  type Values,
  v2Reply,
  validationFailure,
} from './requests.js';
import { companies, enrichment, lookup } from './v2/companies-people.js';
import { injectedReply } from './v2/index.js';
import { authenticate, type Outcome, RawReply, runOperation, type V2Call, type V2Operation } from './v2/operation.js';

export const mcpPath = '/mcp';

const versions = ['2025-11-25', '2025-06-18', '2025-03-26'];
const [newest = ''] = versions;

/** The name of a request in the log and in scripts: the tool, or the method. */
export function mcpOperation(method: string, body: string): string {
  if (method !== 'POST') return method;
  const message = readMessage(body);
  if (message === undefined) return 'unknown';
  return message.method === 'tools/call' ? String(message.params.name) : message.method;
}

/** One request to the MCP server: streamable HTTP, with one session for each client. */
export function answerMcp(world: ProviderState, intake: ReceivedRequest): Reply | Promise<Reply> {
  const key = authenticate(world, intake.authorization, /^(?:Token|Bearer) /);
  if (key instanceof V2Failure) return v2Reply(key, world.settings);
  if (intake.injected) return injectedReply(intake.injected);
  if (intake.method === 'DELETE') return endSession(world, intake);
  // The server offers no stream of its own, because it sends only answers.
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

function unfitRequest(intake: ReceivedRequest): Reply | undefined {
  const { headers } = intake;
  const accept = headers.accept ?? '';
  if (!accept.includes('application/json') || !accept.includes('text/event-stream'))
    return refused(406, rpcError(INVALID_REQUEST, 'Accept both application/json and text/event-stream.'));
  if (!isJsonRequest(intake)) return refused(415, rpcError(INVALID_REQUEST, 'Content-Type must be application/json.'));
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

function begin(world: ProviderState, { id, params }: RpcMessage): Reply {
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

function endSession(world: ProviderState, { headers }: ReceivedRequest): Reply {
  return plain(world.mcpSessions.delete(String(headers['mcp-session-id'])) ? 204 : 404);
}

function otherMethod({ settings }: ProviderState, { method, params }: RpcMessage): Said {
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
  world: ProviderState,
  intake: ReceivedRequest,
  { params }: RpcMessage,
  id: string | number,
  key: Key,
): Reply | Promise<Reply> {
  const { settings } = world;
  const as = settings.mcp.answers;
  const tool = tools.find(({ name }) => name === params.name);
  if (tool === undefined) return rpcReply(id, rpcError(INVALID_PARAMS, `Unknown tool: ${String(params.name)}`), { as });
  const values = isObject(params.arguments) ? params.arguments : {};
  const failed = (failure: V2Failure): Reply =>
    failure.kind === 'limit' && settings.mcp.limitAs === 'http'
      ? v2Reply(failure, settings)
      : rpcReply(id, { result: toolResult(writeJson(failure.body), true) }, { as });
  const problems = checkShape(tool.shape, values);
  if (problems.size > 0) return failed(validationFailure(problems));
  const caller = { api: 'mcp', operation: tool.name, key, requestId: intake.requestId } as const;
  return runOperation(world, tool, values, caller, (outcome, charge) => {
    if (outcome instanceof V2Failure) return failed(outcome);
    const result =
      outcome instanceof RawReply ? toolResult(String(outcome.body)) : toolResult(writeJson(outcome), false, outcome);
    return rpcReply(id, { result }, { as, charge });
  });
}

/** A tool's answer comes as text and as structured data. */
const toolResult = (text: string, isError = false, structuredContent?: Json): Json => ({
  content: [{ type: 'text', text }],
  structuredContent,
  isError,
});

/** One message from a client. A request has an ID, a notification has none. */
interface RpcMessage {
  readonly method: string;
  readonly id: string | number | undefined;
  readonly params: Values;
}

/** Undefined if the body is not a single JSON-RPC 2.0 message with a method. */
function readMessage(body: string): RpcMessage | undefined {
  const said = parseIfJson(body);
  if (!isObject(said) || said.jsonrpc !== '2.0' || typeof said.method !== 'string') return undefined;
  const { method, id, params = {} } = said;
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') return undefined;
  return isObject(params) ? { method, id, params } : undefined;
}

/** The answer to a request: a result, or a protocol error. */
type Said = { readonly result: Json } | { readonly error: { readonly code: number; readonly message: string } };

const rpcError = (code: number, message: string): Said => ({ error: { code, message } });

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

interface Answering {
  /** One event of a stream, or a JSON body: the protocol lets the server choose. */
  readonly as: 'sse' | 'json';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly charge?: Charge | undefined;
}

function rpcReply(id: string | number | null, said: Said, { as, status = 200, headers, charge }: Answering): Reply {
  const message = writeJson({ jsonrpc: '2.0', id, ...said });
  return as === 'json'
    ? { status, headers: { ...jsonHeaders, ...headers }, body: message, charge }
    : {
        status,
        headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', ...headers },
        body: stream(message),
        charge,
      };
}

/**
 * As real servers send it: a comment that keeps the connection open, an event without data to resume from, the message.
 */
const stream = (message: string): string => `: open\n\nid: 1\ndata:\n\nevent: message\nid: 2\ndata: ${message}\n\n`;

/** One tool. The document gives purposes and parameters. The names are the sandbox's own. */
interface Tool extends V2Operation {
  readonly name: string;
  readonly description: string;
}

const countryCode = text({ pattern: /^[A-Z]{2}$/ });

const described: Readonly<Record<string, { readonly description: string; readonly pattern?: string }>> = {
  country_code: { description: 'Country, ISO 3166-1 alpha-2', pattern: '^[A-Z]{2}$' },
  name: { description: 'Company name' },
  registration_number: { description: 'Registration number' },
  vat_number: { description: 'VAT number' },
  ticker: { description: 'Ticker' },
  website: { description: 'Website address' },
  email: { description: 'E-mail address' },
  url: { description: 'LinkedIn address of the company' },
};

const identification: Shape = Object.fromEntries(
  Object.keys(described).map((name) => [name, name === 'country_code' ? countryCode : text()]),
);

const tools: readonly Tool[] = [
  {
    name: 'enrich_company_by_website',
    description: 'Company record for a website address',
    permission: permissions.enrichCompany,
    shape: { website: required(text()) },
    answer: (call) => asOperation(enrichment.enrichCompanyByWebsite, call, { url: call.values.website }),
  },
  {
    name: 'enrich_company_by_linkedin',
    description: 'Company record for a LinkedIn address',
    permission: permissions.enrichCompany,
    shape: { url: required(text()) },
    answer: (call) => asOperation(enrichment.enrichCompanyByLinkedin, call, { linkedin: call.values.url }),
  },
  {
    name: 'autocomplete_company',
    description: 'Complete a company record from a name, a number, a ticker or an e-mail address',
    permission: permissions.autocomplete,
    shape: identification,
    rule: namesSomebody,
    answer: (call) => asOperation(companies.autocomplete, call, call.values),
  },
  {
    name: 'company_financials',
    description: 'Turnover, profit, assets, liabilities, headcount and ratios by year',
    permission: permissions.financials,
    shape: identification,
    rule: namesSomebody,
    answer: (call) => ofCompany(call, (registry, company) => registry.v2.flatFinancials(company)),
  },
  {
    name: 'company_ownership',
    description: 'Shareholders, parents and subsidiaries',
    permission: permissions.ownership,
    shape: identification,
    rule: namesSomebody,
    answer: (call) => ofCompany(call, (registry, company) => registry.v2.ownership(company)),
  },
];

/** As `tools/list` shows it. */
const toolEntry = ({ name, description, shape }: Tool): Json => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(
      Object.keys(shape).map((parameter) => [parameter, { type: 'string', ...described[parameter] }]),
    ),
    required: Object.keys(shape).filter((parameter) => shape[parameter]?.required),
    additionalProperties: false,
  },
});

function namesSomebody(values: Values): V2Failure | undefined {
  const naming = Object.keys(identification).filter((name) => name !== 'country_code');
  return naming.some((name) => values[name] !== undefined)
    ? undefined
    : ruleFailure(`country_code must be paired with at least one of ${naming.join(', ')}.`);
}

/** The same answer as the v2 operation gives. */
function asOperation(operation: V2Operation | undefined, call: V2Call, values: Values): Outcome | Promise<Outcome> {
  if (operation === undefined) throw new Error('The sandbox has no such operation.');
  return operation.answer({ ...call, values });
}

function ofCompany(
  { world, registry, values }: V2Call,
  render: (registry: Registry, company: ReturnType<typeof find> & object) => Json,
): Outcome {
  const company = find(registry, values, world.settings.search);
  return company === undefined ? notFound() : render(registry, company);
}

const find = (registry: Registry, values: Values, kind: SearchKind) => lookup(registry, values, kind)[0];
