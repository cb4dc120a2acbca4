// The graph of shareholdings and group links around one company.

import { LONGEST_NUMBER } from '../util/text-limits.js';
import { normaliseName } from './names/similarity.js';
import { comparableNumber, isUniqueInCountry } from './numbers/compare.js';
import { isIsoCountry, isoAlias } from './places/location-codes.js';

export interface GraphParty {
  readonly name: string | null;
  readonly countryCode: string | null;
  /** Local, or with its country: `GB-00045590`. */
  readonly registrationNumber: string | null;
  /** Its IDs. The same text in another scheme is another company. */
  readonly ids: readonly GraphId[];
}

export interface GraphId {
  readonly scheme: string;
  readonly id: string;
}

export interface Holding {
  readonly name: string | null;
  readonly percentage: string | null;
  readonly status: string | null;
  readonly operation: string;
}

/** An end of a group link. `isSubject`: the answer marks it as the company that was asked about. */
export interface LinkEnd extends GraphParty {
  readonly isSubject: boolean;
}

/** It does not show who controls whom. Without a source it only names a company. */
export interface GraphLink {
  readonly source: LinkEnd | null;
  readonly target: LinkEnd;
  readonly operation: string;
}

export interface OwnershipFacts {
  readonly subject: GraphParty;
  readonly holdings: readonly Holding[];
  readonly links: readonly GraphLink[];
}

export interface GraphLimits {
  /** Links between the company and the farthest shown node. */
  readonly hops: number;
  readonly neighbours: number;
  readonly nodes: number;
}

export const GRAPH_LIMITS: GraphLimits = { hops: 2, neighbours: 8, nodes: 24 };

/** A holder may be a person or a company: lists of shareholders do not say which. */
export interface GraphNode extends GraphParty {
  readonly key: string;
  readonly kind: 'subject' | 'company' | 'holder';
  readonly hops: number;
  /** No answer names a holder or parent of it. It is where the data ends, not a beneficial owner. */
  readonly chainEnds: boolean;
  readonly hiddenAbove: number;
  readonly hiddenBelow: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly kind: 'shareholding' | 'group_link';
  /** As sent, without repetitions. Several if answers differ, none if no answer has one. */
  readonly percentages: readonly string[];
  readonly statuses: readonly string[];
  readonly operations: readonly string[];
}

export interface OwnershipGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** All nodes that are linked with the company, shown or not. */
  readonly linked: number;
  /** Named companies that no link joins with the company. */
  readonly notLinked: number;
}

/** Equal companies are one node, whichever IDs and spellings of their number name them. */
export function ownershipGraph(facts: OwnershipFacts, limits: GraphLimits = GRAPH_LIMITS): OwnershipGraph {
  const mentions = new Mentions();
  const subject = mentions.add(facts.subject, ['subject'], 'subject');
  const ties: Tie[] = [
    ...holdingTies(facts.holdings, subject, mentions),
    ...facts.links.flatMap((link) => linkTies(link, mentions)),
  ];
  const edges = mergeEdges(ties, mentions);
  const { shown, hidden, seen } = walk(mentions.root(subject), edges, limits);
  const all = mentions.parties();
  const nodes = [...shown].map(([index, hops]): GraphNode => {
    const { above = 0, below = 0 } = hidden.get(index) ?? {};
    return {
      ...mentions.facts(index),
      key: String(index),
      hops,
      chainEnds: !edges.some(({ to }) => to === index),
      hiddenAbove: above,
      hiddenBelow: below,
    };
  });
  return {
    nodes,
    edges: edges
      .filter(({ from, to }) => shown.has(from) && shown.has(to))
      .map(({ from, to, ...edge }) => ({ ...edge, from: String(from), to: String(to) })),
    linked: seen,
    notLinked: all.size - seen,
  };
}

interface Tie {
  readonly from: number;
  readonly to: number;
  readonly kind: GraphEdge['kind'];
  readonly percentage: string | null;
  readonly status: string | null;
  readonly operation: string;
}

/**
 * A name in two lists is one holder. Twice in one list it may be two people, so the second mention is a node of its
 * own, and equals the second one in other lists.
 */
function* holdingTies(holdings: readonly Holding[], subject: number, mentions: Mentions): Generator<Tie> {
  const times = new Map<string, number>();
  for (const { name, percentage, status, operation } of holdings) {
    const plain = name === null ? '' : normaliseName(name);
    const counted = `${operation}|${plain}`;
    const nth = (times.get(counted) ?? 0) + 1;
    times.set(counted, nth);
    const party = { name, countryCode: null, registrationNumber: null, ids: [] };
    const from = mentions.add(party, plain === '' ? [] : [`holder|${plain}|${nth}`], 'holder');
    yield { from, to: subject, kind: 'shareholding', percentage, status, operation };
  }
}

