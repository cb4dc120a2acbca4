import type { Socket } from 'node:net';

/**
 * Connections that have not yet said what they came for. However many there are, somebody new is let in: the one that has
 * waited longest is sent away for it, as a callback is said in one breath.
 */
export class Crowd {
  readonly #waiting = new Set<Socket>();
  readonly #sentAway = new WeakSet<Socket>();

  constructor(private readonly atMost: number) {}

  /** Returns true if another one was sent away for it. */
  came(socket: Socket): boolean {
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    const [oldest] = this.#waiting;
    if (this.#waiting.size <= this.atMost || oldest === undefined) return false;
    this.#waiting.delete(oldest);
    this.#sentAway.add(oldest);
    oldest.destroy();
    return true;
  }

  /** All of it has arrived. */
  wasHeard(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  wasSentAway(socket: Socket): boolean {
    return this.#sentAway.has(socket);
  }
}
