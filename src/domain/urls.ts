// Addresses of the provider and of the ledger.

import { inspect } from 'node:util';
import { Secret } from '../util/secret.js';

/**
 * One spelling for one provider (X-2), because answers are stored under it and would be bought again under another.
 * Lower case host, no default port, no dot segments, no slash at the end. A text that is not a web address (the
 * sandbox) stays unchanged.
 */
export function canonicalBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return text;
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

const LOOPBACK_HOSTNAME = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** https, except on a loopback address, so that nothing is sent unencrypted. */
export const isSafeUrl = ({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean =>
  protocol === 'https:' || (protocol === 'http:' && LOOPBACK_HOSTNAME.test(hostname));

/**
 * The address of the ledger's database. Its password is a secret. The rest is not, because messages have to name the
 * database. It prints itself without the password.
 */
export class LedgerUrl {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    // Registers the passwords, so that they are hidden for the lifetime of the process.
    for (const password of passwordsIn(url)) new Secret(password);
  }

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

/** Whether the text is meant as an address of a database, valid or not. */
export const isMeantAsLedgerUrl = (text: string): boolean => text.includes('://');

/**
 * Whether the address can be parsed with certainty. A password with a bare `/`, `?` or `#` ends the host early, and its
 * rest would be shown as the name of a database.
 */
export function isLedgerUrl(text: string): boolean {
  if (!BEGINNING.test(text) || !URL.canParse(text)) return false;
  const { pathname, search, hash } = new URL(text);
  return hash === '' && !`${pathname}${search}`.includes('@');
}

/** As messages show it: `postgres://user@host:5432/database`, without the password and the part after `?`. */
export function shownLedgerUrl(url: string): string {
  if (!isLedgerUrl(url)) return 'postgres://…';
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

/** Everyone who can list processes would see a password in it. */
export const hasPassword = (url: string): boolean => passwordsIn(url).length > 0;

const LOCAL_LEDGER_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/i;

/** Whether all data stays on this machine. A socket is a path. Without a host it is also this machine. */
export function isLocalLedger(url: string): boolean {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? decoded(hostname);
  return host === '' || host.startsWith('/') || LOCAL_LEDGER_HOST.test(host);
}

/** As written, and decoded. The driver also accepts a password after the `?`. */
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