function linkTies({ source, target, operation }: GraphLink, mentions: Mentions): readonly Tie[] {
  const add = (end: LinkEnd) => mentions.add(end, identifiersOfEnd(end, operation, 'subject'), 'company');
  const to = add(target);
  if (source === null) return [];
  return [{ from: add(source), to, kind: 'group_link', percentage: null, status: null, operation }];
}

const plainNameOf = ({ name, countryCode }: GraphParty): string => normaliseName(name ?? '', countryCode ?? undefined);

/** `subject`: an identifier of the company that was asked about. Within one answer a company is also known by its name. */
export function identifiersOfEnd(end: LinkEnd, operation: string, subject: string): readonly string[] {
  const known = identifiersOf(end);
  if (end.isSubject) return [subject, ...known];
  return known.length > 0 || end.name === null ? known : [`${subject}|${operation}|${plainNameOf(end)}`];
}

/** Texts that only mentions of the same company share. */
export function identifiersOf(party: GraphParty): readonly string[] {
  const ids = party.ids.map(({ scheme, id }) => `${scheme}:${id}`);
  const number = partyNumberKey(party);
  return number === undefined ? ids : [...ids, number];
}

/**
 * The number with its country. If courts or states number separately, or the country is unknown, the name has to agree
 * too.
 */
function partyNumberKey(party: GraphParty): string | undefined {
  const { registrationNumber } = party;
  if (registrationNumber === null || registrationNumber.length > LONGEST_NUMBER) return undefined;
  const { country, number } = splitNumber(registrationNumber, party.countryCode);
  const compared = comparableNumber(number, country);
  if (compared === '') return undefined;
  if (isUniqueInCountry(number, country)) return `number|${country}|${compared}`;
  return party.name === null
    ? undefined
    : `number|${country}|${compared}|${plainNameOf({ ...party, countryCode: country })}`;
}

const WITH_COUNTRY = /^\s*([A-Z]{2})\s*[-:]\s*(\S.*)$/;

/** A group names numbers with their country (V1-27), and the country may be missing beside it. */
export function splitNumber(
  text: string,
  countryCode: string | null,
): { readonly country: string; readonly number: string } {
  const [, prefix = '', rest = ''] = WITH_COUNTRY.exec(text) ?? [];
  const country = isoAlias(prefix) ?? prefix;
  if (rest !== '' && (countryCode === null ? isIsoCountry(country) : country === countryCode))
    return { country, number: rest };
  return { country: countryCode ?? '', number: text };
}

interface Mentioned extends GraphParty {
  readonly kind: GraphNode['kind'];
}

/** Where `JoinedNodes` keeps what it knows. */
export interface NodeStore<Facts> {
  find(identifier: string): number | undefined;
  identify(identifier: string, node: number): void;
  facts(node: number): Facts;
  keep(node: number, facts: Facts): void;
  drop(node: number): void;
}

/** Joins mentions that share an identifier. `merge` returns undefined if two may not be joined. */
export class JoinedNodes<Facts> {
  readonly #parents = new Map<number, number>();
  #count = 0;

  constructor(
    private readonly store: NodeStore<Facts>,
    private readonly merge: (first: Facts, next: Facts) => Facts | undefined,
  ) {}

  /** The node of the mention. It is new if no identifier is known. */
  add(identifiers: readonly string[], facts: Facts): number {
    const known = identifiers.map((identifier) => this.store.find(identifier));
    const roots = new Set(known.flatMap((node) => (node === undefined ? [] : this.root(node))));
    let node: number | undefined;
    let merged: Facts | undefined;
    for (const root of [...roots].sort((a, b) => a - b)) {
      const before = this.store.facts(root);
      const both = merged === undefined ? before : this.merge(merged, before);
      if (both === undefined || this.merge(both, facts) === undefined) continue;
      merged = both;
      if (node === undefined) node = root;
      else {
        this.#parents.set(root, node);
        this.store.drop(root);
      }
    }
    node ??= this.#count++;
    this.store.keep(node, (merged && this.merge(merged, facts)) ?? facts);
    for (const [index, identifier] of identifiers.entries())
      if (known[index] === undefined) this.store.identify(identifier, node);
    return node;
  }

