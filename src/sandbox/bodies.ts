import type { Json } from './json.js';
import { write } from './json.js';
import type { Company, Registry } from './registry/types.js';
import type { Body } from './world.js';

/**
 * Writes bodies about one company. With `prepared` a body is rendered once per kind of company and cut at every
 * mention of its identity; further companies of that kind get the same bytes with their own identity put in.
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
/** Bytes that stay, or the place of a part of the identity. */
type Piece = Buffer | Identity;

function cut(text: string, company: Company): readonly Piece[] {
  const tokens = new Map<string, Identity>();
  for (const name of identity) {
    const token = inner(company[name]);
    if (token.length >= 4 && !tokens.has(token)) tokens.set(token, name);
  }
  const longestFirst = [...tokens.keys()].sort((a, b) => b.length - a.length).map(escapePattern);
  if (longestFirst.length === 0) return [Buffer.from(text)];
  return text
    .split(new RegExp(`((?<![A-Za-z0-9])(?:${longestFirst.join('|')})(?![A-Za-z0-9]))`))
    .map((part) => tokens.get(part) ?? Buffer.from(part));
}

function fill(template: readonly Piece[], company: Company): Buffer {
  const parts = new Map<Identity, Buffer>();
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
