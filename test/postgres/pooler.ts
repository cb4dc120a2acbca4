import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import { Cutter, listen } from './wire.js';

/** Messages of a client up to the point at which it waits for an answer. */
interface Turn {
  readonly client: Socket;
  readonly said: Buffer;
}

/** A pooler in transaction mode with one connection. The first client has it until its transaction ends. */
export async function withPooler<T>(to: string, use: (url: string) => Promise<T>): Promise<T> {
  const behind = new pg.Client({ connectionString: to });
  behind.on('error', () => {});
  await behind.connect();
  const { stream } = behind.connection;
  // From here on it only passes bytes on.
  stream.removeAllListeners('data');
  const turns: Turn[] = [];
  let at: Turn | undefined;
  let owner: Socket | undefined;

  const next = () => {
    if (at !== undefined) return;
    const index = turns.findIndex(({ client }) => owner === undefined || client === owner);
    at = turns.splice(index, index < 0 ? 0 : 1)[0];
    if (at !== undefined) stream.write(at.said);
  };
  const cutter = new Cutter(false);
  stream.on('data', (bytes: Buffer) => {
    for (const { message, whole } of cutter.cut(bytes)) {
      at?.client.write(whole);
      if (message.type !== 'Z') continue;
      owner = whole.toString('latin1', 5, 6) === 'I' ? undefined : at?.client;
      at = undefined;
      next();
    }
  });

  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.on('error', () => {});
    const said = new Cutter();
    let sofar: Buffer[] = [];
    client.on('data', (bytes) => {
      for (const { message, whole } of said.cut(bytes)) {
        if (message.type === '') client.write(WELCOME);
        else if (message.type !== 'X') sofar.push(whole);
        if (message.type !== 'Q' && message.type !== 'S') continue;
        turns.push({ client, said: Buffer.concat(sofar) });
        sofar = [];
        next();
      }
    });
  });
  const url = new URL(to);
  url.host = `127.0.0.1:${await listen(server, 0)}`;
  try {
    return await use(url.href);
  } finally {
    for (const client of clients) client.destroy();
    await new Promise((closed) => server.close(closed));
    stream.destroy();
  }
}

const part = (type: string, body: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};

/** Accepts the client, with a process number of the pooler. */
const WELCOME = Buffer.concat([
  part('R', Buffer.alloc(4)),
  part('S', Buffer.from('client_encoding\0UTF8\0')),
  part('K', Buffer.from([0, 0, 0, 1, 0, 0, 0, 2])),
  part('Z', Buffer.from('I')),
]);
