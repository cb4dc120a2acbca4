import type { Dispatcher } from 'undici';
import { TransportError, type TransportFailure, tooLarge } from './transport-error.js';

/** An answer as it came over the wire. */
export interface Encoded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
}

/** Collects one answer. It settles once: with the answer, or with the first thing that went wrong. */
export class Reception implements Dispatcher.DispatchHandler {
  readonly #finish: (outcome: Encoded | TransportError) => void;
  readonly #maxBytes: number;
  readonly #isWhole: ((received: readonly Buffer[]) => boolean) | undefined;
  readonly #askedAt = performance.now();
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #sent = false;
  #status = 0;
  #headers: Record<string, string> = {};
  #chunks: Buffer[] = [];
  #size = 0;

  /** Bytes of the request may have left. */
  get isSent(): boolean {
    return this.#sent;
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  /** How much has come: the head, and the bytes of the body. */
  get received(): number {
    return this.#size + (this.#status === 0 ? 0 : 1);
  }

  constructor(
    maxBytes: number,
    finish: (outcome: Encoded | TransportError) => void,
    isWhole?: (received: readonly Buffer[]) => boolean,
  ) {
    this.#maxBytes = maxBytes;
    this.#finish = finish;
    this.#isWhole = isWhole;
  }

  stop(kind: TransportFailure, message: string, cause?: unknown): void {
    this.#stop(new TransportError(kind, this.#sent, message, cause));
  }

  #stop(error: TransportError): void {
    this.#settle(error);
    this.#controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (performance.now() - this.#askedAt > UNSENT_AT_MOST_MS)
      this.#settle(new TransportError('unreachable', false, 'there was no connection in time'));
    // Stopped while it waited for a connection: abort before the first byte is written.
    if (this.#settled) controller.abort(new TransportError('aborted', false, 'stopped before sending'));
    else this.#sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[]>): void {
    this.#status = status;
    // undici gives names in lower case. A header that came more than once is one text.
    for (const name in headers) if (typeof headers[name] !== 'string') headers[name] = String(headers[name]);
    this.#headers = headers as Record<string, string>;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size <= this.#maxBytes) this.#chunks.push(chunk);
    else {
      const head = { status: this.#status, headers: this.#headers, body: Buffer.alloc(0), durationMs: 0 };
      this.#stop(tooLarge(this.#maxBytes, head));
    }
    if (this.#isWhole?.(this.#chunks) === true) this.#endStream();
  }

  /** The answer is here; what may come after it is nobody's. */
  #endStream(): void {
    this.onResponseEnd();
    this.#controller?.abort(new TransportError('aborted', true, 'nothing more is wanted'));
  }

  onResponseEnd(): void {
    const [only] = this.#chunks;
    const bytes = this.#chunks.length === 1 && only !== undefined ? only : Buffer.concat(this.#chunks, this.#size);
    this.#settle({ status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const message = this.#sent
      ? 'the connection broke before the answer was complete'
      : 'the provider could not be reached';
    this.#settle(
      new TransportError(this.#sent ? 'reset' : 'unreachable', this.#sent, `${message} (${reasonOf(error)})`, error),
    );
  }

  #settle(outcome: Encoded | TransportError): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#finish(outcome);
  }
}

/**
 * Timers run before sockets are read: what has come by the deadline is read first, as long as bytes keep coming, but not
 * for ever. What was not sent by then is not sent any more: given up a moment later it would be a call in doubt.
 */
export function readFirst(reception: Reception, giveUp: () => void): void {
  if (!reception.isSent) {
    giveUp();
    return;
  }
  const firedAt = performance.now();
  const look = (receivedBefore: number) => {
    const judge = () => {
      if (reception.isSettled) return;
      const comes = reception.received > receivedBefore && performance.now() - firedAt < READING_AT_MOST_MS;
      if (comes) look(reception.received);
      else giveUp();
    };
    // One turn to read what is there, one for what that has set going.
    setTimeout(() => setImmediate(() => setImmediate(judge)), 0);
  };
  look(reception.received);
}

const READING_AT_MOST_MS = 5_000;

/**
 * Longer than connecting takes, also through a proxy. A process that was frozen meanwhile may have been given up since, and
 * another may have sent the same: it asks the ledger again before it pays.
 */
const UNSENT_AT_MOST_MS = 22_000;

const reasonOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.name;
