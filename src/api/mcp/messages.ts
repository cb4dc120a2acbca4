import { type MemberRange, scanShell } from '../../util/json-shell.js';

/** The message that answers a request, as it came, and the range of its `result` or of its `error`. */
export interface RpcResponse {
  readonly message: Buffer;
  readonly result: Buffer | undefined;
  readonly error: Buffer | undefined;
}

/**
 * The answer to the request with this ID: the body itself, or the data of an event, where it is a stream. The bytes decide
 * which of the two it is, whatever the content type says.
 */
export function findResponse(body: Buffer, id: string | number): RpcResponse | undefined {
  for (const message of isStream(body) ? eventsIn(body) : [body]) {
    const response = asResponse(message, id);
    if (response !== undefined) return response;
  }
  return undefined;
}

/** JSON begins with a brace or a bracket; the lines of a stream begin with the name of a field, or a colon. */
export const isStream = (body: Buffer): boolean =>
  /^\ufeff?\s*(?:data|event|id|retry)?:/.test(body.toString('utf8', 0, 64));

function asResponse(message: Buffer, id: string | number): RpcResponse | undefined {
  const members = membersOf(message);
  const part = (range: MemberRange | undefined) => range && message.subarray(range.start, range.end);
  const answered = part(members?.get('id'));
  const result = part(members?.get('result'));
  const error = part(members?.get('error'));
  if (answered?.toString() !== JSON.stringify(id) || members?.has('method') === true) return undefined;
  return result === undefined && error === undefined ? undefined : { message, result, error };
}

function membersOf(message: Buffer): ReadonlyMap<string, MemberRange> | undefined {
  try {
    const shell = scanShell(message);
    return shell.kind === 'object' ? shell.members : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The data of each event of type `message` that is complete: one without a blank line after it may have been cut off. */
function* eventsIn(body: Buffer): Generator<Buffer> {
  let data: Buffer[] = [];
  let type = 'message';
  for (const line of linesOf(body)) {
    if (line.length === 0) {
      if (data.length > 0 && type === 'message') yield data.length === 1 && data[0] ? data[0] : joined(data);
      data = [];
      type = 'message';
      continue;
    }
    const colon = line.indexOf(COLON);
    const name = line.toString('utf8', 0, colon === -1 ? line.length : colon);
    const value =
      colon === -1 ? line.subarray(line.length) : line.subarray(colon + (line[colon + 1] === BLANK ? 2 : 1));
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value.toString();
  }
}

const joined = (lines: readonly Buffer[]): Buffer =>
  Buffer.concat(lines.flatMap((line, at) => (at === 0 ? [line] : [Buffer.from('\n'), line])));

/** Lines end in CR LF, LF or CR. What is not ended is no line yet. */
function* linesOf(body: Buffer): Generator<Buffer> {
  let start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  for (let at = start; at < body.length; at++) {
    if (body[at] !== LF && body[at] !== CR) continue;
    yield body.subarray(start, at);
    if (body[at] === CR && body[at + 1] === LF) at++;
    start = at + 1;
  }
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const BLANK = 0x20;