  root(node: number): number {
    let root = node;
    for (let next = this.#parents.get(root); next !== undefined; next = this.#parents.get(root)) root = next;
    // Shortens the way for later calls.
    if (root !== node) this.#parents.set(node, root);
    return root;
  }

  *joined(): Generator<readonly [node: number, root: number]> {
    for (const node of this.#parents.keys()) yield [node, this.root(node)];
  }
}

class Mentions implements NodeStore<Mentioned> {
  readonly #nodes = new JoinedNodes<Mentioned>(this, mergeParties);
  readonly #byIdentifier = new Map<string, number>();
  readonly #facts = new Map<number, Mentioned>();

  add(party: GraphParty, identifiers: readonly string[], kind: GraphNode['kind']): number {
    const all = kind === 'subject' ? [...identifiers, ...identifiersOf(party)] : identifiers;
    return this.#nodes.add(all, { ...party, kind });
  }

  root(node: number): number {
    return this.#nodes.root(node);
  }

  /** Every company once. The first mention that has a fact tells it. */
  parties(): ReadonlyMap<number, Mentioned> {
    return this.#facts;
  }

  find(identifier: string): number | undefined {
    return this.#byIdentifier.get(identifier);
  }

  identify(identifier: string, node: number): void {
    this.#byIdentifier.set(identifier, node);
  }

  facts(node: number): Mentioned {
    return this.#facts.get(node) as Mentioned;
  }

  keep(node: number, facts: Mentioned): void {
    this.#facts.set(node, facts);
  }

  drop(node: number): void {
    this.#facts.delete(node);
  }
}

function mergeParties(first: Mentioned, next: Mentioned): Mentioned {
  const isNew = ({ scheme, id }: GraphId) => !first.ids.some((known) => known.scheme === scheme && known.id === id);
  return {
    kind: first.kind,
    name: first.name ?? next.name,
    countryCode: first.countryCode ?? next.countryCode,
    registrationNumber: first.registrationNumber ?? next.registrationNumber,
    ids: [...first.ids, ...next.ids.filter(isNew)],
  };
}

type MergedEdge = Omit<GraphEdge, 'from' | 'to'> & { readonly from: number; readonly to: number };

/** One edge for all lines between two companies. Lines from a company to itself name no link. */
function mergeEdges(ties: readonly Tie[], mentions: Mentions): readonly MergedEdge[] {
  const edges = new Map<string, MergedEdge>();
  const joined = (texts: readonly string[], text: string | null) =>
    text === null || text.trim() === '' || texts.includes(text) ? texts : [...texts, text];
  for (const tie of ties) {
    const [from, to] = [mentions.root(tie.from), mentions.root(tie.to)];
    if (from === to) continue;
    const key = `${from} ${to} ${tie.kind}`;
    const known = edges.get(key) ?? { from, to, kind: tie.kind, percentages: [], statuses: [], operations: [] };
    edges.set(key, {
      ...known,
      percentages: joined(known.percentages, tie.percentage),
      statuses: joined(known.statuses, tie.status),
      operations: joined(known.operations, tie.operation),
    });
  }
  return [...edges.values()];
}

interface Walked {
  /** Shown nodes, nearest first, with their distance. */
  readonly shown: ReadonlyMap<number, number>;
  /** For each shown node: how many others are behind it. Each hidden node is counted once. */
  readonly hidden: ReadonlyMap<number, Behind>;
  readonly seen: number;
}

interface Behind {
  above: number;
  below: number;
}

function walk(start: number, edges: readonly MergedEdge[], limits: GraphLimits): Walked {
  const neighboursOf = adjacency(edges);
  const shown = new Map([[start, 0]]);
  const seen = new Set([start]);
  const hidden = new Map<number, Behind>();
  const behind: { readonly index: number; readonly counted: () => void }[] = [];
  const hide = (index: number, counted: () => void) => {
    counted();
    behind.push({ index, counted });
  };
  for (const [index, hops] of shown) {
    for (const side of SIDES) {
      let taken = 0;
      for (const next of neighboursOf(index)[side]) {
        if (seen.has(next)) continue;
        seen.add(next);
        if (hops < limits.hops && taken < limits.neighbours && shown.size < limits.nodes) {
          shown.set(next, hops + 1);
          taken += 1;
        } else
          hide(next, () => {
            const counts = hidden.get(index) ?? { above: 0, below: 0 };
            counts[side] += 1;
            hidden.set(index, counts);
          });
      }
    }
  }
  for (const { index, counted } of behind)
    for (const side of SIDES)
      for (const next of neighboursOf(index)[side]) {
        if (seen.has(next)) continue;
        seen.add(next);
        hide(next, counted);
      }
  return { shown, hidden, seen: seen.size };
}

const SIDES = ['above', 'below'] as const;

type Neighbours = Readonly<Record<(typeof SIDES)[number], readonly number[]>>;

function adjacency(edges: readonly MergedEdge[]): (index: number) => Neighbours {
  const all = new Map<number, Record<(typeof SIDES)[number], number[]>>();
  const of = (index: number) => {
    const known = all.get(index) ?? { above: [], below: [] };
    all.set(index, known);
    return known;
  };
  for (const { from, to } of edges) {
    of(to).above.push(from);
    of(from).below.push(to);
  }
  return (index) => all.get(index) ?? { above: [], below: [] };
}
