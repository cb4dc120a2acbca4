import type { Json } from './json.js';
import { write } from './json.js';
import type { Body } from './messages.js';
import type { Company, Registry } from './registry/types.js';

/**
 * Writes bodies about one company. With `prepared` a body is rendered once per kind of company and cut at every
 * mention of its identity; further companies of that kind get the same bytes with their own identity put in. Figures
 * name nobody: one of them is put in, for no two companies have the same accounts.
 */
export class Bodies {
  readonly #templates = new Map<string, readonly Piece[]>();

  constructor(
    private readonly registry: Registry,
    private readonly prepared: boolean,
  ) {}

  write(variant: string, company: Company, render: () => Json): Body {
    if (!this.prepared) return write(render());
    const kind = `${variant}|${company.countryCode}|${this.#traits(company)}`;
    let template = this.#templates.get(kind);
    if (!template) {
      template = cut(write(render()), company);
      this.#templates.set(kind, template);
    }
    return fill(template, company);
  }

  /** What another company of the same country cannot lend: how IDs are written, what is null or empty, what contradicts. */
  #traits(company: Company): string {
    const { stringId, identityMismatch, noAccounts, large } = this.registry.traits(company);
    const present = identity.map((name) => company[name] !== null);
    return [stringId, identityMismatch, noAccounts, large, ...present].map((trait) => (trait ? '+' : '-')).join('');
  }
}

const identity = ['v1Id', 'v2Id', 'sourceId', 'name', 'registrationNumber', 'vatNumber'] as const;
type Identity = (typeof identity)[number];
/** Bytes that stay, or the place of a part of the identity, or of a figure. */
type Piece = Buffer | Identity | 'figure';

function cut(text: string, company: Company): readonly Piece[] {
  const tokens = new Map<string, Identity>();
  for (const name of identity) {
    const token = inner(company[name]);
    if (token.length >= 4 && !tokens.has(token)) tokens.set(token, name);
  }
  const longestFirst = [...tokens.keys()].sort((a, b) => b.length - a.length).map(escapePattern);
  const named =
    longestFirst.length === 0
      ? [text]
      : text.split(new RegExp(`((?<![A-Za-z0-9])(?:${longestFirst.join('|')})(?![A-Za-z0-9]))`));
  if (named.length > 1) return named.map((part) => tokens.get(part) ?? Buffer.from(part));
  const figure = /(?<=:)\d{6,}/.exec(text);
  if (figure === null) return [Buffer.from(text)];
  const after = figure.index + figure[0].length;
  return [Buffer.from(text.slice(0, figure.index)), 'figure', Buffer.from(text.slice(after))];
}

function fill(template: readonly Piece[], company: Company): Buffer {
  const parts = new Map<Piece, Buffer>([['figure', Buffer.from(String(1_000_000 + company.index))]]);
  for (const name of identity) parts.set(name, Buffer.from(inner(company[name])));
  const pieces = template.map((piece) => (typeof piece === 'string' ? (parts.get(piece) ?? nothing) : piece));
  return Buffer.concat(pieces);
}

const nothing = Buffer.alloc(0);

/** The value as it stands between the quotes. */
function inner(value: string | null): string {
  return value === null ? '' : JSON.stringify(value).slice(1, -1);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
