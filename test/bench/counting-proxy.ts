import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const EXECUTE = 'E'.charCodeAt(0);
const QUERY = 'Q'.charCodeAt(0);

/** A proxy between a client and PostgreSQL that counts requests, and how often a client waits for an answer. */
export class CountingProxy {
  statements = 0;
  /** How often the client sent a message after it had received one. */
  roundTrips = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async open(url: string): Promise<CountingProxy> {
    const { hostname, port } = new URL(url);
    const server = createServer((client) => {
      const database = connect({ host: hostname, port: Number(port) });
      for (const socket of [client, database]) socket.setNoDelay(true).on('error', () => {});
      proxy.#count(client, database);
      client.pipe(database).on('close', () => client.destroy());
      database.pipe(client).on('close', () => database.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const own = new URL(url);
    own.port = String((server.address() as AddressInfo).port);
    const proxy = new CountingProxy(server, own.href);
    return proxy;
  }

  close(): void {
    this.server.close();
  }

  #count(client: Socket, database: Socket): void {
    let hasHeard = true;
    // The first message has no type.
    let header = 0;
    let skip = 0;
    let begun = false;
    const head = Buffer.alloc(5);
    database.on('data', () => {
      hasHeard = true;
    });
    client.on('data', (chunk: Buffer) => {
      if (hasHeard) this.roundTrips += 1;
      hasHeard = false;
      for (let at = 0; at < chunk.length; ) {
        if (skip > 0) {
          const passed = Math.min(skip, chunk.length - at);
          skip -= passed;
          at += passed;
          continue;
        }
        head[begun ? header : header + 1] = chunk[at] ?? 0;
        header += 1;
        at += 1;
        if (header < (begun ? 5 : 4)) continue;
        skip = head.readUInt32BE(1) - 4;
        if (begun && (head[0] === EXECUTE || head[0] === QUERY)) this.statements += 1;
        begun = true;
        header = 0;
      }
    });
  }
}
