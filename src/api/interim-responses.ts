import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * A server may send `100 Continue`, `103 Early Hints` and the like before its answer, as often as it likes (RFC 9110, 15.2).
 * undici closes the connection at a 100, and the answer behind it, which is paid for, is lost. So they are taken out
 * before undici reads. A 101 stays: what follows it is no HTTP.
 */
export const withoutInterim =
  (connect: buildConnector.connector): buildConnector.connector =>
  (options, told) =>
    connect(options, (...came) => {
      const socket: Socket | null | undefined = came[1];
      if (socket != null) passOverInterim(socket);
      told(...came);
    });

/** One request at a time goes over a connection: the first bytes after it was written are the head of a response. */
function passOverInterim(socket: Socket): void {
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket) as (...given: unknown[]) => boolean;
  let expectsHead = false;
  let held: Buffer = NOTHING;
  socket.write = (...given: unknown[]) => {
    expectsHead = true;
    return write(...given);
  };
  socket.read = (size?: number): Buffer | null => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      if (!expectsHead || chunk === null) return chunk;
      const rest = behindInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      expectsHead = isInterim(rest) && rest.length <= LONGEST_HEAD;
      held = expectsHead ? rest : NOTHING;
      if (!expectsHead) return rest;
    }
  };
}

const NOTHING = Buffer.alloc(0);
const LONGEST_HEAD = 65_536;
const HEAD_END = '\r\n\r\n';
const START = 'HTTP/1.1 1';

function behindInterim(bytes: Buffer): Buffer {
  let rest = bytes;
  while (isInterim(rest)) {
    const end = rest.indexOf(HEAD_END);
    if (end === -1) break;
    rest = rest.subarray(end + HEAD_END.length);
  }
  return rest;
}

/** Or may be, once more bytes have come. */
function isInterim(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, START.length + 2);
  return start.length < START.length + 2
    ? START.startsWith(start.slice(0, START.length))
    : /^HTTP\/1\.[01] 1(?!01)\d\d/.test(start);
}
