import type { Charge } from '../account.js';
import { parseBody } from '../body.js';
import { type Json, write } from '../json.js';
import type { Reply } from '../messages.js';
import { isObject, type Values } from '../validate.js';

/** One message from a client: a request has an ID, a notification has none. */
export interface RpcMessage {
  readonly method: string;
  readonly id: string | number | undefined;
  readonly params: Values;
}

/** Undefined where the body is no single JSON-RPC 2.0 message with a method. */
export function readMessage(body: string): RpcMessage | undefined {
  const said = parsed(body);
  if (!isObject(said) || said.jsonrpc !== '2.0' || typeof said.method !== 'string') return undefined;
  const { method, id, params = {} } = said;
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number') return undefined;
  return isObject(params) ? { method, id, params } : undefined;
}

function parsed(body: string): unknown {
  try {
    return parseBody(body);
  } catch {
    return undefined;
  }
}

/** What a request is answered with: a result, or an error of the protocol. */
export type Said = { readonly result: Json } | { readonly error: { readonly code: number; readonly message: string } };

export const rpcError = (code: number, message: string): Said => ({ error: { code, message } });

export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;

export interface Answering {
  /** One event of a stream, or a JSON body: the protocol leaves it to the server. */
  readonly as: 'sse' | 'json';
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly charge?: Charge | undefined;
}

export function rpcReply(
  id: string | number | null,
  said: Said,
  { as, status = 200, headers, charge }: Answering,
): Reply {
  const message = write({ jsonrpc: '2.0', id, ...said });
  return as === 'json'
    ? { status, headers: { 'Content-Type': 'application/json', ...headers }, body: message, charge }
    : {
        status,
        headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache', ...headers },
        body: stream(message),
        charge,
      };
}

/** As servers send it: a word to keep the line open, an event without data that a client could resume from, the message. */
const stream = (message: string): string => `: open\n\nid: 1\ndata:\n\nevent: message\nid: 2\ndata: ${message}\n\n`;
