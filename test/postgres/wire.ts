import { createServer, connect as dial, type Server, type Socket } from 'node:net';

/** A client’s message: its type (`Q`, `P`, `B`, …, or empty for the first one) and the text of a simple query. */
export interface Message {
  readonly type: string;
  readonly text: string;
}

/**
 * The fate of a connection at a message.
 * - `lost`: the message never arrives, and the connection is cut on both sides.
 * - `done`: it arrives, the transaction ends, and the connection is cut before the answer is complete.
 * - `late`: the client is cut off, and its data arrives later, when `release` is called.
 */
export type Fate = 'lost' | 'done' | 'late';

export interface SendInSlot {
  /** The database's address through this wire. */
  readonly url: string;
  /** The sent messages, counted by type. */
  readonly sent: Map<string, number>;
  /**
   * The next matching message meets its fate. Resolves when that has happened. `before`: the client of a late message
   * waits for it.
   */
  meet(fits: (message: Message) => boolean, fate: Fate, before?: () => Promise<void>): Promise<void>;
  /** Lets late data arrive. Resolves when the server has closed the connection. */
  release(): Promise<void>;
  /** Cuts all connections and accepts none until it is opened again. */
  refuse(): Promise<void>;
  /** Bytes are swallowed in both directions, and new connections get no reply. */
  hold(): void;
  /** Everything passes again. Held data is delivered. */
  open(): Promise<void>;
  close(): Promise<void>;
}

/** PostgreSQL reports the end of a transaction with one of these. */
const ENDED = ['COMMIT\0', 'ROLLBACK\0'];

interface Trap {
  readonly fits: (message: Message) => boolean;
  readonly fate: Fate;
  readonly met: () => void;
  readonly before: (() => Promise<void>) | undefined;
}

/** A proxy between a client and PostgreSQL that reads the client's messages one by one. */
export async function layWire(to: string): Promise<SendInSlot> {
  const target = new URL(to);
  const sent = new Map<string, number>();
  const pairs = new Set<Pair>();
  let trap: Trap | undefined;
  let late: (() => Promise<void>) | undefined;
  let isHeld = false;

  const springs = (message: Message): Trap | undefined => {
    if (trap === undefined || !trap.fits(message)) return undefined;
    const sprung = trap;
    trap = undefined;
    sprung.met();
    return sprung;
  };

  class Pair {
    readonly #client: Socket;
    readonly #server: Socket;
    readonly #cutter = new Cutter();
    #isMute = false;
    #unheard: Buffer = Buffer.alloc(0);
    readonly #toServer: Buffer[] = [];
    readonly #toClient: Buffer[] = [];

    constructor(client: Socket) {
      this.#client = client;
      this.#server = dial(Number(target.port), target.hostname);
      for (const socket of [client, this.#server]) socket.setNoDelay(true).on('error', () => {});
      client.on('data', (bytes) => this.#fromClient(bytes));
      this.#server.on('data', (bytes) => this.#fromServer(bytes));
      client.on('close', () => {
        if (!this.#isMute) this.#server.destroy();
        pairs.delete(this);
      });
      this.#server.on('close', () => client.destroy());
    }

    cut(): void {
      this.#client.destroy();
      this.#server.destroy();
    }

    deliver(): void {
      for (const bytes of this.#toServer.splice(0)) this.#server.write(bytes);
      for (const bytes of this.#toClient.splice(0)) this.#client.write(bytes);
    }

    #fromClient(bytes: Buffer): void {
      for (const { message, whole } of this.#cutter.cut(bytes)) {
        sent.set(message.type, (sent.get(message.type) ?? 0) + 1);
        if (this.#isMute) {
          this.#toServer.push(whole);
          continue;
        }
        const { fate, before } = springs(message) ?? {};
        if (fate === 'lost') {
          this.cut();
          return;
        }
        if (fate !== undefined) this.#isMute = true;
        if (fate === 'late') {
          this.#toServer.push(whole);
          late = () => this.#arriveLate();
          setImmediate(async () => {
            await before?.();
            this.#client.destroy();
          });
        } else if (isHeld) this.#toServer.push(whole);
        else this.#server.write(whole);
      }
    }

    #fromServer(bytes: Buffer): void {
      if (this.#isMute && late === undefined) {
        // Answers to earlier messages come first.
        this.#unheard = Buffer.concat([this.#unheard, bytes]);
        if (ENDED.some((end) => this.#unheard.includes(end))) this.cut();
      } else if (this.#isMute) return;
      else if (isHeld) this.#toClient.push(bytes);
      else this.#client.write(bytes);
    }

    async #arriveLate(): Promise<void> {
      const closed = new Promise((resolve) => this.#server.once('close', resolve));
      for (const bytes of this.#toServer.splice(0)) this.#server.write(bytes);
      this.#server.end();
      await closed;
    }
  }

  const server = createServer((client) => pairs.add(new Pair(client)));
  const port = await listen(server, 0);
  const url = new URL(to);
  url.host = `127.0.0.1:${port}`;
  const cutAll = () => {
    for (const pair of pairs) pair.cut();
  };
  const shut = () => new Promise<void>((closed) => (server.listening ? server.close(() => closed()) : closed()));
  return {
    url: url.href,
    sent,
    meet: (fits, fate, before) =>
      new Promise((met) => {
        trap = { fits, fate, met, before };
      }),
    async release() {
      await late?.();
      late = undefined;
    },
    async refuse() {
      const done = shut();
      cutAll();
      await done;
    },
    hold: () => {
      isHeld = true;
    },
    async open() {
      isHeld = false;
      for (const pair of pairs) pair.deliver();
      if (!server.listening) await listen(server, port);
    },
    async close() {
      const done = shut();
      cutAll();
      await done;
    },
  };
}

export async function withWire<T>(to: string, use: (wire: SendInSlot) => Promise<T>): Promise<T> {
  const wire = await layWire(to);
  try {
    return await use(wire);
  } finally {
    await wire.close();
  }
}

export async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      listening();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Cuts the bytes of a client or a server into messages. A client's first message has no type. */
export class Cutter {
  #rest: Buffer = Buffer.alloc(0);
  #isFirst: boolean;

  constructor(isFirst = true) {
    this.#isFirst = isFirst;
  }

  *cut(bytes: Buffer): Generator<{ readonly message: Message; readonly whole: Buffer }> {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.#isFirst ? 0 : 1;
      if (this.#rest.length < head + 4) return;
      const length = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < length) return;
      const whole = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      const type = this.#isFirst ? '' : whole.toString('latin1', 0, 1);
      this.#isFirst = false;
      yield { message: { type, text: type === 'Q' ? whole.toString('utf8', 5, length - 1) : '' }, whole };
    }
  }
}
