import { inspect } from 'node:util';
import { Secret } from '../util/secret.js';

/**
 * One spelling for one provider (X-2): answers are filed under it, and bought again under another. The host in lower
 * case, no default port, no dot segments, no slash at the end. What is no web address (the sandbox) stays as it is.
 */
export function canonicalBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return text;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const LOOPBACK_HOSTNAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https, except on a loopback address: what is sent does not travel in the clear. */
export const isSafeUrl = ({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK_HOSTNAME.test(hostname));

/**
 * The address of the database that holds the ledger. It may hold a password, which is a secret from here on; the rest is
 * not, because messages have to say which database they speak of. It prints itself without the password.
 */
export class LedgerUrl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    // Kept by whoever hides them, for as long as the process lives.
    for (const password of passwordsIn(url)) new Secret(password);
  }

  /** The one way out, for the driver. */
  reveal(): string {
    return this.#url;
  }

  toString(): string {
    return shownLedgerUrl(this.#url);
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

const BEGINNING = /^postgres(?:ql)?:\/\//;

/** Was an address of a database meant, whether it is one or not? */
export const isMeantAsLedgerUrl = (text: string): boolean => text.includes('://');

/**
 * Is it an address that can be taken apart for certain? A password with a bare `/`, `?` or `#` in it ends the host early,
 * and what follows would be taken for the name of a database, and shown.
 */
export function isLedgerUrl(text: string): boolean {
  if (!BEGINNING.test(text) || !URL.canParse(text)) return false;
  const { pathname, search, hash } = new URL(text);
  return hash === '' && !`${pathname}${search}`.includes('@');
}

/** As it stands in messages: `postgres://user@host:5432/database`, without the password and what is behind a `?`. */
export function shownLedgerUrl(url: string): string {
  if (!isLedgerUrl(url)) return 'postgres://…';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

/** A password in it would be seen by everybody who lists processes. */
export const hasPassword = (url: string): boolean => passwordsIn(url).length > 0;

const LOCAL_LEDGER_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i;

/** Does all that is sent there stay on this machine? A socket is a path; without a host it is this machine too. */
export function isLocalLedger(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decoded(hostname);
  return host === '' || host.startsWith('/') || LOCAL_LEDGER_HOST.test(host);
}

/** As they are written, and as they are meant. The driver also takes one from behind the `?`. */
function passwordsIn(text: string): readonly string[] {
  const { password, searchParams } = new URL(text);
  const queried = ['password', 'sslpassword'].flatMap((name) => searchParams.getAll(name));
  return [password, decoded(password), ...queried].filter((given) => given !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
