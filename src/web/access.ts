// Who may use the page: the person with the link, or people whom a proxy has identified.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Message } from '../util/message-parts.js';
import type { User } from './site.js';

/** A refusal with its status. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

export const NEW_LINK = 'For a new link, stop kybatch ui with Ctrl-C in its terminal. Then start it again: kybatch ui';

export interface PageSession {
  readonly user: User;
  usedAt: number;
  /** Shown once, on the next page. It is not in the address, where anybody could write one. */
  message: Message | undefined;
}

export interface Access {
  /** The hosts and origins of the page itself. Requests under other names are refused. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** The cookie for the token of the link. Undefined: it opens nothing. Absent: there is no link. */
  open?(token: string, now: number): string | undefined;
  session(request: IncomingMessage, now: number): PageSession;
}

/** An idle session ends after this time. */
const SESSION_MS = 8 * 3_600_000;

export const randomSecret = (): string => randomBytes(24).toString('base64url');

/** The token of the link, and the sessions it opened. Cookies ignore ports, so the cookie has a name of its own. */
export class LinkAccess implements Access {
  #token: string | undefined = randomSecret();
  readonly #cookie = `kybatch_${randomBytes(6).toString('hex')}`;
  readonly #sessions = new Map<string, PageSession>();
  readonly hosts: readonly string[];
  readonly origins: readonly string[];

  constructor(
    port: number,
    private readonly user: User,
  ) {
    this.hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    this.origins = this.hosts.map((host) => `http://${host}`);
  }

  get link(): string {
    return `${this.origins[0]}/?token=${this.#token}`;
  }

  open(token: string, now: number): string | undefined {
    if (this.#token === undefined || !isSameSecret(token, this.#token)) return undefined;
    this.#token = undefined;
    const key = randomSecret();
    this.#sessions.set(key, { user: this.user, usedAt: now, message: undefined });
    return `${this.#cookie}=${key}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${SESSION_MS / 1000}`;
  }

  session({ headers }: IncomingMessage, now: number): PageSession {
    const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
    const key = cookies.find((cookie) => cookie.startsWith(`${this.#cookie}=`))?.slice(this.#cookie.length + 1) ?? '';
    const session = this.#sessions.get(key);
    if (session === undefined || now - session.usedAt > SESSION_MS)
      throw new Refused(401, 'NOT_SIGNED_IN', 'Open the link that kybatch ui printed. It works once.', NEW_LINK);
    session.usedAt = now;
    return session;
  }
}

export function isSameSecret(one: string, other: string): boolean {
  const [given, wanted] = [Buffer.from(one), Buffer.from(other)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

export interface ReverseProxy {
  /** The address that people use, such as `https://kybatch.example.com`. */
  readonly publicUrl: string;
  /** The header with the name of the person. */
  readonly userHeader: string;
  /** The addresses of the proxy. Null: it uses a Unix socket, which only its own user can open. */
  readonly from: readonly string[] | null;
}

/** People whom a reverse proxy has identified. Their names come from one header, and never from a form. */
export class NamedAccess implements Access {
  readonly #sessions = new Map<string, PageSession>();
  readonly hosts: readonly string[];
  readonly origins: readonly string[];

  constructor(
    private readonly options: ReverseProxy,
    private readonly role: User['role'],
  ) {
    const { host, origin } = new URL(options.publicUrl);
    this.hosts = [host];
    this.origins = [origin];
  }

  session({ headersDistinct, socket }: IncomingMessage, now: number): PageSession {
    const { from, userHeader } = this.options;
    const address = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
    if (from !== null && !from.includes(address))
      throw new Refused(403, 'PROXY_REFUSED', 'The page accepts requests of its proxy only.');
    // A proxy that adds its header beside that of the browser would let anyone choose a name.
    const named = headersDistinct[userHeader.toLowerCase()] ?? [];
    if (named.length > 1)
      throw new Refused(400, 'SEVERAL_USERS', `The header ${userHeader} came ${named.length} times.`);
    const name = named[0]?.trim() ?? '';
    if (name === '') throw new Refused(401, 'NOT_SIGNED_IN', 'The proxy did not send your name.');
    const user = { name, role: this.role, isVerified: true };
    const session = this.#sessions.get(name) ?? { user, usedAt: now, message: undefined };
    this.#sessions.set(name, session);
    return session;
  }
}
